// PriorityClasses, RuntimeClasses and APIServices.
#include "kinds/cluster_validation.hpp"

#include "json/base64.hpp"
#include "schema/field_validation.hpp"
#include "storage/server_context.hpp"
#include "strategy/kind_strategy.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

bool IsSystemPriority(const std::string& name) {
  return name == "system-cluster-critical" || name == "system-node-critical";
}

void ValidatePriorityClass(const json& object, FieldErrors& errors) {
  constexpr int kMaxUserPriority = 1'000'000'000;
  const FieldRef priority(object);
  const FieldRef name = priority["metadata"]["name"];
  if (IsSystemPriority(name.text())) return;
  if (name.text().starts_with("system-")) {
    errors.push_back(ForbiddenField(
        name.path(),
        "priority class names with 'system-' prefix are reserved for system use only. error: " +
            name.text() + " is not a known system priority class"));
  } else if (priority["value"].number() > kMaxUserPriority) {
    errors.push_back(
        ForbiddenField("value", "maximum allowed value of a user defined priority is 1000000000"));
  }
  ValidateEnum(priority["preemptionPolicy"], {"PreemptLowerPriority", "Never"}, errors);
}

void ValidatePriorityClassUpdate(const json& before, const json& after, FieldErrors& errors) {
  const FieldRef old_class(before);
  const FieldRef new_class(after);
  if (!old_class["value"].is(new_class["value"].value())) {
    errors.push_back(ForbiddenField("value", "may not be changed in an update."));
  }
  ValidateImmutableJson(old_class["preemptionPolicy"], new_class["preemptionPolicy"], errors);
}

/// Sets the generation, which no update increments.
void AssignPriorityClassFields(ServerContext&, const json& before, json& priority) {
  if (before.is_null()) priority["metadata"]["generation"] = 1;
}

void ValidateRuntimeClass(const json& object, FieldErrors& errors) {
  const FieldRef runtime(object);
  ValidateName(runtime["handler"], &ValidateDnsLabel, errors);
  ValidateLabels(runtime["scheduling"]["nodeSelector"], errors);
}

void ValidateRuntimeClassUpdate(const json& before, const json& after, FieldErrors& errors) {
  ValidateImmutable(FieldRef(before)["handler"], FieldRef(after)["handler"], errors);
}

void ValidateApiServicePriority(const FieldRef& priority, int max, FieldErrors& errors) {
  if (priority.number() >= 1 && priority.number() <= max) return;
  errors.push_back(InvalidValue(priority.path(), priority.value(),
                                "must be positive and less than " + std::to_string(max)));
}

/// Validates the fields that say how to reach the server of an APIService.
void ValidateApiServiceBackend(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef service = spec["service"];
  const FieldRef bundle = spec["caBundle"];
  const FieldRef insecure = spec["insecureSkipTLSVerify"];
  if (!service.exists()) {
    if (bundle.exists()) {
      const std::string size = std::to_string(Base64Decode(bundle.text()).size()) + " bytes";
      errors.push_back(
          InvalidValue(bundle.path(), size, "local APIServices may not have a caBundle"));
    }
    if (insecure.is(true)) {
      errors.push_back(InvalidValue(insecure.path(), true,
                                    "local APIServices may not have insecureSkipTLSVerify"));
    }
    return;
  }
  ValidateRequired(service["namespace"], errors);
  ValidateRequired(service["name"], errors);
  const FieldRef port = service["port"];
  if (port.number() < 1 || port.number() > 65535) {
    errors.push_back(InvalidValue(port.path(), port.value(),
                                  "port is not valid: must be between 1 and 65535, inclusive"));
  }
  if (insecure.is(true) && bundle.exists()) {
    errors.push_back(InvalidValue(insecure.path(), true, "may not be true if caBundle is present"));
  }
}

void ValidateApiService(const json& object, FieldErrors& errors) {
  constexpr int kMaxGroupPriority = 20000;
  constexpr int kMaxVersionPriority = 1000;
  const FieldRef name = FieldRef(object)["metadata"]["name"];
  const FieldRef spec = FieldRef(object)["spec"];
  const std::string group = spec["group"].text();
  const std::string version = spec["version"].text();
  const std::string required_name = version + '.' + group;
  if (!name.is(required_name)) {
    errors.push_back(
        InvalidValue(name.path(), name.value(),
                     R"(must be `spec.version+"."+spec.group`: )" + json(required_name).dump()));
  }
  if (!group.empty()) {
    ValidateName(spec["group"], &ValidateDnsSubdomain, errors);
  } else if (version != "v1") {
    errors.push_back(Required(spec["group"].path(),
                              "only v1 may have an empty group and it better be legacy kube"));
  }
  ValidateName(spec["version"], &ValidateDns1035Label, errors);
  ValidateApiServicePriority(spec["groupPriorityMinimum"], kMaxGroupPriority, errors);
  ValidateApiServicePriority(spec["versionPriority"], kMaxVersionPriority, errors);
  ValidateApiServiceBackend(spec, errors);
}

void ValidateApiServiceStatus(const json& object, FieldErrors& errors) {
  for (const FieldRef& condition : FieldRef(object)["status"]["conditions"].items()) {
    ValidateEnum(condition["status"], {"True", "False", "Unknown"}, errors);
  }
}

/// Marks a new APIService without a Service as available: the API server itself serves it.
void AssignApiServiceFields(ServerContext& context, const json& before, json& service) {
  if (!before.is_null() || service["spec"].contains("service")) return;
  service["status"]["conditions"] = {{{"type", "Available"},
                                      {"status", "True"},
                                      {"lastTransitionTime", context.Now()},
                                      {"reason", "Local"},
                                      {"message", "Local APIServices are always available"}}};
}

std::optional<std::string> PriorityClassDeletionError(std::string_view name) {
  return name.starts_with("system-")
             ? NameError("this is a system priority class and cannot be deleted")
             : std::nullopt;
}

}  // namespace

void AddClusterStrategies(StrategiesByKind& strategies) {
  KindStrategy& priorities = strategies["priorityclasses.scheduling.k8s.io"];
  priorities.assign_fields = &AssignPriorityClassFields;
  priorities.deletion_error = &PriorityClassDeletionError;
  priorities.validate = &ValidatePriorityClass;
  priorities.validate_update = &ValidatePriorityClassUpdate;
  priorities.update_validation = KindStrategy::UpdateValidation::kChange;
  KindStrategy& runtimes = strategies["runtimeclasses.node.k8s.io"];
  runtimes.finalizer_domain = KindStrategy::FinalizerDomain::kOptional;
  runtimes.allows_create_on_update = true;
  runtimes.allows_unconditional_update = false;
  runtimes.validate = &ValidateRuntimeClass;
  runtimes.validate_update = &ValidateRuntimeClassUpdate;
  KindStrategy& services = strategies["apiservices.apiregistration.k8s.io"];
  services.finalizer_domain = KindStrategy::FinalizerDomain::kOptional;
  services.allows_unconditional_update = false;
  services.status_metadata = KindStrategy::StatusMetadata::kNone;
  services.assign_fields = &AssignApiServiceFields;
  services.validate = &ValidateApiService;
  services.validate_status = &ValidateApiServiceStatus;
}

}  // namespace kopp::apiserver
