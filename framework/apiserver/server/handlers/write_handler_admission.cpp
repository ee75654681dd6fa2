// The calls of webhooks.
#include "admission/admission_attributes.hpp"
#include "handlers/object_changes.hpp"
#include "handlers/scale.hpp"
#include "handlers/write_handler.hpp"
#include "schema/accessors.hpp"
#include "storage/object_responses.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// The time for all webhooks of the deletion of a collection: the default of kube-apiserver's
/// --request-timeout. Other writes have the limit of AdmissionWebhooks.
constexpr Duration kCollectionTimeLimit = std::chrono::seconds(60);

/// Returns the attributes of an update of a Scale.
AdmissionAttributes AttributesOfScale(const WriteRequest& write, const json& live_scale) {
  AdmissionAttributes attributes = AttributesOfWrite(write, write.target.name, &live_scale);
  attributes.subresource_kind = &ScaleKind();
  return attributes;
}

}  // namespace

bool WriteHandler::MutateNewObject(const WriteRequest& write, json& object, Warnings& warnings,
                                   WriteKind kind) {
  const Resource& resource = write.resource;
  const KindStrategy& strategy = StrategyOf(resource);
  if (webhooks_ == nullptr || !webhooks_->HasMutating(resource)) return false;
  const std::string name = StringField(object.at("metadata"), "name");
  const AdmissionAttributes attributes = AttributesOfWrite(write, name, nullptr);
  if (!webhooks_->Mutates(attributes, object)) return false;
  if (strategy.apply_defaults) strategy.apply_defaults(object);
  if (strategy.has_managed_fields && kind != WriteKind::kApply) {
    SetFirstManager(object, *resource.schema, FieldManagerOf(write, context_.Now()));
  }
  object = webhooks_->Mutate(attributes, std::move(object), warnings);
  CheckNamespaceMatchesUrl(write, object.at("metadata"));
  return true;
}

bool WriteHandler::MutateUpdate(const UpdateParams& params, const json& live, json& object,
                                Warnings& warnings) {
  const WriteRequest& write = params.write;
  const Resource& resource = write.resource;
  const std::string& subresource = write.target.subresource;
  if (webhooks_ == nullptr || !webhooks_->HasMutating(resource)) return false;
  if (subresource == "scale") return false;  // see MutateScale
  const auto attributes = AttributesOfWrite(write, write.target.name, &live);
  if (!webhooks_->Mutates(attributes, object)) return false;
  const KindStrategy& strategy = StrategyOf(resource);
  if (strategy.apply_defaults) strategy.apply_defaults(object);
  if (strategy.has_managed_fields && params.kind != WriteKind::kApply) {
    json sent = object;
    PreserveFields(resource, subresource, live, sent);
    sent = UpdateManagedFields(live, std::move(sent), *resource.schema,
                               FieldManagerOf(write, context_.Now()));
    object["metadata"].erase("managedFields");
    if (const json& managers = Field(sent.at("metadata"), "managedFields"); !managers.is_null()) {
      object["metadata"]["managedFields"] = managers;
    }
  }
  object = webhooks_->Mutate(attributes, std::move(object), warnings);
  CheckNamespaceMatchesUrl(write, object.at("metadata"));
  return true;
}

json WriteHandler::MutateScale(const WriteRequest& write, const json& live, json scale,
                               Warnings& warnings) {
  if (webhooks_ == nullptr || !webhooks_->HasMutating(write.resource)) return scale;
  const json live_scale = ScaleOf(write.resource, live);
  return webhooks_->Mutate(AttributesOfScale(write, live_scale), std::move(scale), warnings);
}

void WriteHandler::ReviewUpdate(const WriteRequest& write, const json& live, const json& object,
                                Warnings& warnings) {
  if (webhooks_ == nullptr || !webhooks_->HasValidating(write.resource)) return;
  if (write.target.subresource == "scale") {
    const json scale = ScaleOf(write.resource, object);
    const json live_scale = ScaleOf(write.resource, live);
    return webhooks_->Validate(AttributesOfScale(write, live_scale), scale, warnings);
  }
  webhooks_->Validate(AttributesOfWrite(write, write.target.name, &live), object, warnings);
}

GarbageCollector::Review WriteHandler::DeletionReview(const ServerRequest& request,
                                                      const Resource& resource,
                                                      const DeleteOptions& options,
                                                      Warnings& warnings) {
  if (webhooks_ == nullptr) return {};
  const bool has_mutating = webhooks_->HasMutating(resource);
  const bool has_validating = webhooks_->HasValidating(resource);
  if (!has_mutating && !has_validating) return {};
  std::optional<TimePoint> deadline;
  if (request.target.name.empty()) deadline = context_.clock().Now() + kCollectionTimeLimit;
  return [&, has_mutating, has_validating, deadline](const StoredObject& stored) mutable {
    const json live = ParseStoredObject(stored.text, resource);
    const auto attributes = AttributesOfDeletion(request, resource, options, live, deadline);
    if (has_mutating) static_cast<void>(webhooks_->Mutate(attributes, nullptr, warnings));
    if (has_validating) webhooks_->Validate(attributes, nullptr, warnings);
  };
}

}  // namespace kopp::apiserver
