#include "pods/operating_system_validation.hpp"

#include "fields/field_rules.hpp"
#include "schema/field_validation.hpp"
#include "schema/pattern.hpp"

#include <algorithm>
#include <string>

namespace kopp::apiserver {
namespace {

constexpr std::size_t kMaxCredentialSpec = 64 << 10;
constexpr std::size_t kMaxWindowsDomain = 256;
constexpr std::size_t kMaxWindowsUser = 104;

/// Validates the domain of a Windows user. Reports errors with `add_invalid`.
template <typename AddInvalid>
void ValidateWindowsDomain(const std::string& domain, const AddInvalid& add_invalid) {
  static const Pattern net_bios(R"(^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$)");
  static const Pattern dns(
      "^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
      "(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$");
  if (domain.size() >= kMaxWindowsDomain)
    add_invalid("runAsUserName's Domain length must be under 256 characters");
  if (!net_bios.FullMatch(domain) && !dns.FullMatch(domain))
    add_invalid("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
}

/// Validates the name of a Windows user without its domain.
template <typename AddInvalid>
void ValidateWindowsUser(const std::string& user, const AddInvalid& add_invalid) {
  if (user.empty()) add_invalid("runAsUserName's User cannot be empty");
  if (user.size() > kMaxWindowsUser)
    add_invalid("runAsUserName's User length must not be longer than 104 characters");
  if (!user.empty() && user.find_first_not_of(". ") == std::string::npos)
    add_invalid("runAsUserName's User cannot contain only periods or spaces");
  if (user.find_first_of("\"/\\:;|=,+*?<>@[]") != std::string::npos) {
    add_invalid("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
  }
}

bool HasControlCharacter(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

void ValidateRunAsUserName(const FieldRef& field, FieldErrors& errors) {
  const std::string name = field.text();
  const auto add_invalid = [&](const char* detail) {
    errors.push_back(InvalidJson(field.path(), name, detail));
  };
  if (name.empty()) return add_invalid("runAsUserName cannot be an empty string");
  if (HasControlCharacter(name))
    return add_invalid("runAsUserName cannot contain control characters");
  const std::size_t backslash = name.find('\\');
  if (backslash != name.rfind('\\'))
    return add_invalid("runAsUserName cannot contain more than one backslash");
  if (backslash == std::string::npos) return ValidateWindowsUser(name, add_invalid);
  ValidateWindowsDomain(name.substr(0, backslash), add_invalid);
  ValidateWindowsUser(name.substr(backslash + 1), add_invalid);
}

/// Counts the HostProcess containers of a Pod.
struct HostProcessCount {
  int containers = 0;
  int host_process = 0;
};

HostProcessCount CountHostProcesses(const FieldRef& spec, FieldErrors& errors) {
  HostProcessCount count;
  const FieldRef pod_value = spec["securityContext"]["windowsOptions"]["hostProcess"];
  ForEachContainer(spec, [&](const FieldRef& container) {
    const FieldRef value = container["securityContext"]["windowsOptions"]["hostProcess"];
    ++count.containers;
    count.host_process += (value.exists() ? value : pod_value).is(true) ? 1 : 0;
    if (!pod_value.exists() || !value.exists() || value.is(pod_value.value())) return;
    errors.push_back(
        InvalidValue(value.path(), value.value(),
                     "pod hostProcess value must be identical if both are specified, was " +
                         pod_value.value().dump()));
  });
  return count;
}

void ForbidFields(const FieldRef& owner, std::initializer_list<const char*> fields,
                  FieldErrors& errors) {
  for (const char* field : fields) {
    if (!owner[field].exists() || owner[field].is(nlohmann::json::array())) continue;
    errors.push_back(ForbiddenField(owner[field].path(), "cannot be set for a windows pod"));
  }
}

void ForbidFlag(const FieldRef& flag, FieldErrors& errors) {
  if (flag.is(true))
    errors.push_back(ForbiddenField(flag.path(), "cannot be set for a windows pod"));
}

/// Rejects fields that only Linux has.
void ValidateWindowsPod(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef security = spec["securityContext"];
  ForbidFields(security, {"appArmorProfile", "seLinuxOptions"}, errors);
  ForbidFields(spec, {"hostUsers"}, errors);
  ForbidFlag(spec["hostPID"], errors);
  ForbidFlag(spec["hostIPC"], errors);
  ForbidFields(security, {"seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls"}, errors);
  ForbidFields(spec, {"shareProcessNamespace"}, errors);
  ForbidFields(security,
               {"runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy",
                "seLinuxChangePolicy"},
               errors);
  ForEachContainer(spec, [&](const FieldRef& container) {
    ForbidFields(container["securityContext"],
                 {"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities",
                  "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount",
                  "runAsUser", "runAsGroup"},
                 errors);
  });
}

/// Rejects fields that only Windows has.
void ValidateLinuxPod(const FieldRef& spec, FieldErrors& errors) {
  const auto forbid = [&](const FieldRef& owner) {
    const FieldRef options = owner["securityContext"]["windowsOptions"];
    if (!options.exists()) return;
    errors.push_back(
        ForbiddenField(options.path(), "windows options cannot be set for a linux pod"));
  };
  forbid(spec);
  ForEachContainer(spec, forbid);
}

}  // namespace

void ValidateWindowsOptions(const FieldRef& options, FieldErrors& errors) {
  const FieldRef name = options["gmsaCredentialSpecName"];
  if (const NameError detail = ValidateDnsSubdomain(name.text()); detail && name.exists())
    errors.push_back(InvalidJson(name.path(), name.text(), *detail));
  const FieldRef spec = options["gmsaCredentialSpec"];
  if (spec.exists() && IsUnset(spec)) {
    errors.push_back(InvalidValue(spec.path(), "", "gmsaCredentialSpec cannot be an empty string"));
  } else if (spec.text().size() > kMaxCredentialSpec) {
    errors.push_back(
        InvalidJson(spec.path(), spec.text(), "gmsaCredentialSpec size must be under 64 KiB"));
  }
  if (options["runAsUserName"].exists()) ValidateRunAsUserName(options["runAsUserName"], errors);
}

void ValidateHostProcessContainers(const FieldRef& spec, FieldErrors& errors) {
  const HostProcessCount count = CountHostProcesses(spec, errors);
  if (count.host_process == 0) return;
  if (count.host_process != count.containers) {
    errors.push_back(InvalidValue(spec.path(), "",
                                  "If pod contains any hostProcess containers then all containers "
                                  "must be HostProcess containers"));
  }
  if (!spec["hostNetwork"].is(true)) {
    errors.push_back(
        InvalidValue(spec["hostNetwork"].path(), false,
                     "hostNetwork must be true if pod contains any hostProcess containers"));
  }
}

void ValidateOs(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef os = spec["os"];
  if (!os.exists() || !ValidateRequired(os["name"], errors)) return;
  if (os["name"].is("linux")) return ValidateLinuxPod(spec, errors);
  if (os["name"].is("windows")) return ValidateWindowsPod(spec, errors);
  // kube-apiserver reports the name at its parent.
  ValidateEnum(At(os["name"], os.path()), {"linux", "windows"}, errors);
}

}  // namespace kopp::apiserver
