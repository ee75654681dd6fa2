#include "base/command.hpp"

#include "base/environment.hpp"
#include "base/file_descriptor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kopp::detail {
namespace {

using End = CommandResult::End;

constexpr int kPollMilliseconds = 10;  // how often a stop and the end of the process are noticed
constexpr std::size_t kReadBytes = 64 << 10;  // the capacity of a pipe
constexpr std::size_t kMaxErrors = 1 << 10;

// A pipe whose read end does not block.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "cannot create a pipe");
    }
    read_end = FileDescriptor(ends[0]);
    write_end = FileDescriptor(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }

  // Appends the bytes that are available to `text`, at most kReadBytes. Returns false if there are
  // none. Closes the read end at the end of the stream.
  bool ReadInto(std::string& text) {
    if (read_end.get() < 0) return false;
    const std::size_t size = text.size();
    text.resize(size + kReadBytes);
    const ssize_t received = ::read(read_end.get(), text.data() + size, kReadBytes);
    text.resize(size + static_cast<std::size_t>(std::max<ssize_t>(received, 0)));
    const bool may_continue = received < 0 && (errno == EAGAIN || errno == EINTR);
    if (received <= 0 && !may_continue) read_end = FileDescriptor();
    return received > 0;
  }

  FileDescriptor read_end;
  FileDescriptor write_end;
};

// RAII wrapper for the file actions and the attributes of posix_spawn, which give the child the
// properties that RunCommand promises.
class SpawnSettings {
 public:
  SpawnSettings(int output, int errors) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files_, errors, STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  [[nodiscard]] pid_t Spawn(const Command& command) const {
    std::vector<std::string> arguments = command.arguments;
    std::vector<std::string> environment = EnvironmentWith(command.variables);
    pid_t pid = 0;
    const int error = ::posix_spawnp(&pid, arguments.front().c_str(), &files_, &attributes_,
                                     NullTerminatedPointers(arguments).data(),
                                     NullTerminatedPointers(environment).data());
    if (error != 0) {
      throw std::system_error(error, std::generic_category(), "cannot run " + arguments.front());
    }
    return pid;
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

// A child process that leads a process group. The destructor kills the group if the process still
// runs, and leaves no zombie.
class ChildProcess {
 public:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  ~ChildProcess() {
    if (!HasEnded()) KillGroup();
    Reap();
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Also returns true if the program ignores SIGCHLD, and the kernel has already reaped the child.
  [[nodiscard]] bool HasEnded() const {
    if (pid_ < 0) return true;
    siginfo_t info{};
    const auto id = static_cast<id_t>(pid_);
    const int result = ::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT);
    return result == 0 ? info.si_pid == pid_ : errno == ECHILD;
  }

  // Kills the process and its children. Does nothing if the process has been reaped: then another
  // process group may have its id. The children of a zombie are killed.
  void KillGroup() const {
    siginfo_t info{};
    const auto id = static_cast<id_t>(pid_);
    if (pid_ >= 0 && ::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
      ::kill(-pid_, SIGKILL);
    }
  }

  // Blocks until the process has ended and returns its wait status; 0 if it is not known.
  int Reap() {
    int status = 0;
    while (pid_ >= 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
};

// The standard output and standard error of a child process.
class OutputReader {
 public:
  explicit OutputReader(std::size_t max_output) : max_output_(max_output) {
    bytes_.reserve(max_output + kReadBytes + 1);  // growing would leave copies behind
  }
  ~OutputReader() { ::explicit_bzero(bytes_.data(), bytes_.size()); }
  OutputReader(const OutputReader&) = delete;
  OutputReader& operator=(const OutputReader&) = delete;

  [[nodiscard]] pid_t Spawn(const Command& command) {
    const SpawnSettings settings(output_.write_end.get(), errors_.write_end.get());
    const pid_t pid = settings.Spawn(command);
    output_.write_end = FileDescriptor();
    errors_.write_end = FileDescriptor();
    return pid;
  }

  // Reads what is available. Returns false if there is more output than allowed.
  [[nodiscard]] bool Read() {
    while (bytes_.size() <= max_output_ && output_.ReadInto(bytes_)) {
    }
    errors_.ReadInto(error_bytes_);
    if (error_bytes_.size() > kMaxErrors) {
      error_bytes_.erase(0, error_bytes_.size() - kMaxErrors);
    }
    return bytes_.size() <= max_output_;
  }

  // Blocks until bytes may be available, at most for kPollMilliseconds.
  void Wait() const {
    std::array<pollfd, 2> polls{
        pollfd{.fd = output_.read_end.get(), .events = POLLIN, .revents = 0},
        pollfd{.fd = errors_.read_end.get(), .events = POLLIN, .revents = 0}};
    ::poll(polls.data(), polls.size(), kPollMilliseconds);
  }

  [[nodiscard]] std::string_view output() const { return bytes_; }
  [[nodiscard]] const std::string& errors() const { return error_bytes_; }

 private:
  std::size_t max_output_;
  Pipe output_;
  Pipe errors_;
  std::string bytes_;
  std::string error_bytes_;
};

// Blocks until the process has ended. Returns the reason if it must be killed before.
std::optional<End> Supervise(const ChildProcess& child, OutputReader& reader, TimePoint deadline,
                             const std::stop_token& stop) {
  for (;;) {
    const bool ended = child.HasEnded();  // checked first: then the last bytes are in the pipes
    if (!reader.Read()) return End::kTooMuchOutput;
    if (ended) return std::nullopt;
    if (stop.stop_requested()) return End::kStopped;
    if (Clock::Real().Now() >= deadline) return End::kTimeout;
    reader.Wait();
  }
}

}  // namespace

CommandResult RunCommand(const Command& command, TimePoint deadline, const std::stop_token& stop) {
  OutputReader reader(command.max_output);
  ChildProcess child(reader.Spawn(command));
  const std::optional<End> killed = Supervise(child, reader, deadline, stop);
  CommandResult result{.output = reader.output(), .errors = reader.errors()};
  if (killed) {
    child.KillGroup();  // also if the process has just ended, but not its children
    result.end = *killed;
    return result;
  }
  const int status = child.Reap();
  result.end = WIFSIGNALED(status) ? End::kSignaled : End::kExited;
  result.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace kopp::detail
