#include "child.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kopp::apiserver {
namespace {

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// This process's environment with `variables` in the place of those of the same name.
std::vector<std::string> Environment(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!variables.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : variables) all.push_back(name + '=' + value);
  return all;
}

// No input, all output to one file.
class Files {
 public:
  explicit Files(const std::filesystem::path& output) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
  }
  ~Files() { ::posix_spawn_file_actions_destroy(&actions_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// A group of its own, and no signal blocked or ignored.
class Manners {
 public:
  Manners() {
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
  ~Manners() { ::posix_spawnattr_destroy(&attributes_); }
  Manners(const Manners&) = delete;
  Manners& operator=(const Manners&) = delete;

  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace

Child::Child(const std::vector<std::string>& command,
             const std::map<std::string, std::string>& variables,
             const std::filesystem::path& output) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = Environment(variables);
  const Files files(output);
  const Manners manners;
  const int error = ::posix_spawnp(&id_, arguments.front().c_str(), files.get(), manners.get(),
                                   Pointers(arguments).data(), Pointers(environment).data());
  if (error != 0) {
    throw std::system_error(error, std::generic_category(), "cannot run " + command.front());
  }
}

Child::~Child() {
  if (code()) return;
  ::kill(-id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

std::optional<int> Child::code() {
  if (code_) return code_;
  siginfo_t ended{};
  const auto id = static_cast<id_t>(id_);
  if (::waitid(P_PID, id, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != id_) {
    return std::nullopt;
  }
  ::kill(-id_, SIGKILL);  // before it is reaped: until then its group's number is nobody else's
  int status = 0;
  ::waitpid(id_, &status, 0);
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return code_;
}

void Child::End(const Signals& signals, Duration limit) {
  if (code()) return;
  ::kill(-id_, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!code()) {
    const auto signal = signals.Wait(deadline - std::chrono::steady_clock::now());
    if (!signal || *signal == SIGINT || *signal == SIGTERM || *signal == SIGQUIT) return;
  }
}

}  // namespace kopp::apiserver
