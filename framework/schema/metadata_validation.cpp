#include "schema/metadata_validation.hpp"

#include "base/ascii.hpp"
#include "schema/accessors.hpp"
#include "schema/field_validation.hpp"
#include "schema/finalizers.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

namespace kopp::schema {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxAnnotations = 256 << 10;

void ValidateAnnotations(const FieldRef& annotations, FieldErrors& errors) {
  std::size_t size = 0;
  for (const std::string& name : annotations.keys()) {
    size += name.size() + annotations[name].text().size();
    for (const std::string& detail : ValidateQualifiedName(detail::ToLowerAscii(name))) {
      errors.push_back(InvalidValue(annotations.path(), name, detail));
    }
  }
  if (size > kMaxAnnotations) errors.push_back(TooLong(annotations.path(), kMaxAnnotations));
}

/// Formats an OwnerReference as Go does: fields in the order of the type.
nlohmann::ordered_json FormatOwnerReference(const FieldRef& owner) {
  nlohmann::ordered_json formatted;
  for (const char* name : {"apiVersion", "kind", "name", "uid"})
    formatted[name] = owner[name].text();
  for (const char* name : {"controller", "blockOwnerDeletion"}) {
    if (owner[name].exists()) formatted[name] = owner[name].value();
  }
  return formatted;
}

/// Returns whether `api_version` has the form "VERSION" or "GROUP/VERSION".
bool HasVersion(const std::string& api_version) {
  return !api_version.empty() && !api_version.ends_with('/') &&
         std::count(api_version.begin(), api_version.end(), '/') <= 1;
}

/// Validates one owner reference. Errors have the path of the list `owners`, without an index.
void ValidateOwnerReference(const FieldRef& owner, const FieldRef& owners, FieldErrors& errors) {
  const std::string version = owner["apiVersion"].text();
  if (!HasVersion(version)) {
    errors.push_back(
        InvalidValue(owners["apiVersion"].path(), version, "version must not be empty"));
  }
  for (const char* name : {"kind", "name", "uid"}) {
    if (!owner[name].text().empty()) continue;
    errors.push_back(InvalidValue(owners[name].path(), "", "must not be empty"));
  }
  if (version == "v1" && owner["kind"].is("Event")) {
    errors.push_back(InvalidFormattedValue(owners.path(), FormatOwnerReference(owner).dump(),
                                           "/v1, Kind=Event is disallowed from being an owner"));
  }
}

void ValidateOwnerReferences(const FieldRef& owners, FieldErrors& errors) {
  std::string controller;
  for (const FieldRef& owner : owners.items()) {
    ValidateOwnerReference(owner, owners, errors);
    if (!owner["controller"].is(true)) continue;
    const std::string name = owner["kind"].text() + '/' + owner["name"].text();
    if (!controller.empty()) {
      nlohmann::ordered_json all = nlohmann::ordered_json::array();
      for (const FieldRef& reference : owners.items())
        all.push_back(FormatOwnerReference(reference));
      errors.push_back(InvalidFormattedValue(
          owners.path(), all.dump(),
          "Only one reference can have Controller set to true. Found \"true\" in "
          "references for " +
              controller + " and " + name));
    }
    controller = name;
  }
}

void ValidateFinalizers(const FieldRef& finalizers, FieldErrors& errors) {
  bool has_orphan = false;
  bool has_foreground = false;
  for (const FieldRef& finalizer : finalizers.items()) {
    const std::string name = finalizer.text();
    has_orphan |= name == kOrphanFinalizer;
    has_foreground |= name == kForegroundFinalizer;
    for (const std::string& detail : ValidateQualifiedName(name)) {
      errors.push_back(InvalidValue(finalizers.path(), name, detail));
    }
  }
  if (has_orphan && has_foreground) {
    errors.push_back(InvalidValue(finalizers.path(), finalizers.value(),
                                  "finalizer orphan and foregroundDeletion cannot be both set"));
  }
}

void ValidateObjectMeta(const FieldRef& metadata, FieldErrors& errors) {
  ValidateLabels(metadata["labels"], errors);
  ValidateAnnotations(metadata["annotations"], errors);
  ValidateOwnerReferences(metadata["ownerReferences"], errors);
  ValidateFinalizers(metadata["finalizers"], errors);
}

void ValidateNoNewFinalizers(const FieldRef& before, const FieldRef& after, FieldErrors& errors) {
  if (!before["deletionTimestamp"].exists()) return;
  const FieldRef finalizers_before = before["finalizers"];
  const json& old_finalizers = finalizers_before.value();
  std::string added;
  for (const FieldRef& name : after["finalizers"].items()) {
    if (std::find(old_finalizers.begin(), old_finalizers.end(), name.value()) !=
        old_finalizers.end())
      continue;
    added += (added.empty() ? "\"" : ", \"") + name.text() + '"';
  }
  if (added.empty()) return;
  errors.push_back(ForbiddenField(after["finalizers"].path(),
                                  "no new finalizers can be added if the object is being deleted, "
                                  "found new finalizers []string{" +
                                      added + '}'));
}

/// Requires that the start of a name can be a part of a path, for objects of all kinds.
void ValidatePathPrefix(const FieldRef& prefix, FieldErrors& errors) {
  for (const char c : {'/', '%'}) {
    if (prefix.text().find(c) == std::string::npos) continue;
    errors.push_back(
        InvalidValue(prefix.path(), prefix.text(), std::string("may not contain '") + c + '\''));
  }
}

}  // namespace

FieldErrors ValidateMetadata(const FieldRef& metadata,
                             NameError (*validate_name)(std::string_view)) {
  FieldErrors errors;
  ValidateGenerateName(metadata["generateName"], validate_name, errors);
  const FieldRef name = metadata["name"];
  if (ValidateRequired(name, errors, "name or generateName is required"))
    ValidateName(name, validate_name, errors);
  ValidateObjectMeta(metadata, errors);
  return errors;
}

void ValidateGenerateName(const FieldRef& generate_name,
                          NameError (*validate_name)(std::string_view), FieldErrors& errors) {
  const std::string prefix = generate_name.text();
  if (prefix.empty()) return;
  // It may end with a dash: a suffix follows.
  const bool has_dash = prefix.size() > 1 && prefix.ends_with('-');
  const std::string name = has_dash ? prefix.substr(0, prefix.size() - 2) + 'a' : prefix;
  if (const NameError detail = validate_name(name))
    errors.push_back(InvalidValue(generate_name.path(), prefix, *detail));
}

FieldErrors ValidateMetadataUpdate(const FieldRef& before, const FieldRef& after) {
  FieldErrors errors;
  ValidatePathPrefix(after["generateName"], errors);
  ValidateObjectMeta(after, errors);
  ValidateNoNewFinalizers(before, after, errors);
  for (const char* name : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                           "deletionGracePeriodSeconds"}) {
    const FieldRef field = after[name];
    if (field.is(before[name].value())) continue;
    errors.push_back(InvalidValue(field.path(), field.value(), "field is immutable"));
  }
  return errors;
}

std::string DedupOwnerReferences(json& object) {
  auto& metadata = object["metadata"];
  const auto owners = metadata.find("ownerReferences");
  if (owners == metadata.end()) return "";
  std::set<json> seen;
  std::string duplicate_uids;
  json unique_owners = json::array();
  for (const json& owner : *owners) {
    if (seen.insert(owner).second) {
      unique_owners.push_back(owner);
    } else {
      duplicate_uids += (duplicate_uids.empty() ? "" : ", ") + StringField(owner, "uid");
    }
  }
  if (duplicate_uids.empty()) return "";
  *owners = std::move(unique_owners);
  return ".metadata.ownerReferences contains duplicate entries; API server dedups owner references "
         "in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "
         "duplicate UID(s) observed: " +
         duplicate_uids;
}

}  // namespace kopp::schema
