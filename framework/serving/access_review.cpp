#include "base/option_checks.hpp"
#include "base/sha256.hpp"
#include "metrics/metric_text.hpp"
#include "net/url_query.hpp"
#include "review_cache.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <exception>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>
#include <kopp/serving/access_review.hpp>

namespace kopp {
namespace {

using nlohmann::json;

constexpr Kind kTokenReview{"authentication.k8s.io/v1", "TokenReview", "tokenreviews",
                            Scope::kCluster};
constexpr Kind kSubjectAccessReview{"authorization.k8s.io/v1", "SubjectAccessReview",
                                    "subjectaccessreviews", Scope::kCluster};
constexpr std::size_t kMaxTokenBytes = 16 << 10;

/// Returns the text that follows "Bearer " in the Authorization header; "" if there is no token, or
/// if it has characters that no token has.
std::string_view BearerToken(const HttpRequest& request) {
  constexpr std::string_view kScheme = "bearer ";
  const auto is_equal = [](char letter, char other) {
    return letter == std::tolower(static_cast<unsigned char>(other));
  };
  std::string_view header = request.Header("authorization");
  if (header.size() < kScheme.size() ||
      !std::equal(kScheme.begin(), kScheme.end(), header.begin(), is_equal)) {
    return {};
  }
  header.remove_prefix(std::min(header.find_first_not_of(' ', kScheme.size()), header.size()));
  const auto is_visible = [](char c) { return c > ' ' && c < '\x7f'; };
  const bool is_valid =
      header.size() <= kMaxTokenBytes && std::all_of(header.begin(), header.end(), is_visible);
  return is_valid ? header : std::string_view{};
}

HttpResponse Unauthorized() {
  return {.status = 401, .body = "Unauthorized\n", .headers = {{"WWW-Authenticate", "Bearer"}}};
}

/// The user of a token, or the reason why there is none.
struct Authentication {
  bool authenticated = false;
  std::string username{};
  json user{};          ///< UserInfo of authentication.k8s.io
  bool failed = false;  ///< the review failed
};

enum class Authorization { kAllowed, kDenied, kFailed };

/// Returns the spec of a SubjectAccessReview.
json AccessSpec(const Authentication& user, const HttpRequest& request) {
  std::string verb = request.method;
  std::transform(verb.begin(), verb.end(), verb.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string path = ToUtf8(detail::DecodePercent(request.path, false));
  json spec{{"user", user.username},
            {"nonResourceAttributes", {{"path", path}, {"verb", ToUtf8(verb)}}}};
  for (const char* field : {"uid", "groups", "extra"}) {
    if (user.user.contains(field)) spec[field] = user.user[field];
  }
  return spec;
}

/// Counts a request as pending until it is destroyed.
class PendingRequest {
 public:
  explicit PendingRequest(std::atomic<std::size_t>& count) : count_(count), number_(++count) {}
  ~PendingRequest() { --count_; }
  PendingRequest(const PendingRequest&) = delete;
  PendingRequest& operator=(const PendingRequest&) = delete;

  /// Returns how many requests were pending when this one began, including itself.
  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  std::atomic<std::size_t>& count_;
  const std::size_t number_;
};

}  // namespace

class AccessReviewer::Impl {
 public:
  Impl(const Client& client, Logger log, Clock& clock, const AccessReviewOptions& options)
      : options_(options),
        log_(std::move(log)),
        client_(client.With(stop_.get_token())),
        authentications_(options.max_cached, clock),
        authorizations_(options.max_cached, clock) {
    detail::RequireNotNegative("AccessReviewOptions::token_ttl", options.token_ttl);
    detail::RequireNotNegative("AccessReviewOptions::allowed_ttl", options.allowed_ttl);
    detail::RequireNotNegative("AccessReviewOptions::denied_ttl", options.denied_ttl);
    detail::RequirePositive("AccessReviewOptions::max_cached", options.max_cached);
    detail::RequirePositive("AccessReviewOptions::max_pending", options.max_pending);
  }

  std::optional<HttpResponse> Refuse(const HttpRequest& request) {
    const std::string_view token = BearerToken(request);
    if (token.empty()) return Unauthorized();
    const std::string token_key = detail::Sha256(token);
    if (const auto known = authentications_.Find(token_key)) {
      if (!known->authenticated) return Unauthorized();
      const std::string spec = AccessSpec(*known, request).dump();
      if (const auto decision = authorizations_.Find(detail::Sha256(spec))) {
        return ToResponse(*decision, *known);
      }
    }
    const PendingRequest pending(pending_);
    if (pending.number() > options_.max_pending) {
      return HttpResponse{.status = 503,
                          .body = "Too many requests wait for the review of their tokens\n",
                          .headers = {{"Retry-After", "1"}}};
    }
    return Review(request, token, token_key);
  }

  void Stop() { stop_.request_stop(); }

 private:
  std::optional<HttpResponse> Review(const HttpRequest& request, std::string_view token,
                                     const std::string& token_key) {
    const Authentication user = authentications_.Get(
        token_key, [&] { return ReviewToken(std::string(token)); }, {.failed = true});
    if (user.failed) return HttpResponse{.status = 500, .body = "Authentication failed\n"};
    if (!user.authenticated) return Unauthorized();
    const json spec = AccessSpec(user, request);
    const Authorization decision = authorizations_.Get(
        detail::Sha256(spec.dump()), [&] { return ReviewAccess(spec); }, Authorization::kFailed);
    return ToResponse(decision, user);
  }

  static std::optional<HttpResponse> ToResponse(Authorization decision,
                                                const Authentication& user) {
    switch (decision) {
      case Authorization::kAllowed:
        return std::nullopt;
      case Authorization::kDenied:
        return HttpResponse{.status = 403,
                            .body = "Authorization denied for user " + user.username + '\n'};
      case Authorization::kFailed:
        break;
    }
    return HttpResponse{.status = 500,
                        .body = "Authorization for user " + user.username + " failed\n"};
  }

  ReviewCache<Authentication>::Reviewed ReviewToken(const std::string& token) const {
    try {
      const json request{{"spec", {{"token", token}}}};
      const json status =
          client_.Dynamic(kTokenReview).Create(request).Json().value("status", json::object());
      if (!status.value("authenticated", false)) return {{}, options_.token_ttl};
      const json user = status.value("user", json::object());
      return {
          {.authenticated = true, .username = user.value("username", std::string()), .user = user},
          options_.token_ttl};
    } catch (const std::exception& error) {
      LogFailure("TokenReview", error.what());
    }
    return {{.failed = true}, {}};
  }

  ReviewCache<Authorization>::Reviewed ReviewAccess(const json& spec) const {
    try {
      const json request{{"spec", spec}};
      const json review = client_.Dynamic(kSubjectAccessReview).Create(request).Json();
      if (review.value("status", json::object()).value("allowed", false)) {
        return {Authorization::kAllowed, options_.allowed_ttl};
      }
      return {Authorization::kDenied, options_.denied_ttl};
    } catch (const std::exception& error) {
      LogFailure("SubjectAccessReview", error.what());
    }
    return {Authorization::kFailed, {}};
  }

  void LogFailure(std::string_view review, std::string_view error) const {
    log_.Error(
        "Cannot review a request for access, so it is refused. If this is forbidden, bind the "
        "ClusterRole system:auth-delegator to the service account of this program",
        {{"review", review}, {"err", error}});
  }

  const AccessReviewOptions options_;
  const Logger log_;
  std::stop_source stop_;
  const Client client_;
  ReviewCache<Authentication> authentications_;
  ReviewCache<Authorization> authorizations_;
  std::atomic<std::size_t> pending_ = 0;
};

AccessReviewer::AccessReviewer(const Client& client, Logger log, Clock& clock,
                               AccessReviewOptions options)
    : impl_(std::make_unique<Impl>(client, std::move(log), clock, options)) {}

AccessReviewer::~AccessReviewer() = default;

std::optional<HttpResponse> AccessReviewer::Refuse(const HttpRequest& request) {
  return impl_->Refuse(request);
}

void AccessReviewer::Stop() { impl_->Stop(); }

HttpServer::Handler RequireAccess(HttpServer::Handler handler, AccessReviewer& reviewer) {
  return [handler = std::move(handler), &reviewer](const HttpRequest& request) {
    auto refusal = reviewer.Refuse(request);
    return refusal ? *std::move(refusal) : handler(request);
  };
}

}  // namespace kopp
