#include "child.hpp"

#include "base/environment.hpp"

#include <chrono>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kopp::apiserver {
namespace {

// RAII wrapper for posix_spawn file actions. The child reads /dev/null as standard input, and
// appends standard output and standard error to `output`.
class SpawnFileActions {
 public:
  explicit SpawnFileActions(const std::filesystem::path& output) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
  }
  ~SpawnFileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnFileActions(const SpawnFileActions&) = delete;
  SpawnFileActions& operator=(const SpawnFileActions&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// RAII wrapper for posix_spawn attributes. The child leads a new process group and starts with no
// signal blocked or ignored.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace

Child::Child(const std::vector<std::string>& command,
             const std::map<std::string, std::string>& variables,
             const std::filesystem::path& output) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = detail::EnvironmentWith(variables);
  const SpawnFileActions files(output);
  const SpawnAttributes attributes;
  const int error = ::posix_spawnp(&pid_, arguments.front().c_str(), files.get(), attributes.get(),
                                   detail::NullTerminatedPointers(arguments).data(),
                                   detail::NullTerminatedPointers(environment).data());
  if (error != 0) {
    throw std::system_error(
        error, std::generic_category(),
        "cannot run " + command.front() + " with its output in " + output.string());
  }
}

Child::~Child() {
  if (exit_code()) return;
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<int> Child::exit_code() {
  if (exit_code_) return exit_code_;
  siginfo_t info{};
  const auto id = static_cast<id_t>(pid_);
  if (::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid_) {
    return std::nullopt;
  }
  // Kills the group before it reaps the child: after the child is reaped, another process group
  // can get the same id.
  ::kill(-pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

void Child::Terminate(const Signals& signals, Duration timeout) {
  if (exit_code()) return;
  ::kill(-pid_, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!exit_code()) {
    const auto signal = signals.Wait(deadline - std::chrono::steady_clock::now());
    if (!signal || *signal == SIGINT || *signal == SIGTERM || *signal == SIGQUIT) return;
  }
}

}  // namespace kopp::apiserver
