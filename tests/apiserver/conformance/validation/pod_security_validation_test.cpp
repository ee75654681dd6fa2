#include "pod_spec_validation.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

const InvalidPodSpec invalid_security_fields[] =
    {
        {"PodProfiles",
         R"({"securityContext": {"seccompProfile": {"type": "Odd"},
          "appArmorProfile": {"type": "Odd"}}})"_json,
         InPodSpec(
             {R"(FieldValueNotSupported securityContext.seccompProfile.type: Unsupported value: "Odd": supported values: "Localhost", "RuntimeDefault", "Unconfined")",
              R"(FieldValueNotSupported securityContext.appArmorProfile.type: Unsupported value: "Odd": supported values: "Localhost", "RuntimeDefault", "Unconfined")"})},
        {"PodProfilesWithoutType",
         R"({"securityContext": {"seccompProfile": {"type": ""},
          "appArmorProfile": {"type": ""}}})"_json,
         InPodSpec(
             {R"(FieldValueRequired securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set)",
              R"(FieldValueRequired securityContext.appArmorProfile.type: Required value: type is required when appArmorProfile is set)"})},
        {"LocalProfilesWithoutPath",
         R"({"securityContext": {"seccompProfile": {"type": "Localhost"},
          "appArmorProfile": {"type": "Localhost"}}})"_json,
         InPodSpec(
             {R"(FieldValueRequired securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost)",
              R"(FieldValueRequired securityContext.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost)"})},
        {"LocalProfiles",
         R"({"securityContext": {"seccompProfile": {"type": "Localhost",
          "localhostProfile": "/a/../b"}, "appArmorProfile": {"type": "Localhost",
          "localhostProfile": " a"}}})"_json,
         InPodSpec(
             {R"(FieldValueInvalid securityContext.seccompProfile.localhostProfile: Invalid value: "/a/../b": must be a relative path)",
              R"(FieldValueInvalid securityContext.seccompProfile.localhostProfile: Invalid value: "/a/../b": must not contain '..')",
              R"(FieldValueInvalid securityContext.appArmorProfile.localhostProfile: Invalid value: " a": must not be padded with whitespace)"})},
        {"PathOfAProfileThatIsNotLocal",
         R"({"containers": [{"name": "c", "image": "i",
          "securityContext": {"appArmorProfile": {"type": "Unconfined",
          "localhostProfile": "a"}}}]})"_json,
         InPodSpec(
             {R"(FieldValueInvalid containers[0].securityContext.appArmorProfile.localhostProfile: Invalid value: "a": can only be set when AppArmor type is Localhost)"})},
        {"PodPolicies",
         R"({"securityContext": {"fsGroupChangePolicy": "Odd",
          "supplementalGroupsPolicy": "Odd", "seLinuxChangePolicy": "Odd"}})"_json,
         InPodSpec(
             {R"(FieldValueNotSupported securityContext.fsGroupChangePolicy: Unsupported value: "Odd": supported values: "Always", "OnRootMismatch")",
              R"(FieldValueNotSupported securityContext.supplementalGroupsPolicy: Unsupported value: "Odd": supported values: "Merge", "Strict")",
              R"(FieldValueNotSupported securityContext.seLinuxChangePolicy: Unsupported value: "Odd": supported values: "Recursive")"})},
        {"Sysctls",
         R"({"hostNetwork": true, "hostIPC": true,
          "securityContext": {"sysctls": [{"name": "", "value": "1"}, {"name": "A",
          "value": "1"}, {"name": "net.core.somaxconn", "value": "1"},
          {"name": "kernel/shm_rmid_forced", "value": "1"}, {"name": "kernel.pid_max",
          "value": "1"}, {"name": "kernel.pid_max", "value": "1"}]}})"_json,
         InPodSpec(
             {"FieldValueRequired securityContext.sysctls[0].name: Required value",
              R"(FieldValueInvalid securityContext.sysctls[1].name: Invalid value: "A": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$)",
              R"(FieldValueInvalid securityContext.sysctls[2].name: Invalid value: "net.core.somaxconn": may not be specified when 'hostNetwork' is true)",
              R"(FieldValueInvalid securityContext.sysctls[3].name: Invalid value: "kernel/shm_rmid_forced": may not be specified when 'hostIPC' is true)",
              R"(FieldValueDuplicate securityContext.sysctls[5].name: Duplicate value: "kernel.pid_max")"})},
        {"SharedProcessNamespaces", R"({"hostPID": true, "shareProcessNamespace": true})"_json,
         InPodSpec(
             {R"(FieldValueInvalid securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled)"})},
        {"ProcMounts",
         R"({"containers": [{"name": "a", "image": "i",
          "securityContext": {"procMount": "Odd"}}, {"name": "b", "image": "i",
          "securityContext": {"procMount": "Unmasked"}}]})"_json,
         InPodSpec(
             {R"(FieldValueNotSupported containers[0].securityContext.procMount: Unsupported value: "Odd": supported values: "Default", "Unmasked")",
              R"(FieldValueInvalid containers[1].securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`)"})},
        {"WindowsUser",
         R"({"containers": [{"name": "c", "image": "i",
          "securityContext": {"windowsOptions": {"gmsaCredentialSpecName": "A",
          "runAsUserName": "a\\b\\c"}}}]})"_json,
         InPodSpec(
             {R"(FieldValueInvalid containers[0].securityContext.windowsOptions.gmsaCredentialSpecName: Invalid value: "A": )" +
                  dns1123_subdomain_error,
              R"(FieldValueInvalid containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a\\b\\c": runAsUserName cannot contain more than one backslash)"})},
        {"WindowsDomain",
         R"({"containers": [{"name": "c", "image": "i",
          "securityContext": {"windowsOptions": {"runAsUserName": ".-\\.. /"}}}]})"_json,
         InPodSpec(
             {R"(FieldValueInvalid containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: ".-\\.. /": runAsUserName's Domain doesn't match the NetBios nor the DNS format)", R"(FieldValueInvalid containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: ".-\\.. /": runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[])"})},
        {"WindowsUserWithControlCharacters",
         R"({"containers": [{"name": "c", "image": "i",
          "securityContext": {"windowsOptions": {"runAsUserName": "a\tb"}}}]})"_json,
         InPodSpec(
             {R"(FieldValueInvalid containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a\tb": runAsUserName cannot contain control characters)"})},
        {"HostProcesses",
         R"({"securityContext": {"windowsOptions": {"hostProcess": true}},
          "containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "i",
          "securityContext": {"windowsOptions": {"hostProcess": false}}}]})"_json,
         InPodSpec(
             {R"(FieldValueInvalid containers[1].securityContext.windowsOptions.hostProcess: Invalid value: false: pod hostProcess value must be identical if both are specified, was true)",
              R"(FieldValueInvalid : Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers)",
              R"(FieldValueInvalid hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers)"})},
        {"HostNamespacesWithoutHostUsers",
         R"({"hostUsers": false, "hostNetwork": true, "hostPID": true, "hostIPC": true})"_json,
         InPodSpec({"FieldValueForbidden hostNetwork: Forbidden: when `hostUsers` is false",
                    "FieldValueForbidden HostPID: Forbidden: when `hostUsers` is false",
                    "FieldValueForbidden HostIPC: Forbidden: when `hostUsers` is false"})},
        {"LinuxPodWithWindowsOptions",
         R"({"containers": [{"name": "c", "image": "i",
          "securityContext": {"windowsOptions": {}}}], "os": {"name": "linux"},
          "securityContext": {"windowsOptions": {}}})"_json,
         InPodSpec(
             {R"(FieldValueForbidden securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod)",
              R"(FieldValueForbidden containers[0].securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod)"})},
        {"WindowsPodWithLinuxOptions",
         R"({"containers": [{"name": "c", "image": "i",
          "securityContext": {"privileged": false, "runAsUser": 1,
          "capabilities": {}}}], "os": {"name": "windows"}, "hostPID": true,
          "hostUsers": true, "securityContext": {"runAsUser": 1, "fsGroup": 1,
          "seLinuxOptions": {}, "supplementalGroups": [1]}})"_json,
         InPodSpec(
             {R"(FieldValueForbidden securityContext.seLinuxOptions: Forbidden: cannot be set for a windows pod)",
              "FieldValueForbidden hostUsers: Forbidden: cannot be set for a windows pod",
              "FieldValueForbidden hostPID: Forbidden: cannot be set for a windows pod",
              R"(FieldValueForbidden securityContext.fsGroup: Forbidden: cannot be set for a windows pod)",
              R"(FieldValueForbidden securityContext.runAsUser: Forbidden: cannot be set for a windows pod)",
              R"(FieldValueForbidden securityContext.supplementalGroups: Forbidden: cannot be set for a windows pod)",
              R"(FieldValueForbidden containers[0].securityContext.capabilities: Forbidden: cannot be set for a windows pod)",
              R"(FieldValueForbidden containers[0].securityContext.privileged: Forbidden: cannot be set for a windows pod)",
              R"(FieldValueForbidden containers[0].securityContext.runAsUser: Forbidden: cannot be set for a windows pod)"})},
};
INSTANTIATE_TEST_SUITE_P(Security, PodSpecValidationTest,
                         ::testing::ValuesIn(invalid_security_fields),
                         [](const auto& invalid) { return invalid.param.test_name; });

}  // namespace
}  // namespace kopp::conformance
