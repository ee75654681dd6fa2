// The cells of webhook configurations, admission policies, certificate requests and APIServices.
#include "api/conditions.hpp"
#include "printers/printers.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

json ParamKind(const json& policy, const std::string&) {
  const json& kind = ValueAt(policy, "/spec/paramKind");
  if (kind.is_null()) return "<unset>";
  return StringAt(kind, "/apiVersion") + '/' + StringAt(kind, "/kind");
}

/// Formats a map as Go does: "map[string]string{a: b,}".
std::string FormatGoMap(const json& map) {
  std::string text = "map[string]string{";
  for (const auto& [name, value] : map.items()) {
    text += name + ": " + value.get<std::string>() + ',';
  }
  return text + '}';
}

json ParamReference(const json& binding, const std::string&) {
  const json& reference = ValueAt(binding, "/spec/paramRef");
  if (reference.is_null()) return "<unset>";
  const std::string name = StringAt(reference, "/name");
  if (!name.empty()) return StringAt(reference, "/namespace", "*") + '/' + name;
  return "&LabelSelector{MatchLabels:" + FormatGoMap(ValueAt(reference, "/selector/matchLabels")) +
         ",MatchExpressions:[]LabelSelectorRequirement{},}";
}

json RequestedDuration(const json& request, const std::string&) {
  const std::int64_t seconds = IntegerAt(request, "/spec/expirationSeconds");
  return seconds == 0 ? "<none>" : HumanDuration(std::chrono::seconds(seconds));
}

json RequestCondition(const json& request, const std::string&) {
  std::string text = HasConditionOfType(request, "Denied")     ? "Denied"
                     : HasConditionOfType(request, "Approved") ? "Approved"
                                                               : "Pending";
  if (HasConditionOfType(request, "Failed")) text += ",Failed";
  if (!ValueAt(request, "/status/certificate").empty()) text += ",Issued";
  return text;
}

json ApiServiceReference(const json& service, const std::string&) {
  const json& reference = ValueAt(service, "/spec/service");
  if (reference.is_null()) return "Local";
  return StringAt(reference, "/namespace") + '/' + StringAt(reference, "/name");
}

json IsAvailable(const json& service, const std::string&) {
  for (const json& condition : ValueAt(service, "/status/conditions")) {
    if (StringAt(condition, "/type") != "Available") continue;
    const std::string status = StringAt(condition, "/status");
    return status == "True" ? status : status + " (" + StringAt(condition, "/reason") + ')';
  }
  return "Unknown";
}

}  // namespace

CellsByKind AdmissionCells() {
  const std::vector<Cell> webhooks{Name(), ItemCount({"/webhooks"}), Age()};
  return {
      {"MutatingWebhookConfiguration", webhooks},
      {"ValidatingWebhookConfiguration", webhooks},
      {"ValidatingAdmissionPolicy", {Name(), ItemCount({"/spec/validations"}), ParamKind, Age()}},
      {"ValidatingAdmissionPolicyBinding",
       {Name(), Text("/spec/policyName"), ParamReference, Age()}},
      {"CertificateSigningRequest",
       {Name(), Age(), Text("/spec/signerName"), Text("/spec/username"), RequestedDuration,
        RequestCondition}},
      {"APIService", {Name(), ApiServiceReference, IsAvailable, Age()}},
  };
}

}  // namespace kopp::apiserver
