#include "webhook/webhook_registry.hpp"

#include "base/ascii.hpp"
#include "base/duration.hpp"
#include "base/quoted.hpp"
#include "client/read_scope.hpp"
#include "net/url_query.hpp"
#include "review_text.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/informer/api_error.hpp>
#include <kopp/informer/detail/exception_text.hpp>

namespace kopp {
namespace {

using nlohmann::json;

/// The bytes of all requests in flight at one path. A review of 7 MiB is the largest.
constexpr std::size_t kMaxBodyBytesInFlight = 64 << 20;

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

/// A call that was stopped before it returned an answer.
class StoppedCall : public std::runtime_error {
  using runtime_error::runtime_error;
};

/// Throws std::logic_error if the API server would reject the patch of a webhook.
void RequireUsablePatch(bool may_patch, const AdmissionRequest& request, const std::string& patch) {
  if (!may_patch || request.operation == AdmissionOperation::kDelete) {
    throw std::logic_error(
        "the webhook returned a patch; only mutating webhooks for created and updated objects may");
  }
  const json parsed = json::parse(patch, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_array()) return;
  throw std::logic_error("the webhook returned a patch that is not a JSON Patch");
}

}  // namespace

WebhookRegistry::WebhookRegistry(WebhookDependencies dependencies)
    : dependencies_(std::move(dependencies)) {}
WebhookRegistry::~WebhookRegistry() = default;

void WebhookRegistry::Add(KindWebhook webhook) {
  const Duration timeout = webhook.options.timeout;
  if (timeout < std::chrono::seconds(1) || timeout > std::chrono::seconds(30) ||
      timeout % std::chrono::seconds(1) != Duration::zero()) {
    throw std::invalid_argument("the timeout of a webhook must be 1 to 30 whole seconds: " +
                                webhook.path);
  }
  AddAdmission({.path = webhook.path,
                .handler = webhook.handler,
                .may_patch = webhook.type == WebhookType::kMutating},
               webhook.options);
  kinds_.push_back(std::move(webhook));
}

void WebhookRegistry::AddAdmission(const std::string& path, AdmissionHandler handler,
                                   const WebhookOptions& options) {
  AddAdmission({.path = path, .handler = std::move(handler)}, options);
}

void WebhookRegistry::AddAdmission(AdmissionEndpoint endpoint, const WebhookOptions& options) {
  const std::string path = endpoint.path;
  AddEndpoint(path, {[this, endpoint = std::move(endpoint)](const HttpRequest& request,
                                                            const std::stop_token& stop) {
                       return ServeAdmission(endpoint, request, stop);
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
  if (closed_) throw std::logic_error("the webhook " + path + " was added after the start");
  counts_.try_emplace(path);
  if (endpoints_.try_emplace(path, endpoint).second) return;
  throw std::logic_error("there are two webhooks with the path " + path);
}

HttpServer::Routes WebhookRegistry::Routes() {
  deadlines_ = std::make_unique<TimerQueue>(dependencies_.clock);
  HttpServer::Routes routes;
  for (const auto& [path, endpoint] : endpoints_) {
    const WebhookMetrics metrics = dependencies_.metrics.NewWebhookMetrics(path);
    const auto count = [metrics, path = path](int status) {
      metrics.requests_total.WithLabelValues({path, std::to_string(status)}).Inc();
    };
    const auto serve = [this, &endpoint = endpoint, &counts = counts_.at(path), metrics,
                        count](const HttpRequest& request) {
      ++counts.in_flight;
      metrics.requests_in_flight.Inc();
      const TimePoint started = dependencies_.clock.Now();
      HttpResponse response = ServeUntilDeadline(endpoint.serve, request);
      const std::chrono::duration<double> seconds = dependencies_.clock.Now() - started;
      metrics.latency_seconds.Observe(seconds.count());
      count(response.status);
      metrics.requests_in_flight.Dec();
      --counts.in_flight;
      ++counts.requests;
      return response;
    };
    HttpServer::Route route(serve, {"POST"}, endpoint.options.threads);
    route.max_in_flight = endpoint.options.max_in_flight;
    route.max_body_bytes_in_flight = kMaxBodyBytesInFlight;
    route.on_rejected = count;
    routes.emplace(path, std::move(route));
  }
  return routes;
}

std::vector<DebugWebhook> WebhookRegistry::Describe() const {
  std::vector<DebugWebhook> all;
  for (const auto& [path, endpoint] : endpoints_) {
    Counts& counts = counts_.at(path);
    all.push_back({.path = path,
                   .in_flight = counts.in_flight,
                   .max_in_flight = endpoint.options.max_in_flight,
                   .requests = counts.requests,
                   .denied = counts.denied,
                   .failed = counts.failed,
                   .last_failure = *counts.last_failure.Lock()});
    const auto of_kind = std::ranges::find(kinds_, path, &KindWebhook::path);
    if (of_kind == kinds_.end()) continue;
    const bool is_mutating = of_kind->type == WebhookType::kMutating;
    all.back().kind = (is_mutating ? "mutating " : "validating ") + of_kind->kind.ToString();
  }
  return all;
}

HttpResponse WebhookRegistry::ServeUntilDeadline(const Serve& serve, const HttpRequest& request) {
  std::stop_source call;
  const std::stop_callback forward(stop_.get_token(), [&call] { call.request_stop(); });
  const std::optional<Duration> timeout = TimeoutOf(request);
  const ReadScope reads(call.get_token());
  if (!timeout) return serve(request, call.get_token());
  const auto timer = deadlines_->Add(SaturatingAdd(dependencies_.clock.Now(), *timeout),
                                     [call]() mutable { call.request_stop(); });
  HttpResponse response = serve(request, call.get_token());
  deadlines_->Cancel(timer);
  return response;
}

HttpResponse WebhookRegistry::ServeAdmission(const AdmissionEndpoint& endpoint,
                                             const HttpRequest& request,
                                             const std::stop_token& stop) {
  try {
    return ServeReview(endpoint, DecodeAdmissionReview(request), stop);
  } catch (const BadReview& error) {
    ReportBadReview(endpoint.path, error);
    return ToAdmissionResponse(error);
  }
}

HttpResponse WebhookRegistry::ServeReview(const AdmissionEndpoint& endpoint,
                                          const AdmissionReview& review,
                                          const std::stop_token& stop) {
  const auto span = StartSpan(endpoint.path, review.request);
  Client client = dependencies_.client.With(stop);
  Logger log = dependencies_.log.With({{"webhook", endpoint.path},
                                       {"requestID", review.request.uid},
                                       {"namespace", review.request.ns},
                                       {"name", review.request.name}});
  if (span) {
    client = client.WithTracing(*dependencies_.tracer, span->context());
    log = log.With({{"trace_id", span->context().trace_id}, {"span_id", span->context().span_id}});
  }
  AdmissionContext context{.request = review.request,
                           .client = client,
                           .cache = dependencies_.cache,
                           .log = std::move(log),
                           .stop = stop,
                           .clock = dependencies_.clock};
  try {
    const AdmissionResponse response = Call(endpoint, context);
    if (!response.allowed && response.status.code < 500) ++counts_.at(endpoint.path).denied;
    if (span) {
      span->SetAttribute("kopp.allowed", response.allowed);
      if (response.status.code >= 500) span->SetError(response.status.message);
    }
    return ToHttpResponse(review, response, context);
  } catch (const StoppedCall& stopped) {
    context.log.Error("A webhook was stopped", {{"err", stopped.what()}});
    if (span) span->SetError(stopped.what());
    return ToStoppedResponse(review, stopped.what());
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

/// Turns the exceptions of the handler into denials. Throws StoppedCall.
AdmissionResponse WebhookRegistry::Call(const AdmissionEndpoint& endpoint,
                                        AdmissionContext& context) {
  try {
    AdmissionResponse response = endpoint.handler(context.request, context);
    if (!response.patch.empty())
      RequireUsablePatch(endpoint.may_patch, context.request, response.patch);
    return response;
  } catch (const AdmissionDenied& denied) {
    return AdmissionResponse::Denied(denied.what(), denied.code());
  } catch (const ApiError& error) {
    return {.allowed = false, .status = error.status()};
  } catch (const std::exception& error) {
    return Fail(endpoint.path, context, error.what(), detail::ExceptionText(error));
  } catch (...) {
    return Fail(endpoint.path, context, kUnknownException, kUnknownException);
  }
}

/// Returns the denial for an unexpected exception. After the stop, throws StoppedCall instead, so
/// that the failure policy of the webhook applies: the exception may be a cancelled call.
AdmissionResponse WebhookRegistry::Fail(const std::string& path, const AdmissionContext& context,
                                        const std::string& message, const std::string& logged) {
  if (context.stop.stop_requested()) throw StoppedCall("the webhook was stopped: " + message);
  ReportFailure(path, context.log, logged);
  return AdmissionResponse::Denied(message, 500);
}

HttpResponse WebhookRegistry::ServeAuthentication(const std::string& path,
                                                  const Authenticator& authenticate,
                                                  const HttpRequest& request,
                                                  const std::stop_token& stop) {
  try {
    DecodedTokenReview decoded = DecodeTokenReview(request);
    decoded.review.stop = stop;
    return ServeToken(path, authenticate, decoded);
  } catch (const BadReview& error) {
    ReportBadReview(path, error);
    return ToTokenReviewResponse("", std::nullopt, {}, error.what(), error.code());
  }
}

HttpResponse WebhookRegistry::ServeToken(const std::string& path, const Authenticator& authenticate,
                                         const DecodedTokenReview& decoded) {
  const TokenReview& review = decoded.review;
  const auto reject = [&](const std::string& error) {
    return ToTokenReviewResponse(decoded.api_version, std::nullopt, {}, error);
  };
  const auto fail = [&](const std::string& error, const std::string& logged) {
    const Logger log = dependencies_.log.With({{"webhook", path}});
    review.stop.stop_requested() ? log.Error("A webhook was stopped", {{"err", logged}})
                                 : ReportFailure(path, log, logged);
    return reject(error);
  };
  if (review.token.empty()) return reject("token is empty");
  try {
    return ToTokenReviewResponse(decoded.api_version, authenticate(review), review.audiences, "");
  } catch (const std::exception& error) {
    return fail(error.what(), detail::ExceptionText(error));
  } catch (...) {
    return fail(kUnknownException, kUnknownException);
  }
}

void WebhookRegistry::ReportBadReview(const std::string& path, const BadReview& error) const {
  dependencies_.log.Error("Invalid request for a webhook",
                          {{"webhook", path}, {"err", error.what()}});
}

void WebhookRegistry::ReportFailure(const std::string& path, const Logger& log,
                                    const std::string& error) {
  dependencies_.metrics.NewWebhookMetrics(path).panics_total.Inc();
  Counts& counts = counts_.at(path);
  ++counts.failed;
  *counts.last_failure.Lock() = error;
  log.Error("A webhook failed", {{"err", error}});
}

}  // namespace kopp
