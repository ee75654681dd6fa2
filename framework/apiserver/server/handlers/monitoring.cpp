#include "handlers/monitoring.hpp"

#include "api/content_type.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

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

constexpr const char* kHead =
    "# HELP apiserver_request_total [STABLE] Counter of apiserver requests broken out for each "
    "verb, dry run value, group, version, resource, scope, component, and HTTP response code.\n"
    "# TYPE apiserver_request_total counter\n";

/// Returns the value of the label "verb": LIST, WATCH, APPLY or the HTTP method.
std::string_view VerbLabel(const ServerRequest& request) {
  constexpr std::string_view kMethods[] = {"DELETE", "GET", "PATCH", "POST", "PUT"};
  const RequestInfo& target = request.target;
  if (request.method == "GET") {
    if (target.watch_prefix || target.query.IsTrue("watch")) return "WATCH";
    return target.name.empty() ? "LIST" : "GET";
  }
  if (request.method == "PATCH" && request.media_type() == kApplyPatch) {
    return "APPLY";
  }
  const auto* const found = std::find(std::begin(kMethods), std::end(kMethods), request.method);
  return found == std::end(kMethods) ? "other" : *found;
}

std::string_view ScopeLabel(const ServerRequest& request) {
  if (!request.target.name.empty() || request.method == "POST") return "resource";
  return request.target.ns.empty() ? "cluster" : "namespace";
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

void RequestMetrics::Count(const ServerRequest& request, const Resource& resource, int status) {
  const std::string& subresource = request.target.subresource;
  const std::string labels = fmt::format(
      R"(code="{}",component="apiserver",dry_run="{}",group="{}",resource="{}",scope="{}",)"
      R"(subresource="{}",verb="{}",version="{}")",
      status, request.target.query.Get("dryRun") == "All" ? "All" : "", resource.group,
      resource.plural, ScopeLabel(request), resource.HasSubresource(subresource) ? subresource : "",
      VerbLabel(request), resource.version);
  ++(*counts_.Lock())[labels];
}

ServerResponse RequestMetrics::Report() {
  const std::map<std::string, std::uint64_t> counts = *counts_.Lock();
  std::string text = kHead;
  for (const auto& [labels, count] : counts) {
    text += fmt::format("apiserver_request_total{{{}}} {}\n", labels, count);
  }
  return {.body = std::move(text),
          .content_type = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"};
}

}  // namespace kopp::apiserver
