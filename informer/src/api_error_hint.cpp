#include "api_error_hint.hpp"

#include <algorithm>
#include <cstddef>

#include <kopp/informer/detail/resource_path.hpp>
#include <kopp/informer/detail/response_text.hpp>

namespace kopp::detail {
namespace {

constexpr std::size_t kMaxFields = 5;  // in the hint for an invalid object

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Returns the text between `before` and `after`, or "" if they do not occur in this order.
std::string_view Between(std::string_view text, std::string_view before, std::string_view after) {
  const auto start = text.find(before);
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start + before.size());
  const auto end = text.find(after);
  return end == std::string_view::npos ? std::string_view{} : text.substr(0, end);
}

// Returns the RBAC verbs that a request needs; `denied` is the verb of the server's message, or "".
// Informers need both verbs of LIST and WATCH, so that the next request does not fail for the other
// one. An apply that creates an object needs the verb create, too.
std::string VerbsOf(std::string_view method, std::string_view target, const ResourcePath& path,
                    std::string_view denied) {
  if (method == "LIST" || method == "WATCH") return "verbs list and watch";
  if (!denied.empty()) return "verb " + std::string(denied);
  if (method == "POST") return "verb create";
  if (method == "PUT") return "verb update";
  if (method == "PATCH") return "verb patch";
  if (method == "DELETE") return path.name.empty() ? "verb deletecollection" : "verb delete";
  if (Contains(target, "watch=true")) return "verb watch";
  return path.name.empty() ? "verb list" : "verb get";
}

// Returns "foos/status in API group samplecontroller.k8s.io".
std::string ResourceOf(const ResourcePath& path) {
  std::string text(path.resource);
  if (!path.subresource.empty()) text.append("/").append(path.subresource);
  if (path.group.empty()) return text + " in the core API group";
  return text.append(" in API group ").append(path.group);
}

std::string ForbiddenHint(std::string_view request, const Status& status) {
  // Quotas, admission and namespaces that are being deleted are 403, too. Their messages explain
  // themselves; a Role would not help.
  const bool by_authorization = status.message.empty() || Contains(status.message, "User \"");
  if (!by_authorization && status.reason.empty()) {
    return "an API server gives a reason: check whether a proxy or firewall rejected the request";
  }
  if (!by_authorization) return "";
  if (Contains(status.message, "User \"system:anonymous\"")) {
    return "the request had no valid credentials: set a user with credentials in the context of "
           "the kubeconfig";
  }
  const std::string_view denied = Between(status.message, "\" cannot ", " resource \"");
  if (denied == "impersonate") {
    return "grant verb impersonate on " +
           std::string(Between(status.message, " resource \"", "\"")) + " with a ClusterRole";
  }
  const std::size_t blank = request.find(' ');
  const std::string_view method = request.substr(0, blank);
  const std::string_view target = blank == std::string_view::npos ? "" : request.substr(blank + 1);
  const auto path = ParseResourcePath(target);
  if (!path) return "grant this request to the user of the program with a ClusterRole";
  const std::string grant =
      "grant " + VerbsOf(method, target, *path, denied) + " on " + ResourceOf(*path);
  if (path->ns.empty()) return grant + " with a ClusterRole";
  return grant + " with a Role in namespace " + std::string(path->ns);
}

std::string NotFoundHint(std::string_view request, const Status& status) {
  if (!status.details.name.empty()) return "";  // one object, which the message names
  const auto path = ParseResourcePath(request.substr(std::min(request.find('/'), request.size())));
  if (!path) return "check that the address of the server, with its path, is that of an API server";
  return "the API server does not serve " + ResourceOf(*path) + ", version " +
         std::string(path->version) +
         (IsBuiltInGroup(path->group)
              ? ": use a version that is served, and check that the address is that of an API "
                "server"
              : ": check that its CustomResourceDefinition is installed, or use a version that is "
                "served");
}

// A server or a proxy answers so to a request without TLS that arrives at its TLS port.
bool NeedsHttps(const Status& status) {
  return Contains(status.message, "HTTP request to an HTTPS server") ||
         Contains(status.message, "HTTP request was sent to HTTPS port");
}

std::string InternalErrorHint(const Status& status) {
  if (Contains(status.message, "failed calling webhook")) {
    return "check the service and the certificate of this webhook";
  }
  return "look for the cause in the log of the API server";
}

std::string ConflictHint(const Status& status) {
  const auto& causes = status.details.causes;
  const bool by_field_manager = std::any_of(
      causes.begin(), causes.end(),
      [](const Status::Cause& cause) { return cause.reason == "FieldManagerConflict"; });
  if (by_field_manager) {
    return "another field manager owns these fields: do not apply them, or take them over with "
           "force";
  }
  return "read the object again and repeat the change";
}

// Names the invalid fields, unless the message of the server does.
std::string InvalidHint(const Status& status) {
  std::string fields;
  std::size_t count = 0;
  for (const Status::Cause& cause : status.details.causes) {
    if (cause.field.empty() || Contains(status.message, cause.field)) continue;
    if (++count > kMaxFields) return "correct " + fields + " and more";
    fields += (fields.empty() ? "" : ", ") + cause.field + ": " + cause.message;
  }
  return fields.empty() ? "" : "correct " + fields;
}

}  // namespace

std::string ApiErrorHint(std::string_view request, const Status& status) {
  if (status.code == 400) return NeedsHttps(status) ? "write https:// in the address" : "";
  if (status.code != 401 && status.message.starts_with(kHtmlPage)) {
    return std::string("an API server sends JSON: ").append(kNotAnApiServer);
  }
  switch (status.code) {
    case 401:
      return "the credentials were rejected or have expired: renew them in the kubeconfig, or "
             "check the service account of the Pod";
    case 403:
      return ForbiddenHint(request, status);
    case 404:
      return NotFoundHint(request, status);
    case 407:
      return "set user and password in the URL of the proxy";
    case 409:
      return status.reason == "AlreadyExists" ? "" : ConflictHint(status);
    case 410:
      return "the resource version is too old: list again";
    case 413:
      return "the object is too large for the API server: move data to other objects";
    case 415:
      return "use a content type that the API server accepts; custom resources do not support "
             "strategic merge patches";
    case 422:
      return InvalidHint(status);
    case 429:
      // An eviction is rejected to protect the application, not the API server.
      if (Contains(request, "/eviction")) return "";
      return "the API server is overloaded or limits this client: send fewer requests, see "
             "--kube-api-qps";
    case 500:
      return InternalErrorHint(status);
    case 502:
    case 504:
      return "the API server, or a proxy in front of it, got no response in time: try again, and "
             "check both";
    case 503:
      return "the API server, or the aggregated API behind it, is starting, stopping or "
             "overloaded: try again later";
    default:
      return "";
  }
}

}  // namespace kopp::detail
