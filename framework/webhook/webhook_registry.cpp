#include "webhook/webhook_registry.hpp"

#include "base/ascii.hpp"
#include "base/duration.hpp"
#include "base/quoted.hpp"
#include "client/read_scope.hpp"
#include "net/url_query.hpp"
#include "review_text.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <kopp/informer/api_error.hpp>
#include <kopp/informer/detail/exception_text.hpp>

namespace kopp {
namespace {

constexpr const char* kUnknownException =
    "the webhook threw an object that is not a std::exception";

/// Returns whether `path` consists of letters, digits, '-' and '_' between slashes.
bool IsWebhookPath(const std::string& path) {
  if (path == "/") return true;
  char previous = '\0';
  for (const char c : path) {
    const bool is_allowed = c == '-' || c == '_' || detail::IsLetterOrDigit(c);
    if (c == '/' ? previous == '/' : !is_allowed || previous == '\0') return false;
    previous = c;
  }
  return previous != '/' && previous != '\0';
}

/// Returns the time that the API server waits, from the query of the URL: "timeout=10s".
std::optional<Duration> TimeoutOf(const HttpRequest& request) {
  const detail::QueryParameters parameters = detail::ParseQuery(request.query);
  const auto timeout = parameters.find("timeout");
  return timeout == parameters.end() ? std::nullopt : detail::ParseDuration(timeout->second);
}

}  // namespace

WebhookRegistry::WebhookRegistry(WebhookDependencies dependencies)
    : dependencies_(std::move(dependencies)) {}
WebhookRegistry::~WebhookRegistry() = default;

void WebhookRegistry::Add(KindWebhook webhook) {
  if (webhook.options.timeout < std::chrono::seconds(1) ||
      webhook.options.timeout > std::chrono::seconds(30)) {
    throw std::invalid_argument("the timeout of a webhook must be 1 to 30 seconds: " +
                                webhook.path);
  }
  AddAdmission(webhook.path, webhook.handler, webhook.options);
  kinds_.push_back(std::move(webhook));
}

void WebhookRegistry::AddAdmission(const std::string& path, AdmissionHandler handler,
                                   const WebhookOptions& options) {
  AddEndpoint(path, {[this, path, handler = std::move(handler)](const HttpRequest& request,
                                                                const std::stop_token& stop) {
                       return ServeAdmission(path, handler, request, stop);
                     },
                     options});
}

void WebhookRegistry::AddAuthentication(const std::string& path, Authenticator authenticate,
                                        const WebhookOptions& options) {
  AddEndpoint(path, {[this, path, authenticate = std::move(authenticate)](
                         const HttpRequest& request, const std::stop_token& stop) {
                       return ServeAuthentication(path, authenticate, request, stop);
                     },
                     options});
}

void WebhookRegistry::AddEndpoint(const std::string& path, const Endpoint& endpoint) {
  if (!IsWebhookPath(path)) {
    throw std::invalid_argument(
        "the path of a webhook must consist of letters, digits, '-' and "
        "'_' between slashes, such as /validate-foo, not " +
        detail::Quoted(path));
  }
  if (deadlines_) throw std::logic_error("the webhook " + path + " was added after the start");
  if (endpoints_.try_emplace(path, endpoint).second) return;
  throw std::logic_error("there are two webhooks with the path " + path);
}

HttpServer::Routes WebhookRegistry::Routes() {
  deadlines_ = std::make_unique<TimerQueue>(dependencies_.clock);
  HttpServer::Routes routes;
  for (const auto& [path, endpoint] : endpoints_) {
    const auto serve =
        [this, &endpoint = endpoint, path = path,
         metrics = dependencies_.metrics.NewWebhookMetrics(path)](const HttpRequest& request) {
          metrics.requests_in_flight.Inc();
          const TimePoint started = dependencies_.clock.Now();
          HttpResponse response = ServeUntilDeadline(endpoint.serve, request);
          const std::chrono::duration<double> seconds = dependencies_.clock.Now() - started;
          metrics.latency_seconds.Observe(seconds.count());
          metrics.requests_total.WithLabelValues({path, std::to_string(response.status)}).Inc();
          metrics.requests_in_flight.Dec();
          return response;
        };
    HttpServer::Route route(serve, {"POST"}, endpoint.options.threads);
    route.max_in_flight = endpoint.options.max_in_flight;
    routes.emplace(path, std::move(route));
  }
  return routes;
}

void WebhookRegistry::RequestStop() {
  std::stop_source running = std::exchange(*stop_.Lock(), std::stop_source());
  running.request_stop();
}

HttpResponse WebhookRegistry::ServeUntilDeadline(const Serve& serve, const HttpRequest& request) {
  std::stop_source call;
  const std::stop_token all = stop_.Lock()->get_token();
  const std::stop_callback forward(all, [&call] { call.request_stop(); });
  const std::optional<Duration> timeout = TimeoutOf(request);
  const ReadScope reads(call.get_token());
  if (!timeout) return serve(request, call.get_token());
  const auto timer = deadlines_->Add(SaturatingAdd(dependencies_.clock.Now(), *timeout),
                                     [call]() mutable { call.request_stop(); });
  HttpResponse response = serve(request, call.get_token());
  deadlines_->Cancel(timer);
  return response;
}

HttpResponse WebhookRegistry::ServeAdmission(const std::string& path,
                                             const AdmissionHandler& handler,
                                             const HttpRequest& request,
                                             const std::stop_token& stop) {
  try {
    const AdmissionReview review = DecodeAdmissionReview(request);
    const auto span = StartSpan(path, review.request);
    Client client = dependencies_.client.With(stop);
    Logger log = dependencies_.log.With({{"webhook", path},
                                         {"requestID", review.request.uid},
                                         {"namespace", review.request.ns},
                                         {"name", review.request.name}});
    if (span) {
      client = client.WithTracing(*dependencies_.tracer, span->context());
      log =
          log.With({{"trace_id", span->context().trace_id}, {"span_id", span->context().span_id}});
    }
    AdmissionContext context{.request = review.request,
                             .client = client,
                             .cache = dependencies_.cache,
                             .log = std::move(log),
                             .stop = stop,
                             .clock = dependencies_.clock};
    const AdmissionResponse response = Call(path, handler, context);
    if (span) {
      span->SetAttribute("kopp.allowed", response.allowed);
      if (response.status.code >= 500) span->SetError(response.status.message);
    }
    return ToHttpResponse(review, response, context);
  } catch (const BadReview& error) {
    dependencies_.log.Error("Invalid request for a webhook",
                            {{"webhook", path}, {"err", error.what()}});
    return ToAdmissionResponse(error);
  }
}

/// Returns the span of a review, or null without a tracer.
std::unique_ptr<Span> WebhookRegistry::StartSpan(const std::string& path,
                                                 const AdmissionRequest& request) const {
  if (dependencies_.tracer == nullptr) return nullptr;
  return dependencies_.tracer->StartSpan(
      "webhook " + path,
      {.attributes = {{"kopp.operation", std::string(JsonNameOf(request.operation))},
                      {"kopp.object.kind", request.kind.kind},
                      {"k8s.namespace.name", request.ns},
                      {"kopp.object.name", request.name},
                      {"kopp.request_id", request.uid},
                      {"kopp.dry_run", request.dryRun}}});
}

/// Turns the exceptions of `handler` into denials.
AdmissionResponse WebhookRegistry::Call(const std::string& path, const AdmissionHandler& handler,
                                        AdmissionContext& context) {
  try {
    return handler(context.request, context);
  } catch (const AdmissionDenied& denied) {
    return AdmissionResponse::Denied(denied.what(), denied.code());
  } catch (const ApiError& error) {
    return {.allowed = false, .status = error.status()};
  } catch (const std::exception& error) {
    return Fail(path, context, error.what(), detail::ExceptionText(error));
  } catch (...) {
    return Fail(path, context, kUnknownException, kUnknownException);
  }
}

/// Returns the denial for an unexpected exception. After the stop, throws BadReview instead, so
/// that the failure policy of the webhook applies: the exception may be a cancelled call.
AdmissionResponse WebhookRegistry::Fail(const std::string& path, const AdmissionContext& context,
                                        const std::string& message, const std::string& logged) {
  if (context.stop.stop_requested()) throw BadReview(503, "the webhook was stopped: " + message);
  ReportFailure(path, context.log, logged);
  return AdmissionResponse::Denied(message, 500);
}

HttpResponse WebhookRegistry::ServeAuthentication(const std::string& path,
                                                  const Authenticator& authenticate,
                                                  const HttpRequest& request,
                                                  const std::stop_token& stop) {
  std::string version;
  std::string problem;
  try {
    DecodedTokenReview decoded = DecodeTokenReview(request);
    version = decoded.api_version;
    if (decoded.review.token.empty()) {
      return ToTokenReviewResponse(version, std::nullopt, {}, "token is empty");
    }
    decoded.review.stop = stop;
    return ToTokenReviewResponse(version, authenticate(decoded.review), decoded.review.audiences,
                                 "");
  } catch (const BadReview& error) {
    return ToTokenReviewResponse(version, std::nullopt, {}, error.what(), error.code());
  } catch (const std::exception& error) {
    problem = error.what();
  } catch (...) {
    problem = kUnknownException;
  }
  ReportFailure(path, dependencies_.log, problem);
  return ToTokenReviewResponse(version, std::nullopt, {}, problem);
}

void WebhookRegistry::ReportFailure(const std::string& path, const Logger& log,
                                    const std::string& error) {
  dependencies_.metrics.NewWebhookMetrics(path).panics_total.Inc();
  log.Error("A webhook failed", {{"err", error}});
}

}  // namespace kopp
