#pragma once

#include "log_file.hpp"

#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <kopp/client.hpp>
#include <kopp/http_source.hpp>
#include <kopp/informer/informer.hpp>
#include <kopp/kinds.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::soak {

/// Records what the API server stores: lists the ConfigMaps, then watches them in a thread.
class TruthRecorder {
 public:
  TruthRecorder(Client client, LogFile& log);

  /// Blocks until the change that made `version` is recorded. Throws what the thread has thrown,
  /// and std::runtime_error after a minute.
  void AwaitVersion(const std::string& version);
  /// Lists the ConfigMaps once more and ends. Throws what the thread has thrown. Call it when
  /// nothing changes any more.
  void Finish();

 private:
  void Watch(const std::string& from, const std::stop_token& stop);
  /// Throws what the thread has thrown, if anything.
  void ThrowFailure();

  Client client_;
  LogFile& log_;
  detail::Guarded<std::pair<std::string, std::exception_ptr>>
      progress_;  // version, failure of the thread
  std::condition_variable progressed_;
  std::jthread thread_;
};

/// Records all that another source returns.
class RecordingSource final : public informer::Source<ConfigMap> {
 public:
  /// `source` and `log` must outlive the object.
  RecordingSource(informer::AnySource& source, LogFile& log, std::string informer)
      : source_(source), log_(log), informer_(std::move(informer)) {}

  informer::ListResult List(const informer::ListRequest& options,
                            const std::function<void(informer::AnyObject)>& on_object,
                            std::stop_token stop) override;
  std::unique_ptr<informer::WatchStream> Watch(const informer::WatchRequest& options,
                                               std::stop_token stop) override;

 private:
  class Stream;

  informer::AnySource& source_;
  LogFile& log_;
  std::string informer_;
  std::map<ObjectKey, informer::AnyObject> listed_;  // by the pages so far
};

/// A handler that records its calls.
class RecordedHandler {
 public:
  /// `log` must outlive the handler.
  RecordedHandler(std::string informer, std::string name, LogFile& log)
      : informer_(std::move(informer)), name_(std::move(name)), log_(log) {}

  /// Adds the handler, which must outlive `informer`.
  void AddTo(informer::Informer<ConfigMap>& informer, informer::Delivery delivery);
  /// Waits until the handler has synced, and records that; returns early if `stop` is requested.
  void RecordSync(const std::stop_token& stop);
  /// Returns the versions of the objects by the calls so far.
  [[nodiscard]] std::map<ObjectKey, std::string> Versions() { return *versions_.Lock(); }

 private:
  void RecordCall(const std::string& type, const ConfigMap& map);

  std::string informer_;
  std::string name_;
  LogFile& log_;
  detail::Guarded<std::map<ObjectKey, std::string>> versions_;
  informer::HandlerRegistration registration_;
};

/// An informer of ConfigMaps that runs in a thread and records what it receives, the calls of two
/// handlers, one for each Delivery, and reads of its store.
class RecordedInformer {
 public:
  /// `transport`, `clock` and `log` must outlive the informer.
  RecordedInformer(const std::string& name, Transport& transport, Clock& clock, bool use_watch_list,
                   LogFile& log);

  /// Reads the whole store and records it.
  void RecordSnapshot() { RecordStore("snapshot"); }
  /// Waits until the informer has reached `version` and its handlers have got all changes, at most
  /// until `deadline` of the real clock. Then records the final state.
  void Finish(const std::string& version, TimePoint deadline);

 private:
  void RecordStore(const std::string& entry);
  [[nodiscard]] bool HandlersAreUpToDate();

  std::string name_;
  LogFile& log_;
  AnyHttpSource http_source_;
  RecordingSource source_;
  RecordedHandler direct_handler_;
  RecordedHandler queued_handler_;
  informer::Informer<ConfigMap> informer_;
  std::jthread thread_;
  std::jthread sync_thread_;
};

}  // namespace kopp::soak
