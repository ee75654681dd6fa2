#include "schema/metadata_validation.hpp"

#include "base/ascii.hpp"
#include "schema/accessors.hpp"
#include "schema/finalizers.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

namespace kopp::schema {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxAnnotations = 256 << 10;

void ValidateMetadataLabels(const json& labels, FieldErrors& errors) {
  for (const auto& [name, value] : labels.items()) {
    for (const std::string& detail : ValidateQualifiedName(name)) {
      errors.push_back(InvalidValue("metadata.labels", name, detail));
    }
    if (const NameError detail = ValidateLabelValue(value.get<std::string>())) {
      errors.push_back(InvalidValue("metadata.labels", value, *detail));
    }
  }
}

void ValidateAnnotations(const json& annotations, FieldErrors& errors) {
  std::size_t size = 0;
  for (const auto& [name, value] : annotations.items()) {
    size += name.size() + value.get_ref<const std::string&>().size();
    for (const std::string& detail : ValidateQualifiedName(detail::ToLowerAscii(name))) {
      errors.push_back(InvalidValue("metadata.annotations", name, detail));
    }
  }
  if (size > kMaxAnnotations) errors.push_back(TooLong("metadata.annotations", kMaxAnnotations));
}

/// Formats an OwnerReference as Go does: fields in the order of the type.
nlohmann::ordered_json FormatOwnerReference(const json& owner) {
  nlohmann::ordered_json formatted;
  for (const char* name : {"apiVersion", "kind", "name", "uid"})
    formatted[name] = StringField(owner, name);
  for (const char* name : {"controller", "blockOwnerDeletion"}) {
    if (owner.contains(name)) formatted[name] = owner[name];
  }
  return formatted;
}

/// Returns whether `api_version` has the form "VERSION" or "GROUP/VERSION".
bool HasVersion(const std::string& api_version) {
  return !api_version.empty() && !api_version.ends_with('/') &&
         std::count(api_version.begin(), api_version.end(), '/') <= 1;
}

FieldError InvalidOwnerReference(const std::string& formatted, const std::string& detail) {
  return {"FieldValueInvalid", "Invalid value: " + formatted + ": " + detail,
          "metadata.ownerReferences"};
}

void ValidateOwnerReferences(const json& owners, FieldErrors& errors) {
  std::string controller;
  for (const json& owner : owners) {
    const std::string version = StringField(owner, "apiVersion");
    const std::string kind = StringField(owner, "kind");
    const std::string name = StringField(owner, "name");
    const std::string field = "metadata.ownerReferences.";
    if (!HasVersion(version)) {
      errors.push_back(InvalidValue(field + "apiVersion", version, "version must not be empty"));
    }
    if (kind.empty()) errors.push_back(InvalidValue(field + "kind", kind, "must not be empty"));
    if (name.empty()) errors.push_back(InvalidValue(field + "name", name, "must not be empty"));
    if (StringField(owner, "uid").empty()) {
      errors.push_back(InvalidValue(field + "uid", "", "must not be empty"));
    }
    if (version == "v1" && kind == "Event") {
      errors.push_back(InvalidOwnerReference(FormatOwnerReference(owner).dump(),
                                             "/v1, Kind=Event is disallowed from being an owner"));
    }
    if (Field(owner, "controller") != true) continue;
    if (!controller.empty()) {
      nlohmann::ordered_json all = nlohmann::ordered_json::array();
      for (const json& reference : owners) all.push_back(FormatOwnerReference(reference));
      errors.push_back(InvalidOwnerReference(
          all.dump(),
          "Only one reference can have Controller set to true. Found \"true\" in "
          "references for " +
              controller + " and " + kind + '/' + name));
    }
    controller = kind + '/' + name;
  }
}

void ValidateFinalizers(const json& object, FieldErrors& errors) {
  const std::vector<std::string> finalizers = FinalizersOf(object);
  bool has_orphan = false;
  bool has_foreground = false;
  for (const std::string& name : finalizers) {
    has_orphan |= name == kOrphanFinalizer;
    has_foreground |= name == kForegroundFinalizer;
    for (const std::string& detail : ValidateQualifiedName(name)) {
      errors.push_back(InvalidValue("metadata.finalizers", name, detail));
    }
  }
  if (has_orphan && has_foreground) {
    errors.push_back(InvalidValue("metadata.finalizers", finalizers,
                                  "finalizer orphan and foregroundDeletion cannot be both set"));
  }
}

void ValidateObjectMeta(const json& object, FieldErrors& errors) {
  const json& metadata = Field(object, "metadata");
  ValidateMetadataLabels(Field(metadata, "labels"), errors);
  ValidateAnnotations(Field(metadata, "annotations"), errors);
  ValidateOwnerReferences(Field(metadata, "ownerReferences"), errors);
  ValidateFinalizers(object, errors);
}

void ValidateNoNewFinalizers(const json& before, const json& after, FieldErrors& errors) {
  if (!Field(before, "metadata").contains("deletionTimestamp")) return;
  const std::vector<std::string> old_finalizers = FinalizersOf(before);
  std::string added;
  for (const std::string& name : FinalizersOf(after)) {
    if (std::find(old_finalizers.begin(), old_finalizers.end(), name) != old_finalizers.end())
      continue;
    added += (added.empty() ? "\"" : ", \"") + name + '"';
  }
  if (added.empty()) return;
  errors.push_back(ForbiddenField("metadata.finalizers",
                                  "no new finalizers can be added if the object is being deleted, "
                                  "found new finalizers []string{" +
                                      added + '}'));
}

/// Requires that the start of a name can be a part of a path, for objects of all kinds.
void ValidatePathPrefix(const std::string& prefix, FieldErrors& errors) {
  for (const char c : {'/', '%'}) {
    if (prefix.find(c) == std::string::npos) continue;
    errors.push_back(
        InvalidValue("metadata.generateName", prefix, std::string("may not contain '") + c + '\''));
  }
}

}  // namespace

FieldErrors ValidateMetadata(const json& object,
                             const std::function<NameError(std::string_view)>& validate_name) {
  FieldErrors errors;
  const json& metadata = Field(object, "metadata");
  ValidateGenerateName(object, validate_name, errors);
  const std::string name = StringField(metadata, "name");
  if (name.empty()) {
    errors.push_back(Required("metadata.name", "name or generateName is required"));
  } else if (const NameError detail = validate_name(name)) {
    errors.push_back(InvalidValue("metadata.name", name, *detail));
  }
  ValidateObjectMeta(object, errors);
  return errors;
}

void ValidateGenerateName(const json& object,
                          const std::function<NameError(std::string_view)>& validate_name,
                          FieldErrors& errors) {
  const std::string prefix = StringField(Field(object, "metadata"), "generateName");
  if (prefix.empty()) return;
  // It may end with a dash: a suffix follows.
  const bool has_dash = prefix.size() > 1 && prefix.ends_with('-');
  const std::string name = has_dash ? prefix.substr(0, prefix.size() - 2) + 'a' : prefix;
  if (const NameError detail = validate_name(name))
    errors.push_back(InvalidValue("metadata.generateName", prefix, *detail));
}

FieldErrors ValidateMetadataUpdate(const json& before, const json& after) {
  FieldErrors errors;
  ValidatePathPrefix(StringField(Field(after, "metadata"), "generateName"), errors);
  ValidateObjectMeta(after, errors);
  const json& old_metadata = Field(before, "metadata");
  const json& new_metadata = Field(after, "metadata");
  ValidateNoNewFinalizers(before, after, errors);
  for (const char* field : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                            "deletionGracePeriodSeconds"}) {
    if (Field(old_metadata, field) == Field(new_metadata, field)) continue;
    errors.push_back(InvalidValue(std::string("metadata.") + field, Field(new_metadata, field),
                                  "field is immutable"));
  }
  return errors;
}

std::string DedupOwnerReferences(json& object) {
  auto& metadata = object["metadata"];
  const auto owners = metadata.find("ownerReferences");
  if (owners == metadata.end()) return "";
  std::set<json> seen;
  std::set<std::string> duplicate_uids;
  json unique_owners = json::array();
  for (const json& owner : *owners) {
    if (seen.insert(owner).second) {
      unique_owners.push_back(owner);
    } else {
      duplicate_uids.insert(StringField(owner, "uid"));
    }
  }
  if (duplicate_uids.empty()) return "";
  *owners = std::move(unique_owners);
  std::string uids;
  for (const std::string& uid : duplicate_uids) uids += (uids.empty() ? "" : ", ") + uid;
  return ".metadata.ownerReferences contains duplicate entries; API server dedups owner references "
         "in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "
         "duplicate UID(s) observed: " +
         uids;
}

}  // namespace kopp::schema
