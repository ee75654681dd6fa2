#include "recording/recorder.hpp"

#include "system/timestamp.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <kopp/config.hpp>

namespace kopp {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;  // of the file

// Creates a file that only the user of this process can read. Throws ConfigError.
void CreatePrivateFile(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    const bool exists = errno == EEXIST;
    throw ConfigError("--record: cannot create " + path + ": " +
                      std::generic_category().message(errno) +
                      (exists ? "; remove it or choose another name" : ""));
  }
  ::close(file);
}

}  // namespace

Recorder::Recorder(std::string path, Logger log, Clock& clock)
    : path_(std::move(path)), log_(std::move(log)), clock_(clock) {}

void Recorder::Open(const std::string& program) {
  CreatePrivateFile(path_);
  {
    auto file = file_.Lock();
    file->out.open(path_, std::ios::app | std::ios::binary);
    file->start = clock_.Now();
  }
  Write({{"recording", kFormat},
         {"program", program},
         {"started", detail::FormatMicroTime(clock_.WallNow())}});
}

void Recorder::Write(json entry) {
  auto file = file_.Lock();
  if (!file->out.is_open()) return;
  using Milliseconds = std::chrono::milliseconds;
  entry["at"] = std::chrono::duration_cast<Milliseconds>(clock_.Now() - file->start).count();
  file->out << entry.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  file->out.flush();
  if (file->out) return;
  file->out.close();
  log_.Error("The recording ends here: its file cannot be written", {{"file", path_}});
}

std::uint64_t Recorder::NewStream() { return ++file_.Lock()->streams; }

}  // namespace kopp
