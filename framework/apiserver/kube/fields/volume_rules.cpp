#include "fields/volume_rules.hpp"

#include "base/ascii.hpp"
#include "fields/field_rules.hpp"
#include "schema/field_validation.hpp"

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include <kopp/k8s/quantity.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxDriverName = 63;

void ValidateDataSource(const FieldRef& source, bool is_new, FieldErrors& errors) {
  if (!source.exists()) return;
  const FieldRef group = source["apiGroup"];
  ValidateRequired(source["name"], errors);
  ValidateRequired(source["kind"], errors);
  if (group.text().empty()) {
    if (source["kind"].is("PersistentVolumeClaim")) return;
    errors.push_back(
        InvalidValue(source.path(), source["kind"].text(),
                     "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  } else if (is_new) {
    ValidateName(group, &ValidateDnsSubdomain, errors);
  }
}

}  // namespace

void ValidateAccessModes(const FieldRef& modes, FieldErrors& errors) {
  bool once_per_pod = false;
  bool others = false;
  for (const FieldRef& mode : modes.items()) {
    ValidateEnum(FieldRef(mode.value(), modes.path()),
                 {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}, errors);
    (mode.is("ReadWriteOncePod") ? once_per_pod : others) = true;
  }
  if (once_per_pod && others) {
    errors.push_back(
        ForbiddenField(modes.path(), "may not use ReadWriteOncePod with other access modes"));
  }
}

void ValidateVolumeMode(const FieldRef& mode, FieldErrors& errors) {
  if (mode.exists()) ValidateEnum(mode, {"Block", "Filesystem"}, errors);
}

void ValidatePositive(const FieldRef& amount, const std::string& path, FieldErrors& errors) {
  if (k8s::Quantity(amount.text()) > k8s::Quantity("0")) return;
  errors.push_back(InvalidValue(path, amount.value(), "must be greater than zero"));
}

void ValidateClaimSpec(const FieldRef& spec, bool is_new, FieldErrors& errors) {
  const FieldRef modes = spec["accessModes"];
  if (modes.size() == 0)
    errors.push_back(Required(modes.path(), "at least 1 access mode is required"));
  ValidateLabelSelector(spec["selector"], errors);
  ValidateAccessModes(modes, errors);
  const FieldRef storage = spec["resources"]["requests"]["storage"];
  const std::string path = spec["resources"].Key("storage").path();
  if (storage.exists()) {
    ValidatePositive(storage, path, errors);
  } else {
    errors.push_back(Required(path, ""));
  }
  if (!spec["storageClassName"].text().empty())
    ValidateName(spec["storageClassName"], &ValidateDnsSubdomain, errors);
  ValidateVolumeMode(spec["volumeMode"], errors);
  const FieldRef source = spec["dataSource"];
  const FieldRef reference = spec["dataSourceRef"];
  ValidateDataSource(source, is_new, errors);
  ValidateDataSource(reference, is_new, errors);
  if (source.exists() && reference.exists() && !reference["namespace"].exists() &&
      !source.is(reference.value())) {
    errors.push_back(InvalidValue(spec.path(), json::object(), "must match dataSourceRef"));
  }
}

void ValidateHostPath(const FieldRef& source, FieldErrors& errors) {
  if (!ValidateRequired(source["path"], errors)) return;
  ValidateNoBacksteps(source["path"], errors);
  ValidateEnum(source["type"],
               {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File",
                "FileOrCreate", "Socket"},
               errors);
}

void ValidateDriverName(const FieldRef& driver, FieldErrors& errors) {
  const std::string name = driver.text();
  ValidateNotEmpty(driver, errors);
  if (name.size() > kMaxDriverName) errors.push_back(TooLong(driver.path(), kMaxDriverName));
  if (const NameError detail = ValidateDnsSubdomain(kopp::detail::ToLowerAscii(name)))
    errors.push_back(InvalidValue(driver.path(), name, *detail));
}

}  // namespace kopp::apiserver
