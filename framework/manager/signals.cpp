#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <thread>

#include <sys/eventfd.h>
#include <unistd.h>

#include <kopp/signals.hpp>

namespace kopp {
namespace {

// Uses a signal handler, not a signalfd with blocked signals: a handler also works if other threads
// are already running, and the second signal is handled even while a stop callback blocks. A
// handler can access only global variables. It uses these two.
std::atomic<bool> stop_signal_received{false};
std::atomic<int> wake_fd{-1};  // an eventfd, which wakes the waiting thread
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void Wake() {
  const std::uint64_t one = 1;
  // Cannot fail, because the counter of the eventfd is never full.
  [[maybe_unused]] const ssize_t written = ::write(wake_fd, &one, sizeof one);
}

extern "C" void OnStopSignal(int /*signal*/) {  // async-signal-safe: atomics, write, _exit
  const int saved_errno = errno;
  if (stop_signal_received.exchange(true)) ::_exit(EXIT_FAILURE);
  Wake();
  errno = saved_errno;
}

// Used instead of SIG_IGN, which programs started with exec would inherit.
extern "C" void OnBrokenPipe(int /*signal*/) {}

void InstallHandler(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

// Owns a thread that requests the stop after a signal. Stop callbacks may lock, so they cannot run
// in the signal handler.
class SignalThread {
 public:
  SignalThread() {
    wake_fd = ::eventfd(0, EFD_CLOEXEC);
    if (wake_fd < 0) {
      throw std::system_error(errno, std::generic_category(), "cannot create the signal eventfd");
    }
    thread_ = std::thread([this] { WaitForSignal(); });
    InstallHandler(SIGPIPE, OnBrokenPipe);
    InstallHandler(SIGINT, OnStopSignal);
    InstallHandler(SIGTERM, OnStopSignal);
  }

  ~SignalThread() {
    closing_ = true;
    Wake();
    thread_.join();  // the eventfd stays open, because a handler may still write to it
  }

  SignalThread(const SignalThread&) = delete;
  SignalThread& operator=(const SignalThread&) = delete;

  [[nodiscard]] std::stop_token Token() const { return source_.get_token(); }

 private:
  void WaitForSignal() {
    while (!closing_) {
      std::uint64_t count = 0;
      const bool woken = ::read(wake_fd, &count, sizeof count) > 0;  // else: EINTR
      if (woken && !closing_) source_.request_stop();
    }
  }

  std::stop_source source_;
  std::atomic<bool> closing_{false};
  std::thread thread_;
};

}  // namespace

std::stop_token StopOnSignal() {
  static const SignalThread thread;  // destroyed at exit
  return thread.Token();
}

}  // namespace kopp
