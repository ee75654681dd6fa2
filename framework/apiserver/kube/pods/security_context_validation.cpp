#include "pods/security_context_validation.hpp"

#include "fields/field_rules.hpp"
#include "pods/operating_system_validation.hpp"
#include "schema/field_validation.hpp"
#include "schema/pattern.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kopp::apiserver {
namespace {

constexpr std::size_t kMaxSysctlName = 253;
constexpr std::size_t kMaxProfilePath = 4095;
constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

const std::vector<std::string>& ProfileTypes() {
  static const std::vector<std::string> types = {"Localhost", "RuntimeDefault", "Unconfined"};
  return types;
}

void ValidateSeccompProfile(const FieldRef& profile, FieldErrors& errors) {
  if (!profile.exists()) return;
  const FieldRef type = profile["type"];
  const FieldRef localhost = profile["localhostProfile"];
  if (ValidateRequired(type, errors, "type is required when seccompProfile is set"))
    ValidateEnum(type, ProfileTypes(), errors);
  if (!type.is("Localhost")) {
    if (!localhost.exists()) return;
    errors.push_back(InvalidValue(localhost.path(), profile.value(),
                                  "can only be set when seccomp type is Localhost"));
  } else if (localhost.exists()) {
    ValidateDescendingPath(localhost, errors);
  } else {
    errors.push_back(Required(localhost.path(), "must be set when seccomp type is Localhost"));
  }
}

bool IsPadded(const std::string& text) {
  return !text.empty() && (kWhiteSpace.find(text.front()) != std::string_view::npos ||
                           kWhiteSpace.find(text.back()) != std::string_view::npos);
}

void ValidateLocalAppArmorProfile(const FieldRef& profile, FieldErrors& errors) {
  const std::string name = profile.text();
  if (name.empty()) {
    errors.push_back(Required(profile.path(), "must be set when AppArmor type is Localhost"));
  } else if (IsPadded(name)) {
    errors.push_back(InvalidValue(profile.path(), name, "must not be padded with whitespace"));
  }
  if (name.size() > kMaxProfilePath) errors.push_back(TooLong(profile.path(), kMaxProfilePath));
}

void ValidateAppArmorProfile(const FieldRef& profile, FieldErrors& errors) {
  if (!profile.exists()) return;
  const FieldRef type = profile["type"];
  const FieldRef localhost = profile["localhostProfile"];
  if (!ValidateRequired(type, errors, "type is required when appArmorProfile is set")) return;
  if (type.is("Localhost")) {
    ValidateLocalAppArmorProfile(localhost, errors);
  } else if (!type.is("RuntimeDefault") && !type.is("Unconfined")) {
    ValidateEnum(type, ProfileTypes(), errors);
  } else if (localhost.exists()) {
    errors.push_back(InvalidJson(localhost.path(), localhost.text(),
                                 "can only be set when AppArmor type is Localhost"));
  }
}

/// Returns whether a sysctl belongs to the network namespace, or to the one for IPC.
bool IsNetworkSysctl(const std::string& name) { return name.starts_with("net."); }
bool IsIpcSysctl(const std::string& name) {
  static const std::set<std::string> names = {"kernel.sem", "kernel.shm_rmid_forced"};
  return names.contains(name) || name.starts_with("kernel.shm") || name.starts_with("kernel.msg") ||
         name.starts_with("fs.mqueue.");
}

/// Rejects a sysctl of a namespace that the Pod shares with its node.
void ValidateHostSysctl(const FieldRef& field, const FieldRef& spec, FieldErrors& errors) {
  std::string name = field.text();
  // A slash separates the elements of a name if it comes before the first dot.
  const std::size_t separator = name.find_first_of("./");
  if (separator != std::string::npos && name[separator] == '/') {
    for (char& c : name) c = c == '/' ? '.' : c == '.' ? '/' : c;
  }
  const bool is_network = spec["hostNetwork"].is(true) && IsNetworkSysctl(name);
  if (!is_network && !(spec["hostIPC"].is(true) && IsIpcSysctl(name))) return;
  errors.push_back(InvalidValue(field.path(), field.text(),
                                std::string("may not be specified when '") +
                                    (is_network ? "hostNetwork" : "hostIPC") + "' is true"));
}

void ValidateSysctls(const FieldRef& sysctls, const FieldRef& spec, FieldErrors& errors) {
  constexpr const char* kPattern =
      "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
  static const Pattern pattern(kPattern);
  std::set<std::string> names;
  for (const FieldRef& sysctl : sysctls.items()) {
    const FieldRef name = sysctl["name"];
    if (ValidateRequired(name, errors)) {
      if (name.text().size() > kMaxSysctlName || !pattern.FullMatch(name.text())) {
        errors.push_back(InvalidValue(
            name.path(), name.text(),
            std::string("must have at most 253 characters and match regex ") + kPattern));
      } else if (names.contains(name.text())) {
        errors.push_back(Duplicate(name.path(), name.text()));
      }
    }
    ValidateHostSysctl(name, spec, errors);
    names.insert(name.text());
  }
}

/// Validates a field that has one of a few values, if it is set.
void ValidateOptionalEnum(const FieldRef& field, const std::vector<std::string>& values,
                          FieldErrors& errors) {
  if (field.exists()) ValidateEnum(field, values, errors);
}

void ValidateEscalation(const FieldRef& security, FieldErrors& errors) {
  if (!security["allowPrivilegeEscalation"].is(false)) return;
  const auto add_invalid = [&](const char* what) {
    errors.push_back(
        InvalidValue(security.path(), security.value(),
                     std::string("cannot set `allowPrivilegeEscalation` to false and ") + what));
  };
  if (security["privileged"].is(true)) add_invalid("`privileged` to true");
  for (const FieldRef& capability : security["capabilities"]["add"].items()) {
    if (capability.is("CAP_SYS_ADMIN")) add_invalid("`capabilities.Add` CAP_SYS_ADMIN");
  }
}

void ValidateProcMount(const FieldRef& mount, const FieldRef& spec, FieldErrors& errors) {
  ValidateOptionalEnum(mount, {"Default", "Unmasked"}, errors);
  if (!mount.is("Unmasked") || spec["hostUsers"].is(false)) return;
  errors.push_back(
      InvalidValue(mount.path(), mount.text(), "`hostUsers` must be false to use `Unmasked`"));
}

}  // namespace

void ValidatePodSecurityContext(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef security = spec["securityContext"];
  for (const char* id : {"fsGroup", "runAsUser", "runAsGroup"}) ValidateId(security[id], errors);
  for (const FieldRef& group : security["supplementalGroups"].items()) ValidateId(group, errors);
  if (spec["shareProcessNamespace"].is(true) && spec["hostPID"].is(true)) {
    errors.push_back(InvalidValue(security["shareProcessNamespace"].path(), true,
                                  "ShareProcessNamespace and HostPID cannot both be enabled"));
  }
  ValidateSysctls(security["sysctls"], spec, errors);
  ValidateOptionalEnum(security["fsGroupChangePolicy"], {"Always", "OnRootMismatch"}, errors);
  ValidateSeccompProfile(security["seccompProfile"], errors);
  ValidateWindowsOptions(security["windowsOptions"], errors);
  ValidateAppArmorProfile(security["appArmorProfile"], errors);
  ValidateOptionalEnum(security["supplementalGroupsPolicy"], {"Merge", "Strict"}, errors);
  ValidateOptionalEnum(security["seLinuxChangePolicy"], {"Recursive"}, errors);
}

void ValidateContainerSecurityContext(const FieldRef& security, const FieldRef& spec,
                                      FieldErrors& errors) {
  for (const char* id : {"runAsUser", "runAsGroup"}) ValidateId(security[id], errors);
  ValidateProcMount(security["procMount"], spec, errors);
  ValidateSeccompProfile(security["seccompProfile"], errors);
  ValidateEscalation(security, errors);
  ValidateWindowsOptions(security["windowsOptions"], errors);
  ValidateAppArmorProfile(security["appArmorProfile"], errors);
}

}  // namespace kopp::apiserver
