#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <kopp/http_server.hpp>
#include <kopp/log.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// A health check. Returns nullopt if the check passes, else the reason of its failure. An
/// exception is a failure, too. Must be thread-safe, and must return within the timeout of the
/// probe: a second by default.
using HealthCheck = std::function<std::optional<std::string>()>;

/// The named checks of one endpoint, such as /healthz or /readyz, and its HTTP responses, which are
/// those of controller-runtime. Thread-safe.
///
///     kopp::HealthChecks readiness;
///     readiness.Add("database", [&]() -> std::optional<std::string> {
///       if (database.IsConnected()) return std::nullopt;
///       return "not connected";
///     });
///     const kopp::HttpServer server{{.address = ":8081"}, {{"/readyz/",
///     readiness.At("/readyz")}}};
///
/// - `GET /readyz` runs all checks. It returns 200 with the body "ok", or 500 with one line for
///   each check.
/// - `?verbose` returns the lines of all checks also if they pass.
/// - `?exclude=NAME` leaves out a check; it may be repeated.
/// - `GET /readyz/NAME` runs one check.
///
/// There is always a check "ping", which passes. The endpoint is public, so responses do not
/// contain reasons. A reason is logged when a check that passed before fails.
class HealthChecks {
 public:
  explicit HealthChecks(Logger log = Logger{});

  /// Adds a check; the endpoint may already be served. A check with the name "ping" replaces the
  /// default. Throws std::invalid_argument if `name` is empty, contains '/', or is in use.
  void Add(std::string name, HealthCheck check);

  /// Returns the handler for the route `path` + '/'. The checks must outlive it.
  [[nodiscard]] HttpServer::Handler At(std::string path) const;

 private:
  struct Check;
  using Checks = std::map<std::string, std::shared_ptr<Check>, std::less<>>;

  [[nodiscard]] bool Passes(const std::string& name, Check& check) const;
  [[nodiscard]] HttpResponse RunAll(std::string_view query) const;
  [[nodiscard]] HttpResponse RunOne(const std::string& name) const;

  const Logger log_;
  mutable detail::Guarded<Checks> checks_;
};

}  // namespace kopp
