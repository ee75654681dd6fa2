#include "recording/recorder.hpp"

#include "base/timestamp.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace kopp {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;       // of the file
constexpr int kMaxFiles = 1000;  // FILE, FILE.1 …

// Creates a file that only the user of this process can read. Returns its descriptor, and its name
// in `path`.
int CreatePrivateFile(std::string& path) {
  const std::string first = path;
  for (int i = 1; i <= kMaxFiles; ++i) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0 || errno != EEXIST) return file;
    path = first + '.' + std::to_string(i);
  }
  return -1;
}

}  // namespace

Recorder::Recorder(std::string path, Logger log, Clock& clock)
    : path_(std::move(path)), log_(std::move(log)), clock_(clock) {}

void Recorder::Open(const std::string& program) {
  std::string path = path_;
  const int descriptor = CreatePrivateFile(path);
  std::FILE* const file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "w");
  if (file == nullptr) {
    throw ConfigError("--record: cannot create " + path + ": " +
                      std::generic_category().message(errno));
  }
  {
    auto opened = file_.Lock();
    opened->out.reset(file);
    opened->path = path;
    opened->start = clock_.Now();
  }
  log_.Info("Recording what is read from the API server", {{"file", path}});
  Write({{"recording", kFormat},
         {"program", program},
         {"started", detail::FormatMicroTime(clock_.WallNow())}});
}

void Recorder::Write(json entry) {
  TimePoint start;
  {
    auto file = file_.Lock();
    if (!file->out) return;
    start = file->start;
  }
  using Milliseconds = std::chrono::milliseconds;
  entry["at"] = std::chrono::duration_cast<Milliseconds>(clock_.Now() - start).count();
  const std::string line = entry.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
  std::string path;
  {
    auto file = file_.Lock();
    if (!file->out) return;
    const bool is_written =
        std::fwrite(line.data(), 1, line.size(), file->out.get()) == line.size();
    if (is_written && std::fflush(file->out.get()) == 0) return;
    file->out.reset();
    path = file->path;
  }
  log_.Error("The recording ends here: its file cannot be written", {{"file", path}});
}

std::uint64_t Recorder::NewStream() { return ++file_.Lock()->streams; }

}  // namespace kopp
