#include "pods/container_handler_validation.hpp"

#include "fields/field_rules.hpp"
#include "pods/pod_context.hpp"
#include "schema/field_validation.hpp"
#include "schema/pattern.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace kopp::apiserver {
namespace {

/// What a probe or the lifecycle of a container calls.
using HandlerKinds = std::vector<const char*>;

void ValidateExecHandler(const FieldRef& exec, FieldErrors& errors) {
  ValidateNotEmpty(exec["command"], errors);
}

void ValidateHttpHeaders(const FieldRef& headers, FieldErrors& errors) {
  static const Pattern name_pattern("^[-A-Za-z0-9]+$");
  for (const FieldRef& header : headers.items()) {
    const std::string name = header["name"].text();
    if (name_pattern.FullMatch(name)) continue;
    errors.push_back(InvalidValue(headers.path(), name,
                                  "a valid HTTP header must consist of alphanumeric characters or "
                                  "'-' (e.g. 'X-Header-Name', regex used for validation is "
                                  "'[-A-Za-z0-9]+')"));
  }
}

void ValidateHttpHandler(const FieldRef& http, FieldErrors& errors) {
  ValidateNotEmpty(http["path"], errors);
  ValidatePortNumberOrName(http["port"], errors);
  ValidateEnum(http["scheme"], {"HTTP", "HTTPS"}, errors);
  ValidateHttpHeaders(http["httpHeaders"], errors);
}

void ValidateSleepHandler(const FieldRef& sleep, const FieldRef& grace, FieldErrors& errors) {
  const std::int64_t seconds = sleep["seconds"].number();
  if (!grace.exists() || (seconds >= 0 && seconds <= grace.number())) return;
  errors.push_back(
      InvalidValue(sleep.path(), seconds,
                   "must be non-negative and less than terminationGracePeriodSeconds (" +
                       std::to_string(grace.number()) + ')'));
}

void ValidateHandlerKind(const std::string& kind, const FieldRef& handler,
                         const PodContext& context, FieldErrors& errors) {
  if (kind == "exec") return ValidateExecHandler(handler, errors);
  if (kind == "httpGet") return ValidateHttpHandler(handler, errors);
  if (kind == "sleep") {
    return ValidateSleepHandler(handler, context.spec["terminationGracePeriodSeconds"], errors);
  }
  ValidatePortNumberOrName(handler["port"], errors);
}

/// Requires exactly one of `kinds`.
void ValidateHandler(const FieldRef& owner, const HandlerKinds& kinds, const PodContext& context,
                     FieldErrors& errors) {
  bool has_handler = false;
  for (const char* kind : kinds) {
    const FieldRef handler = owner[kind];
    if (!handler.exists()) continue;
    if (has_handler) {
      errors.push_back(ForbiddenField(handler.path(), "may not specify more than 1 handler type"));
    } else {
      ValidateHandlerKind(kind, handler, context, errors);
    }
    has_handler = true;
  }
  if (!has_handler) errors.push_back(Required(owner.path(), "must specify a handler type"));
}

void ValidateProbe(const FieldRef& probe, const PodContext& context, FieldErrors& errors) {
  ValidateHandler(probe, {"exec", "httpGet", "tcpSocket", "grpc"}, context, errors);
  for (const char* number : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                             "successThreshold", "failureThreshold"}) {
    ValidateNonNegative(probe[number], errors);
  }
  const FieldRef grace = probe["terminationGracePeriodSeconds"];
  if (grace.exists() && grace.number() <= 0)
    errors.push_back(InvalidValue(grace.path(), grace.value(), "must be greater than 0"));
}

/// Validates a probe whose first success is decisive.
void ValidateProbeWithOneSuccess(const FieldRef& probe, const PodContext& context,
                                 FieldErrors& errors) {
  if (!probe.exists()) return;
  ValidateProbe(probe, context, errors);
  const FieldRef threshold = probe["successThreshold"];
  if (threshold.number() != 1)
    errors.push_back(InvalidValue(threshold.path(), threshold.number(), "must be 1"));
}

void ValidateReadinessProbe(const FieldRef& probe, const PodContext& context, FieldErrors& errors) {
  if (!probe.exists()) return;
  ValidateProbe(probe, context, errors);
  const FieldRef grace = probe["terminationGracePeriodSeconds"];
  if (!grace.exists()) return;
  errors.push_back(
      InvalidValue(grace.path(), grace.value(), "must not be set for readinessProbes"));
}

}  // namespace

void ValidateContainerProbes(const FieldRef& container, const PodContext& context,
                             FieldErrors& errors) {
  ValidateProbeWithOneSuccess(container["livenessProbe"], context, errors);
  ValidateReadinessProbe(container["readinessProbe"], context, errors);
  ValidateProbeWithOneSuccess(container["startupProbe"], context, errors);
}

void ValidateLifecycle(const FieldRef& lifecycle, const PodContext& context, FieldErrors& errors) {
  for (const char* hook : {"postStart", "preStop"}) {
    if (!lifecycle[hook].exists()) continue;
    ValidateHandler(lifecycle[hook], {"exec", "httpGet", "tcpSocket", "sleep"}, context, errors);
  }
}

}  // namespace kopp::apiserver
