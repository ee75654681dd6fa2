#pragma once

#include "webhook/certificate_state.hpp"

#include <exception>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <kopp/client.hpp>
#include <kopp/informer/key_queue.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/log.hpp>
#include <kopp/standalone_cache.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// An object whose changes are noticed.
struct WatchedObject {
  const Kind* kind{};  ///< a constant
  ObjectKey key{};
};

/// The options of a CertificateController.
struct CertificateControllerOptions {
  /// Reads everything, does the next step, and returns the state. Its client is cancelled by Stop.
  std::function<CertificateState(const Client& client)> reconcile{};
  std::vector<WatchedObject> objects{};  ///< one of each kind
  std::string initial_problem{};         ///< Problem() until the first reconcile
  const Client& client;                  ///< must outlive the controller
  Logger log{};
  Clock& clock = Clock::Real();  ///< must outlive the controller
};

/// Calls a function when one of a few objects changes, when it is due, and again after a failure,
/// later after each further one. Each replica has one.
class CertificateController {
 public:
  /// Starts a thread, one until the informers have synced, and informers with a thread each.
  explicit CertificateController(CertificateControllerOptions options);
  ~CertificateController() { Stop(); }
  CertificateController(const CertificateController&) = delete;
  CertificateController& operator=(const CertificateController&) = delete;

  /// Reconciles at once. Thread-safe.
  void Check() { queue_.Add(only_key_); }
  /// Cancels the calls, and blocks until the threads have ended. May be called again.
  void Stop();

  /// Returns why the API server cannot call the webhooks; "" if it can. A failed reconcile leaves
  /// it unchanged, but for a ConfigError. Thread-safe, also during and after Stop().
  [[nodiscard]] std::string Problem() const { return *problem_.Lock(); }

 private:
  void Run();
  void Reconcile();
  void SetProblem(const std::string& problem);
  void Report(const std::exception& error);
  void ReportOnce(const std::string& error);

  const CertificateControllerOptions options_;
  const ObjectKey only_key_;  // of the queue
  std::stop_source stop_;
  bool has_succeeded_ = false;
  std::string last_error_;  // the same error is logged once
  mutable detail::Guarded<std::string> problem_;
  workqueue::RateLimitingQueue<ObjectKey> queue_;
  StandaloneCache cache_;
  std::jthread thread_;  // the last members: they use everything above
  std::jthread after_sync_;
};

}  // namespace kopp
