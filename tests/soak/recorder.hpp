#pragma once

#include <condition_variable>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/http_source.hpp>
#include <kopp/informer/informer.hpp>
#include <kopp/kinds.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::soak {

/// A file of JSON lines; see run_log.hpp for their form. Thread-safe.
class LogFile {
 public:
  /// Throws std::runtime_error if it cannot create the file.
  explicit LogFile(const std::filesystem::path& path);

  void Write(const nlohmann::json& line) { *out_.Lock() << line.dump() << '\n'; }

 private:
  Guarded<std::ofstream> out_;
};

/// Records what the API server stores: lists the ConfigMaps, then watches them in a thread.
class TruthRecorder {
 public:
  TruthRecorder(Client client, LogFile& log);

  /// Blocks until the change that made `version` is recorded.
  void AwaitVersion(const std::string& version);
  /// Lists the ConfigMaps once more and ends. Throws what the thread has thrown. Call it when
  /// nothing changes any more. Returns the version of the list.
  std::string Finish();

 private:
  void Watch(const std::string& from, const std::stop_token& stop);

  Client client_;
  LogFile& log_;
  Guarded<std::pair<std::string, std::exception_ptr>> progress_;  // version, failure of the thread
  std::condition_variable progressed_;
  std::jthread thread_;
};

/// Records all that another source returns.
class RecordingSource final : public informer::Source<ConfigMap> {
 public:
  /// `source` and `log` must outlive the object.
  RecordingSource(informer::AnySource& source, LogFile& log, std::string informer)
      : source_(source), log_(log), informer_(std::move(informer)) {}

  informer::ListResult List(const informer::ListOptions& options,
                            const std::function<void(informer::AnyObject)>& on_object,
                            std::stop_token stop) override;
  std::unique_ptr<informer::WatchStream> Watch(const informer::WatchOptions& options,
                                               std::stop_token stop) override;

 private:
  class Stream;

  informer::AnySource& source_;
  LogFile& log_;
  std::string informer_;
  std::map<ObjectKey, informer::AnyObject> listed_;  // by the pages so far
};

/// An informer of ConfigMaps that runs in a thread and records what it receives, the calls of its
/// handler, and reads of its store.
class RecordedInformer {
 public:
  /// `transport`, `clock` and `log` must outlive the informer.
  RecordedInformer(const std::string& name, Transport& transport, Clock& clock, bool use_watch_list,
                   LogFile& log);

  /// Reads the whole store and records it.
  void RecordSnapshot() { RecordStore("snapshot"); }
  /// Waits until the informer has reached `version` and its handler has got all changes, for at
  /// most `timeout` of real time. Then records the final state.
  void Finish(const std::string& version, Duration timeout);

 private:
  void RecordStore(const std::string& entry);
  void RecordCall(const std::string& type, const ConfigMap& map);
  [[nodiscard]] bool HandlerIsUpToDate();

  std::string name_;
  LogFile& log_;
  AnyHttpSource http_source_;
  RecordingSource source_;
  Guarded<std::map<ObjectKey, std::string>> handled_;  // versions by the calls of the handler
  informer::Informer<ConfigMap> informer_;
  std::jthread thread_;
  std::jthread sync_thread_;
};

}  // namespace kopp::soak
