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

// A handler rather than blocked signals and a signalfd: it also covers threads that were started
// before, and the second signal gets through while a stop callback blocks the waiting thread.
// Handlers see globals only; these are all that they touch.
std::atomic<bool> stopping{false};
std::atomic<int> wake{-1};  // an eventfd
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void Wake() {
  const std::uint64_t one = 1;
  // Cannot fail: the counter would have to be full.
  [[maybe_unused]] const ssize_t written = ::write(wake, &one, sizeof one);
}

extern "C" void OnStopSignal(int /*signal*/) {  // atomics, write and _exit: all async-signal-safe
  const int saved_errno = errno;
  if (stopping.exchange(true)) ::_exit(EXIT_FAILURE);
  Wake();
  errno = saved_errno;
}

// Instead of SIG_IGN, which exec would hand on to the programs that we start.
extern "C" void OnBrokenPipe(int /*signal*/) {}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

// Turns the handler's note into a stop, where locks may be taken.
class SignalWatch {
 public:
  SignalWatch() {
    wake = ::eventfd(0, EFD_CLOEXEC);
    if (wake < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    thread_ = std::thread([this] { AwaitSignal(); });
    Handle(SIGPIPE, OnBrokenPipe);
    Handle(SIGINT, OnStopSignal);
    Handle(SIGTERM, OnStopSignal);
  }

  ~SignalWatch() {
    closing_ = true;
    Wake();
    thread_.join();  // the eventfd stays open: a handler may be about to write to it
  }

  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  [[nodiscard]] std::stop_token Token() const { return source_.get_token(); }

 private:
  void AwaitSignal() {
    while (!closing_) {
      std::uint64_t count = 0;
      const bool woken = ::read(wake, &count, sizeof count) > 0;  // or interrupted
      if (woken && !closing_) source_.request_stop();
    }
  }

  std::stop_source source_;
  std::atomic<bool> closing_{false};
  std::thread thread_;
};

}  // namespace

std::stop_token StopOnSignal() {
  static const SignalWatch watch;  // until the program ends
  return watch.Token();
}

}  // namespace kopp
