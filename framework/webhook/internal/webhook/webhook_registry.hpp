#pragma once

#include "controller/timer_queue.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kopp/cache.hpp>
#include <kopp/client.hpp>
#include <kopp/http_server.hpp>
#include <kopp/log.hpp>
#include <kopp/metrics.hpp>
#include <kopp/serving/debug.hpp>
#include <kopp/tracing.hpp>
#include <kopp/webhook/admission.hpp>
#include <kopp/webhook/token_review.hpp>
#include <kopp/webhook/webhook_builder.hpp>
#include <kopp/webhook/webhook_options.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

class BadReview;
struct AdmissionReview;
struct DecodedTokenReview;

/// What the functions of webhooks use, and where calls are counted. All must outlive the registry.
struct WebhookDependencies {
  const Client& client;
  const Cache& cache;
  Metrics& metrics;
  Tracer* tracer = nullptr;  ///< null: no spans
  Logger log;
  Clock& clock;
};

/// The webhooks of a program, by path. Add all before Close.
class WebhookRegistry {
 public:
  explicit WebhookRegistry(WebhookDependencies dependencies);
  /// Requires that no route runs any more.
  ~WebhookRegistry();
  WebhookRegistry(const WebhookRegistry&) = delete;
  WebhookRegistry& operator=(const WebhookRegistry&) = delete;

  // The three throw std::invalid_argument if the path is not valid, and std::logic_error if it is
  // in use or Close was called.
  void Add(KindWebhook webhook);
  void AddAdmission(const std::string& path, AdmissionHandler handler,
                    const WebhookOptions& options);
  void AddAuthentication(const std::string& path, Authenticator authenticate,
                         const WebhookOptions& options);

  /// From now on, no webhook can be added.
  void Close() { closed_ = true; }

  [[nodiscard]] bool empty() const { return endpoints_.empty(); }
  /// Returns the webhooks that were added for a kind.
  [[nodiscard]] const std::vector<KindWebhook>& kinds() const { return kinds_; }
  /// Returns a route for each path. They use the registry. Throws std::system_error if the thread
  /// for deadlines cannot be started.
  [[nodiscard]] HttpServer::Routes Routes();
  /// Requests the stop of all functions: of those that are running, and of later ones at once.
  void RequestStop() { stop_.request_stop(); }
  /// Returns the state of each webhook, for the debug pages. Thread-safe after Close.
  [[nodiscard]] std::vector<DebugWebhook> Describe() const;

 private:
  /// Answers one request. `stop` ends at its deadline.
  using Serve =
      std::function<HttpResponse(const HttpRequest& request, const std::stop_token& stop)>;
  struct Endpoint {
    Serve serve;
    WebhookOptions options;
  };
  struct Counts {
    std::atomic<std::size_t> in_flight = 0;
    std::atomic<std::uint64_t> requests = 0;
    std::atomic<std::uint64_t> denied = 0;
    std::atomic<std::uint64_t> failed = 0;
    detail::Guarded<std::string> last_failure;
  };

  /// An admission webhook.
  struct AdmissionEndpoint {
    std::string path;
    AdmissionHandler handler;
    bool may_patch = true;
  };

  void AddAdmission(AdmissionEndpoint endpoint, const WebhookOptions& options);
  void AddEndpoint(const std::string& path, const Endpoint& endpoint);
  [[nodiscard]] std::unique_ptr<Span> StartSpan(const std::string& path,
                                                const AdmissionRequest& request) const;
  HttpResponse ServeUntilDeadline(const Serve& serve, const HttpRequest& request);
  HttpResponse ServeAdmission(const AdmissionEndpoint& endpoint, const HttpRequest& request,
                              const std::stop_token& stop);
  HttpResponse ServeReview(const AdmissionEndpoint& endpoint, const AdmissionReview& review,
                           const std::stop_token& stop);
  AdmissionResponse Call(const AdmissionEndpoint& endpoint, AdmissionContext& context);
  HttpResponse ServeAuthentication(const std::string& path, const Authenticator& authenticate,
                                   const HttpRequest& request, const std::stop_token& stop);
  HttpResponse ServeToken(const std::string& path, const Authenticator& authenticate,
                          const DecodedTokenReview& decoded);
  AdmissionResponse Fail(const std::string& path, const AdmissionContext& context,
                         const std::string& message, const std::string& logged);
  void ReportBadReview(const std::string& path, const BadReview& error) const;
  void ReportFailure(const std::string& path, const Logger& log, const std::string& error);

  const WebhookDependencies dependencies_;
  std::map<std::string, Endpoint> endpoints_;
  mutable std::map<std::string, Counts> counts_;  // one for each endpoint
  std::vector<KindWebhook> kinds_;
  std::stop_source stop_;                  // of all functions
  std::unique_ptr<TimerQueue> deadlines_;  // null before Routes
  bool closed_ = false;
};

}  // namespace kopp
