#include "base/quoted.hpp"
#include "net/url_query.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <set>
#include <stdexcept>
#include <utility>

#include <kopp/serving/health.hpp>

namespace kopp {
namespace {

constexpr const char* kPing = "ping";

std::optional<std::string> RunCheck(const HealthCheck& check) {
  try {
    return check();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "the check threw an object that is not a std::exception";
  }
}

HttpResponse NoSuchCheck() { return {.status = 404, .body = "404 page not found\n"}; }

/// Returns the line about names in ?exclude= that are not checks.
std::string UnknownNames(const std::set<std::string>& names) {
  std::string line = "warn: some health checks cannot be excluded: no matches for ";
  for (const std::string& name : names) {
    if (!line.ends_with(' ')) line += ',';
    line += detail::Quoted(name);
  }
  return line + '\n';
}

}  // namespace

struct HealthChecks::Check {
  HealthCheck function;
  std::atomic<bool> is_failing = false;
};

HealthChecks::HealthChecks(Logger log) : log_(std::move(log)) {
  const auto ping = std::make_shared<Check>();
  ping->function = [] { return std::nullopt; };
  checks_.Lock()->emplace(kPing, ping);
}

void HealthChecks::Add(std::string name, HealthCheck check) {
  if (name.empty() || name.find('/') != std::string::npos) {
    throw std::invalid_argument("a health check cannot have the name " + detail::Quoted(name) +
                                ": it must not be empty or contain '/'");
  }
  auto added = std::make_shared<Check>();
  added->function = std::move(check);
  auto checks = checks_.Lock();
  const auto [entry, is_new] = checks->emplace(std::move(name), added);
  if (is_new) return;
  if (entry->first != kPing) {
    throw std::invalid_argument("there are two health checks with the name " +
                                detail::Quoted(entry->first));
  }
  entry->second = std::move(added);
}

HttpServer::Handler HealthChecks::At(std::string path) const {
  return [this, path = std::move(path)](const HttpRequest& request) {
    std::string_view below = request.path;
    below.remove_prefix(std::min(path.size(), below.size()));
    while (below.starts_with('/')) below.remove_prefix(1);
    return below.empty() ? RunAll(request.query) : RunOne(detail::DecodePercent(below, false));
  };
}

bool HealthChecks::Passes(const std::string& name, Check& check) const {
  const auto reason = RunCheck(check.function);
  const bool was_failing = check.is_failing.exchange(reason.has_value());
  if (reason && !was_failing) {
    log_.Error("Health check failed", {{"check", name}, {"err", *reason}});
  } else if (reason) {
    log_.V(1).Info("Health check still fails", {{"check", name}, {"err", *reason}});
  } else if (was_failing) {
    log_.Info("Health check passes again", {{"check", name}});
  }
  return !reason;
}

HttpResponse HealthChecks::RunAll(std::string_view query) const {
  const auto parameters = detail::ParseQuery(query);
  std::set<std::string> excluded;
  const auto [first, last] = parameters.equal_range("exclude");
  for (auto each = first; each != last; ++each) excluded.insert(each->second);

  const Checks checks = *checks_.Lock();
  bool passed = true;
  std::string lines;
  for (const auto& [name, check] : checks) {
    if (excluded.erase(name) > 0) {
      lines += "[+]" + name + " excluded: ok\n";
    } else if (Passes(name, *check)) {
      lines += "[+]" + name + " ok\n";
    } else {
      lines += "[-]" + name + " failed: reason withheld\n";
      passed = false;
    }
  }
  if (passed && !parameters.contains("verbose")) return {.body = "ok"};
  if (!excluded.empty()) lines += UnknownNames(excluded);
  lines += passed ? "healthz check passed\n" : "healthz check failed\n";
  return {.status = passed ? 200 : 500, .body = std::move(lines)};
}

// controller-runtime: responds with the reason. kopp withholds it here, too, because reasons name
// objects, and everybody in the network of the Pods can read this endpoint.
HttpResponse HealthChecks::RunOne(const std::string& name) const {
  const Checks checks = *checks_.Lock();
  const auto found = checks.find(name);
  if (found == checks.end()) return NoSuchCheck();
  if (Passes(name, *found->second)) return {.body = "ok"};
  return {.status = 500, .body = "internal server error: reason withheld\n"};
}

}  // namespace kopp
