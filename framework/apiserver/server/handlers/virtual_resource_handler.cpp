#include "handlers/virtual_resource_handler.hpp"

#include "api/content_type.hpp"
#include "api/request.hpp"
#include "api/request_body.hpp"
#include "api/status.hpp"
#include "auth/authorizer.hpp"
#include "auth/token_authenticator.hpp"
#include "decoding/defaults.hpp"
#include "fieldmanager/managed_fields.hpp"
#include "handlers/object_changes.hpp"
#include "schema/accessors.hpp"
#include "storage/object_responses.hpp"

#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Validates the spec of a review. `is_self` omits the checks of the user.
void ValidateSpec(const json& spec, bool is_self, FieldErrors& errors) {
  const json& resource = Field(spec, "resourceAttributes");
  const json& non_resource = Field(spec, "nonResourceAttributes");
  if (!resource.is_null() && !non_resource.is_null()) {
    errors.push_back(InvalidValue(
        "spec.nonResourceAttributes",
        {{"Path", StringField(non_resource, "path")}, {"Verb", StringField(non_resource, "verb")}},
        "cannot be specified in combination with resourceAttributes"));
  }
  if (resource.is_null() && non_resource.is_null()) {
    errors.push_back(InvalidValue("spec.resourceAttributes", nullptr,
                                  "exactly one of nonResourceAttributes or resourceAttributes must "
                                  "be specified"));
  }
  if (!is_self && StringField(spec, "user").empty() && Field(spec, "groups").empty()) {
    errors.push_back(
        InvalidValue("spec.user", "", "at least one of user or group must be specified"));
  }
}

/// Validates what only a LocalSubjectAccessReview requires.
void ValidateLocalSpec(const json& spec, const std::string& ns, FieldErrors& errors) {
  const json& resource = Field(spec, "resourceAttributes");
  if (!resource.is_null() && StringField(resource, "namespace") != ns) {
    errors.push_back(InvalidValue("spec.resourceAttributes.namespace",
                                  StringField(resource, "namespace"),
                                  "must match metadata.namespace"));
  }
  const json& non_resource = Field(spec, "nonResourceAttributes");
  if (non_resource.is_null()) return;
  errors.push_back(InvalidValue(
      "spec.nonResourceAttributes",
      {{"Path", StringField(non_resource, "path")}, {"Verb", StringField(non_resource, "verb")}},
      "disallowed on this kind of request"));
}

/// Requires metadata without any field but the managedFields, which the server has set.
void ValidateEmptyMetadata(const json& metadata, FieldErrors& errors) {
  const std::size_t ignored = metadata.contains("managedFields") ? 1 : 0;
  if (metadata.size() == ignored) return;
  errors.push_back(InvalidValue("metadata", metadata, "must be empty"));
}

User UserOf(const json& spec) {
  User user{StringField(spec, "user"), StringListField(spec, "groups"), StringField(spec, "uid")};
  for (const auto& [key, value] : Field(spec, "extra").items()) {
    user.extra[key] = StringListField(Field(spec, "extra"), key);
  }
  return user;
}

AccessAttributes AttributesOfSpec(const json& spec) {
  const json& resource = Field(spec, "resourceAttributes");
  const json& non_resource = Field(spec, "nonResourceAttributes");
  if (resource.is_null()) {
    return {.verb = StringField(non_resource, "verb"),
            .is_resource = false,
            .path = StringField(non_resource, "path")};
  }
  return {.verb = StringField(resource, "verb"),
          .group = StringField(resource, "group"),
          .version = StringField(resource, "version"),
          .resource = StringField(resource, "resource"),
          .subresource = StringField(resource, "subresource"),
          .ns = StringField(resource, "namespace"),
          .name = StringField(resource, "name")};
}

}  // namespace

VirtualKindHandler VirtualResourceHandler::HandlerOf(const std::string& kind) const {
  if (kind == "TokenReview") return &ReviewToken;
  if (kind.ends_with("SubjectAccessReview")) return &ReviewAccess;
  const auto& others = context_.extensions().virtual_kinds;
  const auto found = others.find(kind);
  if (found == others.end()) throw std::logic_error("no handler creates the kind " + kind);
  return found->second;
}

ServerResponse VirtualResourceHandler::Create(const ServerRequest& request, const Resource& kind,
                                              Warnings& warnings) {
  CheckMediaType(request, kind);
  const WriteRequest write(request, kind);
  VirtualRequest virtual_request{context_, write,
                                 DecodeObject(request, kind, write.options, warnings)};
  CheckNamespaceMatchesUrl(write, virtual_request.object.at("metadata"));
  virtual_request.object.erase("status");
  virtual_request.object = Admit(write, std::move(virtual_request.object), warnings);
  json created = HandlerOf(kind.kind)(virtual_request);
  if (!created.is_null()) return {.status = 201, .body = ResponseObject(std::move(created), kind)};
  return {.status = 201,
          .body = json{{"kind", "Status"},
                       {"apiVersion", "v1"},
                       {"metadata", json::object()},
                       {"status", "Success"},
                       {"code", 201}}};
}

json VirtualResourceHandler::Admit(const WriteRequest& write, json object, Warnings& warnings) {
  const RequestInfo& target = write.target;
  const bool has_mutating = webhooks_.HasMutating(write.resource);
  const bool has_validating = webhooks_.HasValidating(write.resource);
  if (!has_mutating && !has_validating) return object;
  const std::string name = target.name.empty() ? StringAt(object, "/metadata/name") : target.name;
  ResourcePtr parent;
  if (!target.subresource.empty())
    parent = context_.catalog()->Find(target.group, target.version, target.plural);
  const auto attributes = AttributesOfWrite(write, name, nullptr, parent.get());
  if (has_mutating) object = webhooks_.Mutate(attributes, std::move(object), warnings);
  if (has_validating) webhooks_.Validate(attributes, object, warnings);
  return object;
}

json WithManagedFields(const VirtualRequest& request) {
  const Schema& schema = *request.write.resource.schema;
  return UpdateManagedFields(ZeroObject(schema), request.object, schema,
                             FieldManagerOf(request.write, request.context.Now()));
}

json ReviewAccess(const VirtualRequest& params) {
  json object = WithManagedFields(params);
  const json& spec = object["spec"];
  const Resource& kind = params.write.resource;
  const bool is_self = kind.kind == "SelfSubjectAccessReview";
  const bool is_local = kind.namespaced;
  FieldErrors errors;
  ValidateSpec(spec, is_self, errors);
  if (is_local) {
    if (errors.empty()) ValidateLocalSpec(spec, params.write.target.ns, errors);
  } else {
    ValidateEmptyMetadata(object["metadata"], errors);
  }
  Resource named;  // kube-apiserver omits the kind in these errors
  named.group = kind.group;
  if (!errors.empty()) throw Invalid(named, "", errors);
  const User user = is_self ? params.write.user : UserOf(spec);
  const AccessDecision decision = Authorize(params.context, user, AttributesOfSpec(spec));
  json status{{"allowed", decision.allowed}};
  if (!decision.reason.empty()) status["reason"] = decision.reason;
  object["status"] = std::move(status);
  if (is_local) object["metadata"]["namespace"] = params.write.target.ns;
  return object;
}

json ReviewToken(const VirtualRequest& request) {
  json object = WithManagedFields(request);
  const std::string token = StringAt(object, "/spec/token");
  if (token.empty()) throw BadRequest("token is required for TokenReview in authentication");
  const TokenAuthentication result =
      AuthenticateToken(request.context, token, StringListField(object["spec"], "audiences"));
  json status{{"user", json::object()}};
  if (result.user) {
    status = {{"authenticated", true},
              {"user", UserToJson(*result.user)},
              {"audiences", result.audiences}};
  } else {
    status["error"] = result.error;
  }
  object["status"] = std::move(status);
  return object;
}

}  // namespace kopp::apiserver
