#include "handlers/health.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

/// Returns the checks of a health endpoint. It is empty for other names.
std::vector<std::string> ChecksOf(const std::string& endpoint) {
  if (endpoint == "healthz" || endpoint == "livez") return {"ping", "log", "etcd"};
  if (endpoint != "readyz") return {};
  return {"ping", "log", "etcd", "etcd-readiness", "informer-sync", "shutdown"};
}

std::string VerboseReport(const std::string& endpoint, const std::vector<std::string>& checks,
                          const std::vector<std::string>& excluded_checks) {
  std::set<std::string> excluded(excluded_checks.begin(), excluded_checks.end());
  std::string report;
  for (const std::string& check : checks) {
    report += "[+]" + check + (excluded.erase(check) > 0 ? " excluded: ok\n" : " ok\n");
  }
  std::string unknown;
  for (const std::string& check : excluded)
    unknown += (unknown.empty() ? "\"" : ",\"") + check + '"';
  if (!unknown.empty()) {
    report += "warn: some health checks cannot be excluded: no matches for " + unknown + '\n';
  }
  return report + endpoint + " check passed\n";
}

ServerResponse TextResponse(std::string text) {
  return {.body = std::move(text), .content_type = "text/plain; charset=utf-8"};
}

}  // namespace

std::optional<ServerResponse> HandleHealth(const ServerRequest& request) {
  const auto& segments = request.target.path_segments;
  if (segments.empty() || segments.size() > 2) return std::nullopt;
  const std::vector<std::string> checks = ChecksOf(segments[0]);
  if (checks.empty()) return std::nullopt;
  if (segments.size() == 2) {
    const bool exists = std::find(checks.begin(), checks.end(), segments[1]) != checks.end();
    return exists ? std::optional(TextResponse("ok")) : std::nullopt;
  }
  const Query& query = request.target.query;
  return TextResponse(
      query.Has("verbose") ? VerboseReport(segments[0], checks, query.All("exclude")) : "ok");
}

}  // namespace kopp::apiserver
