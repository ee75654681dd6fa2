#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

#include <kopp/client.hpp>
#include <kopp/http_server.hpp>
#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// How long and how many decisions an AccessReviewer keeps. The times are those of
/// controller-runtime.
struct AccessReviewOptions {
  Duration token_ttl = std::chrono::minutes(1);    ///< of a valid or invalid token
  Duration allowed_ttl = std::chrono::minutes(5);  ///< of a user who is allowed
  Duration denied_ttl = std::chrono::seconds(30);  ///< of a user who is not allowed
  std::size_t max_cached =
      1024;  ///< tokens, and users with paths; the least recently used go first
  /// Requests that wait for a review at the same time. Others get 503 until one is done, so that a
  /// flood of unknown tokens neither floods the API server nor occupies all handler threads.
  std::size_t max_pending = 4;
};

/// Decides who may use an endpoint of this program: the client's bearer token must be valid
/// (TokenReview), and its user must be allowed to use the method and path (SubjectAccessReview).
/// Thread-safe.
///
/// The program's service account needs the ClusterRole system:auth-delegator. A client needs a
/// ClusterRole with
///
///     rules: [{nonResourceURLs: [/metrics], verbs: [get]}]
class AccessReviewer {
 public:
  /// `client` must not be fenced by leader election. `clock` must outlive the reviewer. Throws
  /// std::invalid_argument for a negative time or a limit of 0.
  explicit AccessReviewer(const Client& client, Logger log = Logger{}, Clock& clock = Clock::Real(),
                          AccessReviewOptions options = {});
  ~AccessReviewer();
  AccessReviewer(const AccessReviewer&) = delete;
  AccessReviewer& operator=(const AccessReviewer&) = delete;

  /// Returns nullopt if the request is allowed, else the response to it:
  ///
  /// - 401 without a token, and if the token is not valid;
  /// - 403 if the user is not allowed;
  /// - 500 if a review fails, for example because the API server is not reachable; the reason is
  ///   logged;
  /// - 503 if too many requests wait for reviews.
  ///
  /// Blocks until the API server has responded, unless the decision is known. Concurrent requests
  /// with the same token cause one review.
  [[nodiscard]] std::optional<HttpResponse> Refuse(const HttpRequest& request);

  /// Cancels running reviews and makes later ones fail. Call it before the HttpServer is destroyed,
  /// which waits for its handlers.
  void Stop();

 private:
  class Impl;

  std::unique_ptr<Impl> impl_;
};

/// Returns a handler that calls `handler` only for requests that `reviewer` allows. `reviewer` must
/// outlive it. Give the route more threads than AccessReviewOptions::max_pending, so that requests
/// with known tokens do not wait for reviews.
[[nodiscard]] HttpServer::Handler RequireAccess(HttpServer::Handler handler,
                                                AccessReviewer& reviewer);

}  // namespace kopp
