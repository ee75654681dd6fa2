// CertificateSigningRequests.
#include "kinds/certificate_validation.hpp"

#include "api/conditions.hpp"
#include "json/base64.hpp"
#include "schema/field_validation.hpp"
#include "storage/server_context.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kPermanentConditions[] = {"Approved", "Denied", "Failed"};

/// Returns whether the Base64 text contains a PEM block of this type.
bool ContainsPemBlock(const std::string& base64, const std::string& type) {
  try {
    return Base64Decode(base64).find("-----BEGIN " + type + "-----") != std::string::npos;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

void ValidateUsages(const FieldRef& usages, FieldErrors& errors) {
  static const std::vector<std::string> known{"any",
                                              "cert sign",
                                              "client auth",
                                              "code signing",
                                              "content commitment",
                                              "crl sign",
                                              "data encipherment",
                                              "decipher only",
                                              "digital signature",
                                              "email protection",
                                              "encipher only",
                                              "ipsec end system",
                                              "ipsec tunnel",
                                              "ipsec user",
                                              "key agreement",
                                              "key encipherment",
                                              "microsoft sgc",
                                              "netscape sgc",
                                              "ocsp signing",
                                              "s/mime",
                                              "server auth",
                                              "signing",
                                              "timestamping"};
  if (usages.size() == 0) errors.push_back(Required(usages.path(), ""));
  std::set<std::string> seen;
  for (const FieldRef& usage : usages.items()) {
    ValidateEnum(usage, known, errors);
    ValidateUniqueJson(usage, seen, errors);
  }
}

/// Requires a domain and a path: "example.com/signer-name".
void ValidateSignerName(const FieldRef& signer, FieldErrors& errors) {
  if (!ValidateRequired(signer, errors)) return;
  const std::string text = signer.text();
  const auto slash = text.find('/');
  const std::string domain = text.substr(0, slash);
  if (slash == std::string::npos || slash != text.rfind('/') ||
      domain.find('.') == std::string::npos) {
    errors.push_back(InvalidValue(signer.path(), text,
                                  "must be a fully qualified domain and path of the form "
                                  "'example.com/signer-name'"));
    return;
  }
  for (const std::string& label : {domain, text.substr(slash + 1)}) {
    const NameError detail = ValidateDnsSubdomain(label);
    if (!detail) continue;
    errors.push_back(InvalidValue(signer.path(), label,
                                  "validating label " + json(label).dump() + ": " + *detail));
  }
}

void ValidateCertificateSigningRequest(const json& object, FieldErrors& errors) {
  constexpr int kMinSeconds = 600;
  const FieldRef spec = FieldRef(object)["spec"];
  const FieldRef request = spec["request"];
  if (!ContainsPemBlock(request.text(), "CERTIFICATE REQUEST")) {
    errors.push_back(InvalidValue(request.path(), request.value(),
                                  "PEM block type must be CERTIFICATE REQUEST"));
  }
  ValidateUsages(spec["usages"], errors);
  const FieldRef signer = spec["signerName"];
  if (signer.is("kubernetes.io/legacy-unknown")) {
    errors.push_back(InvalidValue(signer.path(), signer.value(),
                                  "the legacy signerName is not allowed via this API version"));
  } else {
    ValidateSignerName(signer, errors);
  }
  const FieldRef seconds = spec["expirationSeconds"];
  if (seconds.exists() && seconds.number() < kMinSeconds) {
    errors.push_back(InvalidValue(seconds.path(), seconds.value(),
                                  "may not specify a duration less than 600 seconds (10 minutes)"));
  }
}

void ValidateCondition(const FieldRef& condition, FieldErrors& errors) {
  const FieldRef type = condition["type"];
  const FieldRef status = condition["status"];
  ValidateRequired(type, errors);
  if (!ValidateRequired(status, errors)) return;
  const bool is_permanent =
      std::find(std::begin(kPermanentConditions), std::end(kPermanentConditions), type.text()) !=
      std::end(kPermanentConditions);
  ValidateEnum(status,
               is_permanent ? std::vector<std::string>{"True"}
                            : std::vector<std::string>{"False", "True", "Unknown"},
               errors);
}

void ValidateRequestStatus(const json& object, FieldErrors& errors) {
  const FieldRef status = FieldRef(object)["status"];
  const FieldRef certificate = status["certificate"];
  if (certificate.exists() && !ContainsPemBlock(certificate.text(), "CERTIFICATE")) {
    errors.push_back(InvalidValue(certificate.path(), "<certificate data>",
                                  "must contain at least one CERTIFICATE PEM block"));
  }
  std::set<std::string> types;
  for (const FieldRef& condition : status["conditions"].items()) {
    const std::string type = condition["type"].text();
    ValidateCondition(condition, errors);
    if ((type == "Denied" && types.contains("Approved")) ||
        (type == "Approved" && types.contains("Denied"))) {
      errors.push_back(InvalidValue(status["conditions"].path(), type,
                                    "Approved and Denied conditions are mutually exclusive"));
    }
    ValidateUniqueJson(condition["type"], types, errors);
  }
}

void ValidateRequestUpdate(const json& before, const json& after, FieldErrors& errors) {
  const FieldRef certificate = FieldRef(before)["status"]["certificate"];
  if (certificate.exists() && !certificate.is(FieldRef(after)["status"]["certificate"].value())) {
    errors.push_back(
        ForbiddenField(certificate.path(), "updates may not modify existing certificate content"));
  }
  for (const char* type : kPermanentConditions) {
    if (!HasConditionOfType(before, type) || HasConditionOfType(after, type)) continue;
    errors.push_back(ForbiddenField(
        "status.conditions", "updates may not remove a condition of type " + json(type).dump()));
  }
}

/// Records the user who creates the request.
void AssignRequester(const User& user, json& request) {
  json& spec = request["spec"];
  for (const char* field : {"username", "uid", "groups", "extra"}) spec.erase(field);
  spec["username"] = user.name;
  if (!user.groups.empty()) spec["groups"] = user.groups;
  if (!user.uid.empty()) spec["uid"] = user.uid;
  if (!user.extra.empty()) spec["extra"] = user.extra;
}

/// Keeps the spec, which is immutable.
void AssignRequestFields(ServerContext&, const json& before, json& request) {
  if (!before.is_null()) request["spec"] = before.at("spec");
}

/// Sets the times of conditions that have none.
void SetConditionTimes(const std::string& now, const json& before, json& request) {
  if (!request["status"].contains("conditions")) return;
  for (json& condition : request["status"]["conditions"]) {
    const FieldRef changed(condition);
    if (!changed["lastUpdateTime"].exists()) condition["lastUpdateTime"] = now;
    if (changed["lastTransitionTime"].exists()) continue;
    condition["lastTransitionTime"] = now;
    for (const FieldRef& old : FieldRef(before)["status"]["conditions"].items()) {
      const bool is_same =
          old["type"].is(changed["type"].value()) && old["status"].is(changed["status"].value());
      if (is_same) condition["lastTransitionTime"] = old["lastTransitionTime"].value();
    }
  }
}

void AssignRequestStatusFields(ServerContext& context, std::string_view subresource,
                               const json& before, json& request) {
  SetConditionTimes(context.Now(), before, request);
  if (subresource == "approval") {
    const FieldRef certificate = FieldRef(before)["status"]["certificate"];
    request["status"].erase("certificate");
    if (certificate.exists()) request["status"]["certificate"] = certificate.value();
    return;
  }
  // Only the subresource "approval" adds these conditions.
  FieldErrors errors;
  for (const char* type : {"Approved", "Denied"}) {
    if (HasConditionOfType(before, type) || !HasConditionOfType(request, type)) continue;
    errors.push_back(ForbiddenField(
        "status.conditions", "updates may not add a condition of type " + json(type).dump()));
  }
  if (errors.empty()) return;
  Resource resource;
  resource.group = "certificates.k8s.io";
  resource.kind = "CertificateSigningRequest";
  throw Invalid(resource, FieldRef(request)["metadata"]["name"].text(), errors);
}

}  // namespace

void AddCertificateStrategies(StrategiesByKind& strategies) {
  KindStrategy& requests = strategies["certificatesigningrequests.certificates.k8s.io"];
  requests.validate_name = &ValidatePathSegment;
  requests.has_managed_fields = false;
  requests.status_metadata = KindStrategy::StatusMetadata::kAll;
  requests.assign_creator = &AssignRequester;
  requests.assign_fields = &AssignRequestFields;
  requests.assign_status_fields = &AssignRequestStatusFields;
  requests.validate = &ValidateCertificateSigningRequest;
  requests.validate_status = &ValidateRequestStatus;
  requests.validate_update = &ValidateRequestUpdate;
}

}  // namespace kopp::apiserver
