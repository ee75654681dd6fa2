#include "admission/admission_attributes.hpp"

#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

json OptionsOf(const char* kind, bool dry_run) {
  json options{{"kind", kind}, {"apiVersion", "meta.k8s.io/v1"}};
  if (dry_run) options["dryRun"] = {"All"};
  return options;
}

}  // namespace

AdmissionAttributes AttributesOfWrite(const WriteRequest& write, const std::string& name,
                                      const json* live, const Resource* parent) {
  const bool is_create = live == nullptr;
  json options = OptionsOf(is_create ? "CreateOptions" : "UpdateOptions", write.options.dry_run);
  for (const char* parameter : {"fieldManager", "fieldValidation"}) {
    if (const std::string value = write.target.query.Get(parameter); !value.empty()) {
      options[parameter] = value;
    }
  }
  return {.resource = parent == nullptr ? write.resource : *parent,
          .target = write.target,
          .user = write.user,
          .deadline = write.webhook_deadline,
          .operation = is_create ? "CREATE" : "UPDATE",
          .name = name,
          .live = live,
          .options = std::move(options),
          .dry_run = write.options.dry_run,
          .subresource_kind = parent == nullptr ? nullptr : &write.resource};
}

AdmissionAttributes AttributesOfDeletion(const ServerRequest& request, const Resource& resource,
                                         const DeleteOptions& deletion, const json& live,
                                         std::optional<TimePoint>& deadline) {
  json options = OptionsOf("DeleteOptions", deletion.dry_run);
  if (!deletion.propagation.empty()) options["propagationPolicy"] = deletion.propagation;
  for (const auto& [field, value] : {std::pair{"uid", &deletion.uid},
                                     std::pair{"resourceVersion", &deletion.resource_version}}) {
    if (!value->empty()) options["preconditions"][field] = *value;
  }
  if (deletion.grace_period) options["gracePeriodSeconds"] = *deletion.grace_period;
  return {.resource = resource,
          .target = request.target,
          .user = request.user,
          .deadline = deadline,
          .operation = "DELETE",
          .name = request.target.name,
          .live = &live,
          .options = std::move(options),
          .dry_run = deletion.dry_run};
}

}  // namespace kopp::apiserver
