#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/cache.hpp>
#include <kopp/client.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer/fields.hpp>
#include <kopp/log.hpp>
#include <kopp/webhook/admission_operation.hpp>
#include <kopp/webhook/user_info.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// A write that the API server asks a webhook about: AdmissionRequest of admission.k8s.io/v1. The
/// members have the names of the fields there.
struct AdmissionRequest {
  struct GroupVersionKind {
    std::string group = {};
    std::string version = {};
    std::string kind = {};
  };
  struct GroupVersionResource {
    std::string group = {};
    std::string version = {};
    std::string resource = {};
  };

  std::string uid = {};                       ///< of the request, not of the object
  GroupVersionKind kind = {};                 ///< of `object`
  GroupVersionResource resource = {};         ///< "foos"
  std::string subResource = {};               ///< "status", "scale" …; empty: the object itself
  GroupVersionKind requestKind = {};          ///< the kind that the client sent; see matchPolicy
  GroupVersionResource requestResource = {};  ///< the resource that the client addressed
  std::string requestSubResource = {};
  std::string name = {};  ///< empty for a create with generateName
  std::string ns = {};    ///< the field `namespace`; empty for cluster-scoped objects
  AdmissionOperation operation = AdmissionOperation::kCreate;
  UserInfo userInfo = {};
  RawJson object = {};     ///< the new object; empty for a delete
  RawJson oldObject = {};  ///< the stored object; empty for a create
  bool dryRun = false;     ///< the object will not be stored: cause no side effects
  RawJson options = {};    ///< CreateOptions, UpdateOptions, PatchOptions or DeleteOptions
};

KOPP_DECLARE_FIELDS(AdmissionRequest::GroupVersionKind)
KOPP_DECLARE_FIELDS(AdmissionRequest::GroupVersionResource)
KOPP_DECLARE_FIELDS(AdmissionRequest)

/// The answer of a webhook. `{}` allows the request.
struct AdmissionResponse {
  bool allowed = true;
  /// The reason of a denial. If the code is 0, the client gets 403.
  Status status = {};
  /// A JSON Patch (RFC 6902) of AdmissionRequest::object. Empty: none. Only for mutating webhooks.
  std::string patch = {};

  /// Returns a denial.
  [[nodiscard]] static AdmissionResponse Denied(std::string message, int code = 403);
  /// Returns an answer that changes the object. Both texts are JSON. Throws std::invalid_argument
  /// if one is not.
  [[nodiscard]] static AdmissionResponse Changed(std::string_view object, std::string_view changed);
};

/// Thrown by the functions of a webhook to deny the request.
class AdmissionDenied : public std::runtime_error {
 public:
  /// The client gets `message` after `admission webhook "NAME" denied the request: `. `code` is the
  /// HTTP status, of 400 or more.
  explicit AdmissionDenied(const std::string& message, int code = 403)
      : std::runtime_error(message), code_(code) {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

/// Passed to the functions of a webhook. Valid until the function returns. Not thread-safe.
struct AdmissionContext {
  const AdmissionRequest& request;
  /// Reads and writes at the API server. Its calls are cancelled with `stop`. A read costs the
  /// client of the write time: prefer `cache`.
  const Client& client;
  /// Local copies. They may be older than the request. Reads wait for the first list, or `stop`.
  const Cache& cache;
  /// Adds `webhook`, `requestID`, `namespace` and `name` to each line.
  Logger log;
  /// A stop is requested when the timeout of the API server, which is part of the request, has
  /// passed since the call began, and when the program stops. A std::stop_callback must not block.
  std::stop_token stop = {};
  Clock& clock = Clock::Real();  ///< the clock of the manager; tests simulate it

  std::vector<std::string> warnings = {};                     ///< see Warn
  std::map<std::string, std::string> audit_annotations = {};  ///< see Audit

  /// Shows `text` to the client, whether the request is allowed or denied: kubectl prints
  /// "Warning: TEXT". Keep it below 120 characters.
  void Warn(std::string text) { warnings.push_back(std::move(text)); }
  /// Adds an annotation to the event of the request in the audit log of the API server. The key has
  /// the name of the webhook as its prefix there.
  void Audit(const std::string& key, std::string value) {
    audit_annotations[key] = std::move(value);
  }
};

/// Answers an admission request. Several threads call it at the same time. It may block. If it
/// throws, the request is denied: see WebhookBuilder.
using AdmissionHandler =
    std::function<AdmissionResponse(const AdmissionRequest& request, AdmissionContext& context)>;

}  // namespace kopp
