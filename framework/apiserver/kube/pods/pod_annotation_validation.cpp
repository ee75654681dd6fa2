#include "pods/pod_annotation_validation.hpp"

#include "fields/field_rules.hpp"
#include "schema/field_validation.hpp"
#include "schema/go_quoted.hpp"

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

namespace kopp::apiserver {
namespace {

constexpr std::string_view kSeccompPod = "seccomp.security.alpha.kubernetes.io/pod";
constexpr std::string_view kSeccompContainer = "container.seccomp.security.alpha.kubernetes.io/";
constexpr std::string_view kAppArmorContainer = "container.apparmor.security.beta.kubernetes.io/";
constexpr std::string_view kLocalhost = "localhost/";
constexpr const char* kMirrorPod = "kubernetes.io/config.mirror";
constexpr const char* kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

/// Returns whether `text` is a 32-bit integer as kube-apiserver writes it.
bool IsDeletionCost(const std::string& text) {
  if (text.starts_with('+') || text.starts_with("-0")) return false;
  if (text.size() > 1 && text.starts_with('0')) return false;
  std::int32_t cost = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, cost);
  return error == std::errc() && stop == end;
}

void ValidateSeccompAnnotation(const FieldRef& value, FieldErrors& errors) {
  const std::string profile = value.text();
  if (profile == "runtime/default" || profile == "docker/default" || profile == "unconfined")
    return;
  if (!profile.starts_with(kLocalhost)) {
    errors.push_back(InvalidValue(value.path(), profile, "must be a valid seccomp profile"));
    return;
  }
  const nlohmann::json path = profile.substr(kLocalhost.size());
  ValidateDescendingPath(FieldRef(path, value.path()), errors);
}

bool HasContainer(const FieldRef& spec, const std::string& name) {
  bool found = false;
  ForEachContainer(spec, [&](const FieldRef& container) { found |= container["name"].is(name); });
  return found;
}

void ValidateAppArmorAnnotation(const FieldRef& value, const std::string& container,
                                const FieldRef& spec, FieldErrors& errors) {
  const std::string profile = value.text();
  if (!HasContainer(spec, container))
    errors.push_back(InvalidValue(value.path(), container, "container not found"));
  if (profile.empty() || profile == "runtime/default" || profile == "unconfined" ||
      profile.starts_with(kLocalhost)) {
    return;
  }
  errors.push_back(
      InvalidValue(value.path(), profile, "invalid AppArmor profile name: " + GoQuoted(profile)));
}

/// Requires that an annotation has the same profile as a field. `what` is the kind of profile in
/// error messages.
void ValidateSameProfile(const FieldRef& annotation, const FieldRef& profile,
                         const std::string& path, const std::string& what, FieldErrors& errors) {
  if (!annotation.exists() || !profile.exists()) return;
  const std::string value = annotation.text();
  const FieldRef type = profile["type"];
  const auto forbid = [&](const std::string& field, const std::string& part) {
    errors.push_back(ForbiddenField(path + '.' + field,
                                    what + ' ' + part + " in annotation and field must match"));
  };
  const bool is_default =
      value == "runtime/default" || (what == "seccomp" && value == "docker/default");
  if ((type.is("Unconfined") && value != "unconfined") ||
      (type.is("RuntimeDefault") && !is_default) ||
      (type.is("Localhost") && !value.starts_with(kLocalhost))) {
    forbid("type", "type");
  } else if (type.is("Localhost") &&
             !profile["localhostProfile"].is(value.substr(kLocalhost.size()))) {
    forbid("localhostProfile", "profile");
  }
}

}  // namespace

nlohmann::json AppArmorProfileOf(const std::string& annotation) {
  if (annotation == "unconfined") return {{"type", "Unconfined"}};
  if (annotation == "runtime/default") return {{"type", "RuntimeDefault"}};
  if (!annotation.starts_with(kLocalhost) || annotation.size() == kLocalhost.size()) return nullptr;
  return {{"type", "Localhost"}, {"localhostProfile", annotation.substr(kLocalhost.size())}};
}

void ValidatePodAnnotations(const FieldRef& annotations, const FieldRef& spec,
                            FieldErrors& errors) {
  const FieldRef mirror = annotations.Key(kMirrorPod);
  if (mirror.exists() && IsUnset(spec["nodeName"])) {
    errors.push_back(InvalidValue(mirror.path(), mirror.text(),
                                  "must set spec.nodeName if mirror pod annotation is set"));
  }
  const FieldRef cost = annotations.Key(kDeletionCost);
  if (cost.exists() && !IsDeletionCost(cost.text()))
    errors.push_back(InvalidValue(cost.path(), cost.text(), "must be a 32bit integer"));
  const FieldRef seccomp = annotations[std::string(kSeccompPod)];
  if (seccomp.exists()) ValidateSeccompAnnotation(seccomp, errors);
  for (const std::string& key : annotations.keys()) {
    if (key.starts_with(kSeccompContainer)) ValidateSeccompAnnotation(annotations[key], errors);
  }
  for (const std::string& key : annotations.keys()) {
    if (!key.starts_with(kAppArmorContainer)) continue;
    ValidateAppArmorAnnotation(annotations.Key(key), key.substr(kAppArmorContainer.size()), spec,
                               errors);
  }
}

void ValidateProfileAnnotations(const FieldRef& annotations, const FieldRef& spec,
                                FieldErrors& errors) {
  const FieldRef pod_security = spec["securityContext"];
  const FieldRef pod_profile = pod_security["seccompProfile"];
  ValidateSameProfile(annotations.Key(std::string(kSeccompPod)), pod_profile, pod_profile.path(),
                      "seccomp", errors);
  ForEachContainer(spec, [&](const FieldRef& container) {
    const FieldRef profile = container["securityContext"]["seccompProfile"];
    ValidateSameProfile(annotations.Key(std::string(kSeccompContainer) + container["name"].text()),
                        profile, profile.path(), "seccomp", errors);
  });
  if (spec["os"]["name"].is("windows")) return;
  ForEachContainer(spec, [&](const FieldRef& container) {
    const FieldRef profile = container["securityContext"]["appArmorProfile"];
    ValidateSameProfile(annotations.Key(std::string(kAppArmorContainer) + container["name"].text()),
                        profile.exists() ? profile : pod_security["appArmorProfile"],
                        profile.path(), "apparmor", errors);
  });
}

}  // namespace kopp::apiserver
