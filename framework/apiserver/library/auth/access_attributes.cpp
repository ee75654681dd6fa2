#include "auth/access_attributes.hpp"

#include "json/schema_names.hpp"
#include "schema/consume_until.hpp"

#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

/// Returns the name that a field selector such as "metadata.name=a" selects, or "".
std::string SelectedName(const std::string& field_selector) {
  std::string_view rest = field_selector;
  while (!rest.empty()) {
    std::string_view term = ConsumeUntil(rest, ',');
    if (ConsumeUntil(term, '=') != "metadata.name") continue;
    if (term.starts_with('=')) term.remove_prefix(1);
    return std::string(term);
  }
  return "";
}

std::string DeniedMessage(const User& user, const AccessAttributes& attributes) {
  if (!attributes.is_resource) {
    return fmt::format(R"(User "{}" cannot {} path "{}")", user.name, attributes.verb,
                       attributes.path);
  }
  const std::string resource =
      attributes.resource + (attributes.subresource.empty() ? "" : '/' + attributes.subresource);
  const std::string scope = attributes.ns.empty()
                                ? "at the cluster scope"
                                : fmt::format(R"(in the namespace "{}")", attributes.ns);
  return fmt::format(R"(User "{}" cannot {} resource "{}" in API group "{}" {})", user.name,
                     attributes.verb, resource, attributes.group, scope);
}

}  // namespace

AccessAttributes AttributesOf(const ServerRequest& request) {
  const RequestInfo& target = request.target;
  AccessAttributes attributes{.verb = VerbOf(request), .is_resource = target.is_resource};
  if (!target.is_resource) {
    attributes.path = target.path;
    return attributes;
  }
  attributes.group = target.group;
  attributes.version = target.version;
  attributes.resource = target.plural;
  attributes.subresource = target.subresource;
  const bool may_select = attributes.verb == "list" || attributes.verb == "watch";
  attributes.name = may_select && target.name.empty()
                        ? SelectedName(target.query.Get("fieldSelector"))
                        : target.name;
  const bool is_namespace = target.group.empty() && target.plural == "namespaces";
  attributes.ns = is_namespace ? target.name : target.ns;
  return attributes;
}

StatusError AccessDenied(const User& user, const AccessAttributes& attributes,
                         const std::string& reason) {
  std::string message = DeniedMessage(user, attributes);
  if (!reason.empty()) message += ": " + reason;
  if (!attributes.is_resource) {
    return {403, "Forbidden", "forbidden: " + message, nlohmann::json::object()};
  }
  Resource resource;
  resource.group = attributes.group;
  resource.plural = attributes.resource;
  if (!attributes.name.empty()) return Forbidden(resource, attributes.name, message);
  nlohmann::json details{{"kind", resource.plural}};
  if (!resource.group.empty()) details["group"] = resource.group;
  return {403, "Forbidden", resource.group_resource() + " is forbidden: " + message,
          std::move(details)};
}

}  // namespace kopp::apiserver
