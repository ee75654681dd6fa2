#include "preflight.hpp"

#include "client/response_check.hpp"
#include "client/served_kinds.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <ostream>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/discovery.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer/detail/retry_after.hpp>
#include <kopp/informer/fields.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr Kind kReview{"authorization.k8s.io/v1", "SelfSubjectAccessReview",
                       "selfsubjectaccessreviews", Scope::kCluster};
// More than the whole seconds of a Date header and a slow response explain.
constexpr std::chrono::seconds kMaxSkew = 5s;

/// Prints the results and counts the problems.
class Report {
 public:
  explicit Report(std::ostream& out) : out_(out) {}

  void Info(const std::string& text) { out_ << "        " << text << "\n"; }
  void Warning(const std::string& text) { out_ << "WARNING " << text << "\n"; }
  void Result(bool ok, const std::string& text) {
    out_ << (ok ? "ok      " : "FAILED  ") << text << "\n";
    if (!ok) ++problems_;
  }
  int Finish() {
    if (problems_ == 0) {
      out_ << "No problems were found.\n";
    } else {
      out_ << problems_ << (problems_ == 1 ? " problem was found.\n" : " problems were found.\n");
    }
    return problems_;
  }

 private:
  std::ostream& out_;
  int problems_ = 0;
};

/// Returns the version in the response to GET /version. Throws DecodeError if there is none.
std::string VersionIn(const std::string& body) {
  detail::RequireJsonObject("GET", "/version", body);
  const json version = detail::ParseJson(body);
  const auto text = version.find("gitVersion");
  if (text == version.end() || !text->is_string()) {
    throw detail::NotFromApiServer("GET /version", "it has no gitVersion");
  }
  return text->get<std::string>();
}

/// Returns the response to GET /version, or reports why there is none.
std::optional<ApiResponse> ReadVersion(Transport& transport, const std::stop_token& stop,
                                       Report& report) {
  try {
    ApiResponse response = transport.Call({.target = "/version"}, stop);
    if (response.status >= 300) {
      throw ApiError::FromBody("GET /version", response.status, response.body);
    }
    report.Result(true, "server version " + VersionIn(response.body));
    return response;
  } catch (const std::exception& error) {
    report.Result(false, error.what());
    return std::nullopt;
  }
}

void CheckClock(const std::string& date, Clock& clock, Report& report) {
  const auto server_time = ParseHttpDate(date);
  if (!server_time) return report.Info("clock: the server sends no valid Date header");
  const auto skew =
      std::chrono::duration_cast<std::chrono::seconds>(clock.WallNow() - *server_time);
  const bool ok = skew <= kMaxSkew && skew >= -kMaxSkew;
  const std::string seconds = std::to_string(skew < 0s ? -skew.count() : skew.count()) + " s ";
  report.Result(ok, ok ? "the clock agrees with that of the server"
                       : "the clock is " + seconds + (skew > 0s ? "ahead of" : "behind") +
                             " that of the server: check the time synchronization of both");
}

/// Returns {"foos", "status"} for "foos/status", and {"foos", ""} for "foos".
std::pair<std::string, std::string> SplitResource(const Permission& permission) {
  const auto slash = permission.resource.find('/');
  if (slash == std::string::npos) return {permission.resource, ""};
  return {permission.resource.substr(0, slash), permission.resource.substr(slash + 1)};
}

void CheckKinds(const std::vector<OwningKind>& kinds, const std::vector<Permission>& permissions,
                const DiscoveryClient& discovery, Report& report) {
  detail::ServedKinds served(discovery);
  for (const OwningKind& kind : kinds) {
    const std::string difference = served.FindDifference(kind);
    report.Result(difference.empty(),
                  "the server " + (difference.empty() ? "serves " + kind.ToString() : difference));
    for (const Permission& permission : permissions) {
      const auto [resource, subresource] = SplitResource(permission);
      if (permission.group != kind.group() || resource != kind.plural) continue;
      if (subresource != "status" && subresource != "scale") continue;  // others may be virtual
      const std::string missing = served.FindMissingSubresource(kind, subresource);
      if (!missing.empty()) report.Result(false, "the server " + missing);
    }
  }
}

json ReviewOf(const Permission& permission, const std::string& verb, const std::string& ns,
              const std::string& name) {
  const auto [resource, subresource] = SplitResource(permission);
  json attributes{{"verb", verb},
                  {"group", permission.group},
                  {"resource", resource},
                  {"namespace", ns},
                  {"name", name}};
  if (!subresource.empty()) attributes["subresource"] = subresource;
  return {{"spec", {{"resourceAttributes", attributes}}}};
}

/// Describes a request: `patch foos/status.samplecontroller.k8s.io in namespace "web"`.
std::string Describe(const Permission& permission, const std::string& verb, const std::string& ns,
                     const std::string& name) {
  std::string text = verb + " " + permission.resource;
  if (!permission.group.empty()) text += "." + permission.group;
  if (!name.empty()) text += " \"" + name + "\"";
  if (permission.cluster_scoped) return text;
  return text + (ns.empty() ? " in all namespaces" : " in namespace \"" + ns + "\"");
}

/// The answer to a SelfSubjectAccessReview.
struct Review {
  struct ReviewStatus {
    std::optional<bool> allowed;
    std::string reason;
    std::string evaluationError;
  };
  ReviewStatus status;
};
KOPP_FIELDS(Review::ReviewStatus, allowed, reason, evaluationError)
KOPP_FIELDS(Review, status)

/// Returns the reasons of the server for a denial: ": REASON; EVALUATION ERROR".
std::string ReasonsOf(const Review::ReviewStatus& status) {
  const auto& [allowed, reason, error] = status;
  if (reason.empty() && error.empty()) return {};
  return ": " + reason + (reason.empty() || error.empty() ? "" : "; ") + error;
}

/// Asks the server whether the program may send a request. Throws DecodeError if it does not say.
Review::ReviewStatus SendReview(const Client& client, const json& review) {
  std::string problem = "it has no status.allowed";
  const Unstructured response = client.Dynamic(kReview).Create(review);
  try {
    auto status = response.As<Review>().status;
    if (status.allowed) return status;
  } catch (const DecodeError& error) {
    problem = error.what();
  }
  throw detail::NotFromApiServer("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                                 problem);
}

void CheckPermission(const Permission& permission, const std::vector<std::string>& namespaces,
                     const Client& client, Report& report) {
  std::vector<std::string> where = namespaces;
  if (!permission.ns.empty()) where = {permission.ns};
  if (permission.cluster_scoped || where.empty()) where = {""};
  const std::vector<std::string> names =
      permission.names.empty() ? std::vector<std::string>{""} : permission.names;
  for (const std::string& ns : where) {
    for (const std::string& name : names) {
      for (const std::string& verb : permission.verbs) {
        const auto status = SendReview(client, ReviewOf(permission, verb, ns, name));
        const std::string request = Describe(permission, verb, ns, name);
        report.Result(*status.allowed, *status.allowed ? "may " + request
                                                       : "may not " + request + ReasonsOf(status));
      }
    }
  }
}

}  // namespace

int Preflight(const PreflightInput& input, Transport& transport, std::ostream& out,
              const std::stop_token& stop) {
  Report report(out);
  if (!input.server.empty()) {
    report.Info("API server " + input.server);
  }
  if (input.problem) report.Result(false, *input.problem);
  for (const std::string& text : input.warnings) report.Warning(text);
  const auto version = ReadVersion(transport, stop, report);
  if (!version) return report.Finish();
  CheckClock(version->date, input.clock, report);
  try {
    CheckKinds(input.kinds, input.permissions, DiscoveryClient(transport, stop), report);
    const Client client(transport, "", stop);
    for (const Permission& permission : Merge(input.permissions)) {
      CheckPermission(permission, input.namespaces, client, report);
    }
    if (input.find_problems) {
      for (const std::string& text : input.find_problems(client)) report.Result(false, text);
    }
  } catch (const std::exception& error) {
    report.Result(false, error.what());
  }
  return report.Finish();
}

}  // namespace kopp
