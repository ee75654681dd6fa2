#include "pods/projected_volume_validation.hpp"

#include "fields/field_rules.hpp"
#include "pods/container_env_validation.hpp"
#include "schema/field_validation.hpp"

#include <set>
#include <string>

namespace kopp::apiserver {
namespace {

constexpr std::int64_t kMaxFileMode = 0777;
constexpr std::int64_t kMinTokenSeconds = 600;
constexpr std::int64_t kMaxTokenSeconds = std::int64_t{1} << 32;

/// Validates the sources of a projected volume, which must not write a path twice.
class ProjectedSources {
 public:
  ProjectedSources(const FieldRef& projected, FieldErrors& errors)
      : projected_(projected), errors_(errors) {}

  void Validate(const FieldRef& source) {
    for (const char* kind : {"secret", "configMap"}) {
      if (source[kind].exists()) ValidateKeys(source[kind]);
    }
    if (source["downwardAPI"].exists()) ValidateFiles(source["downwardAPI"]);
    if (source["serviceAccountToken"].exists()) ValidateToken(source["serviceAccountToken"]);
    if (source.size() <= 1) return;
    errors_.push_back(
        ForbiddenField(source.path(), "may not specify more than 1 volume type per source"));
  }

 private:
  /// Reports `value` if another source has the same path.
  void AddPath(const FieldRef& path, const std::string& value) {
    if (IsUnset(path) || paths_.insert(path.text()).second) return;
    errors_.push_back(InvalidValue(projected_.path(), value, "conflicting duplicate paths"));
  }

  void ValidateKeys(const FieldRef& source) {
    ValidateNotEmpty(source["name"], errors_);
    for (const FieldRef& item : source["items"].items()) {
      ValidateKeyToPath(item, errors_);
      AddPath(item["path"], source["name"].text());
    }
  }

  void ValidateFiles(const FieldRef& source) {
    for (const FieldRef& file : source["items"].items()) {
      ValidateDownwardApiFile(file, source.path(), errors_);
      AddPath(file["path"], file["path"].text());
    }
  }

  void ValidateToken(const FieldRef& source) {
    const FieldRef seconds = source["expirationSeconds"];
    if (seconds.number() < kMinTokenSeconds) {
      errors_.push_back(InvalidValue(seconds.path(), seconds.number(),
                                     "may not specify a duration less than 10 minutes"));
    }
    if (seconds.number() > kMaxTokenSeconds) {
      errors_.push_back(InvalidValue(seconds.path(), seconds.number(),
                                     "may not specify a duration larger than 2^32 seconds"));
    }
    // kube-apiserver reports the path without the source.
    const FieldRef path = At(source["path"], projected_["path"].path());
    if (ValidateRequired(path, errors_)) ValidateNonReservedPath(path, errors_);
  }

  const FieldRef& projected_;
  FieldErrors& errors_;
  std::set<std::string> paths_{};
};

}  // namespace

void ValidateFileMode(const FieldRef& mode, FieldErrors& errors) {
  if (mode.number() >= 0 && mode.number() <= kMaxFileMode) return;
  errors.push_back(InvalidValue(mode.path(), mode.number(),
                                "must be a number between 0 and 0777 (octal), both inclusive"));
}

void ValidateKeyToPath(const FieldRef& item, FieldErrors& errors) {
  ValidateNotEmpty(item["key"], errors);
  ValidateNotEmpty(item["path"], errors);
  ValidateNonReservedPath(item["path"], errors);
  ValidateFileMode(item["mode"], errors);
}

void ValidateDownwardApiFile(const FieldRef& file, const std::string& path, FieldErrors& errors) {
  const FieldRef reported = At(file, path);
  const FieldRef field = reported["fieldRef"];
  const FieldRef resource = reported["resourceFieldRef"];
  ValidateNotEmpty(reported["path"], errors);
  ValidateNonReservedPath(reported["path"], errors);
  if (field.exists()) {
    ValidateObjectFieldRef(field,
                           {"metadata.annotations", "metadata.labels", "metadata.name",
                            "metadata.namespace", "metadata.uid"},
                           errors);
    if (resource.exists()) {
      errors.push_back(InvalidValue(
          path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"));
    }
  } else if (resource.exists()) {
    ValidateResourceFieldRef(resource, /*needs_container=*/true, errors);
  } else {
    errors.push_back(Required(path, "one of fieldRef and resourceFieldRef is required"));
  }
  ValidateFileMode(reported["mode"], errors);
}

void ValidateProjectedVolume(const FieldRef& projected, FieldErrors& errors) {
  ValidateFileMode(projected["defaultMode"], errors);
  ProjectedSources sources(projected, errors);
  for (const FieldRef& source : projected["sources"].items()) sources.Validate(source);
}

}  // namespace kopp::apiserver
