#pragma once

#include "recording/redaction.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <kopp/log.hpp>
#include <kopp/tracing.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// Writes what an operator reads from the API server, and its reconciles, to the file of --record.
/// docs/recording.md describes the format. Thread-safe.
///
/// A call belongs to a reconcile if it has the same trace id: see Tracer.
class Recorder {
 public:
  /// Does not open the file yet. `clock` must outlive the recorder.
  Recorder(std::string path, Logger log, Clock& clock);

  /// Creates the file, which only the user of the process can read, and writes its first line. If
  /// it exists, FILE.1, FILE.2 and so on are tried. Throws ConfigError if none can be created.
  /// Nothing is recorded before.
  void Open(const std::string& program);

  /// Writes one entry, with the time since Open as its field "at". Stops the recording, and logs
  /// the reason once, if the file cannot be written.
  void Write(nlohmann::json entry);

  /// Removes the secret values of all bodies that are recorded.
  [[nodiscard]] Redactor& redactor() { return redactor_; }

  /// Returns a number that identifies a stream in the recording.
  [[nodiscard]] std::uint64_t NewStream();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct File {
    std::unique_ptr<std::FILE, Close> out;  // null before Open, and after a failed write
    std::string path;
    TimePoint start;
    std::uint64_t streams = 0;
  };

  const std::string path_;
  const Logger log_;
  Clock& clock_;
  Redactor redactor_;
  detail::Guarded<File> file_;
};

/// Returns a transport that records the streams of `next`.
[[nodiscard]] std::shared_ptr<Transport> WithRecordedStreams(std::shared_ptr<Transport> next,
                                                             std::shared_ptr<Recorder> recorder);

/// Returns a transport that records the calls to `next` that belong to a reconcile. Put it above
/// retries and the write fence: a replay needs what the reconciler got. Other calls, such as
/// reviews of tokens, are not recorded.
[[nodiscard]] std::shared_ptr<Transport> WithRecordedCalls(std::shared_ptr<Transport> next,
                                                           std::shared_ptr<Recorder> recorder);

/// Returns a tracer that records the start and end of each reconcile. Its spans are those of
/// `next`, which may be null.
[[nodiscard]] std::shared_ptr<Tracer> WithRecordedReconciles(std::shared_ptr<Tracer> next,
                                                             std::shared_ptr<Recorder> recorder);

}  // namespace kopp
