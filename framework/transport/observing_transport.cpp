#include <chrono>
#include <set>
#include <utility>

#include <kopp/informer/detail/resource_path.hpp>
#include <kopp/transport/observing_transport.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

constexpr std::size_t kMaxWarnings = 1000;      // distinct texts that LogWarnings remembers
constexpr std::size_t kMaxWarningBytes = 1024;  // of a text in the log

std::string_view PathOf(std::string_view target) { return target.substr(0, target.find('?')); }

std::string_view NameOf(TransportError::Kind kind) {
  using Kind = TransportError::Kind;
  switch (kind) {
    case Kind::kUnreachable:
      return "unreachable";
    case Kind::kUntrusted:
      return "untrusted";
    case Kind::kTimeout:
      return "timeout";
    case Kind::kBroken:
      return "broken";
    case Kind::kMalformed:
      return "malformed";
    case Kind::kTooLarge:
      return "too large";
    case Kind::kCancelled:
      return "cancelled";
    case Kind::kNoCredentials:
      return "no credentials";
    case Kind::kForbiddenByProxy:
      return "forbidden by proxy";
  }
  return "unknown";
}

// Returns `text`, truncated to kMaxWarningBytes between two UTF-8 characters.
std::string Truncated(const std::string& text) {
  if (text.size() <= kMaxWarningBytes) return text;
  std::size_t size = kMaxWarningBytes;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;
  return text.substr(0, size) + "...";
}

// The warnings that were logged. Stores hashes, because a text may be long. Thread-safe.
class LoggedWarnings {
 public:
  // Returns whether `text` is new, and remembers it.
  bool Insert(const std::string& text) {
    auto hashes = hashes_.Lock();
    const std::size_t hash = std::hash<std::string>()(text);
    if (hashes->contains(hash)) return false;
    if (hashes->size() == kMaxWarnings) hashes->clear();
    hashes->insert(hash);
    return true;
  }

 private:
  detail::Guarded<std::set<std::size_t>> hashes_;
};

}  // namespace

std::string PathTemplate(std::string_view target) {
  const std::string_view path = PathOf(target);
  const auto resource = ParseResourcePath(path);
  if (!resource) {
    const bool discovery = path == "/api" || path.starts_with("/api/") || path == "/apis" ||
                           path.starts_with("/apis/");
    const auto second_part = path.find('/', 1);
    if (discovery || second_part == std::string_view::npos) return std::string(path);
    return std::string(path.substr(0, second_part)) + "/{path}";
  }
  std::string text = resource->group.empty() ? "/api/" : "/apis/";
  if (!resource->group.empty()) text.append(resource->group).append("/");
  text.append(resource->version);
  if (!resource->ns.empty()) text += "/namespaces/{namespace}";
  text.append("/").append(resource->resource);
  if (!resource->name.empty()) text += "/{name}";
  if (!resource->subresource.empty()) text.append("/").append(resource->subresource);
  return text;
}

RequestObserver LogRequests(Logger log) {
  return [log = std::move(log)](const RequestEvent& event) {
    using Milliseconds = std::chrono::milliseconds;
    const LogField result =
        event.error ? LogField{"error", NameOf(*event.error)} : LogField{"status", event.status};
    log.Info("Response",
             {{"verb", event.method},
              {"path", event.path},
              result,
              {"milliseconds", std::chrono::duration_cast<Milliseconds>(event.duration).count()},
              {"attempt", event.attempt}});
  };
}

RequestObserver LogWarnings(Logger log) {
  return [log = std::move(log),
          logged = std::make_shared<LoggedWarnings>()](const RequestEvent& event) {
    for (const std::string& warning : event.warnings) {
      if (!logged->Insert(warning)) continue;
      log.Info("Warning of the API server",
               {{"warning", Truncated(warning)}, {"verb", event.method}, {"path", event.path}});
    }
  };
}

// Fills in the event of one request and reports it.
class ObservingTransport::Observation {
 public:
  Observation(const ObservingTransport& transport, const ApiRequest& request, bool stream)
      : transport_(transport), start_(transport.clock_.Now()) {
    event_.method = request.method;
    event_.path = PathOf(request.target);
    event_.path_template = PathTemplate(event_.path);
    event_.host = transport.host_;
    event_.attempt = request.attempt;
    event_.stream = stream;
    event_.request_bytes = request.body.size();
  }

  void Report(const ApiResponse& response) {
    event_.status = response.status;
    event_.response_bytes = response.body.size();
    event_.warnings = response.warnings;
    Notify();
  }
  void Report(const TransportError& error) {
    event_.error = error.kind();
    Notify();
  }

 private:
  void Notify() {
    event_.duration = transport_.clock_.Now() - start_;
    for (const RequestObserver& observer : transport_.observers_) observer(event_);
  }

  const ObservingTransport& transport_;
  const TimePoint start_;
  RequestEvent event_;
};

ObservingTransport::ObservingTransport(std::shared_ptr<Transport> next,
                                       std::vector<RequestObserver> observers, std::string host,
                                       Clock& clock)
    : next_(std::move(next)),
      observers_(std::move(observers)),
      host_(std::move(host)),
      clock_(clock) {}

ApiResponse ObservingTransport::Call(const ApiRequest& request, std::stop_token stop) {
  Observation observation(*this, request, /*stream=*/false);
  try {
    ApiResponse response = next_->Call(request, std::move(stop));
    observation.Report(response);
    return response;
  } catch (const TransportError& error) {
    observation.Report(error);
    throw;
  }
}

std::unique_ptr<Stream> ObservingTransport::Open(const ApiRequest& request, std::stop_token stop) {
  Observation observation(*this, request, /*stream=*/true);
  try {
    auto stream = next_->Open(request, std::move(stop));
    observation.Report(stream->head());
    return stream;
  } catch (const TransportError& error) {
    observation.Report(error);
    throw;
  }
}

}  // namespace kopp
