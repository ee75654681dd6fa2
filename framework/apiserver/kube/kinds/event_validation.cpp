#include "kinds/event_validation.hpp"

#include "api/event_conversion.hpp"
#include "decoding/defaults.hpp"
#include "schema/field_validation.hpp"
#include "strategy/kind_strategy.hpp"

#include <string>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxFieldLength = 128;
constexpr std::size_t kMaxMessageLength = 1024;

void ValidateMaxLength(const FieldRef& text, std::size_t max, FieldErrors& errors) {
  if (text.text().size() <= max) return;
  errors.push_back(
      InvalidValue(text.path(), "", "can have at most " + std::to_string(max) + " characters"));
}

/// Validates the rules that apply only to an Event with eventTime. `reporter` is the name that the
/// group gives the field with the reporting controller.
void ValidateEventTimeRules(const FieldRef& event, const char* reporter, FieldErrors& errors) {
  const std::string name = event["reportingComponent"].text();
  if (name.empty()) errors.push_back(Required(reporter, ""));
  for (const std::string& detail : ValidateQualifiedName(name)) {
    errors.push_back(InvalidValue(reporter, name, detail));
  }
  for (const char* field : {"reportingInstance", "action", "reason"}) {
    ValidateRequired(event[field], errors);
    ValidateMaxLength(event[field], kMaxFieldLength, errors);
  }
  ValidateMaxLength(event["message"], kMaxMessageLength, errors);
}

void ValidateEventNamespace(const FieldRef& event, bool has_event_time, FieldErrors& errors) {
  const std::string ns = event["metadata"]["namespace"].text();
  const FieldRef object_namespace = event["involvedObject"]["namespace"];
  const bool matches = object_namespace.text().empty()
                           ? ns == "default" || (has_event_time && ns == "kube-system")
                           : has_event_time || object_namespace.is(ns);
  if (matches) return;
  errors.push_back(InvalidValue(object_namespace.path(), object_namespace.text(),
                                "does not match event.namespace"));
}

/// Validates the rules of both groups.
void ValidateEvent(const json& object, const char* reporter, FieldErrors& errors) {
  const FieldRef event(object);
  const bool has_event_time = event["eventTime"].exists();
  ValidateEventNamespace(event, has_event_time, errors);
  if (has_event_time) ValidateEventTimeRules(event, reporter, errors);
}

void ValidateCoreEvent(const json& object, FieldErrors& errors) {
  ValidateEvent(object, "reportingComponent", errors);
}

void ValidateSeries(const FieldRef& series, FieldErrors& errors) {
  if (!series.exists()) return;
  if (series["count"].number() < 2)
    errors.push_back(InvalidValue(series["count"].path(), "", "should be at least 2"));
  ValidateRequired(series["lastObservedTime"], errors);
}

/// Validates the additional rules for a new Event of the group events.k8s.io.
void ValidateNewEventsGroupEvent(const json& object, FieldErrors& errors) {
  const FieldRef event(object);
  ValidateSeries(event["series"], errors);
  if (!event["eventTime"].exists()) errors.push_back(Required("eventTime", ""));
  const std::string type = event["type"].text();
  if (type != "Normal" && type != "Warning") {
    errors.push_back(InvalidValue("type", "", "has invalid value: " + type));
  }
  for (const char* deprecated_field : {"firstTimestamp", "lastTimestamp", "count"}) {
    if (event[deprecated_field].exists())
      errors.push_back(InvalidValue(deprecated_field, "", "needs to be unset"));
  }
  if (event["source"].size() > 0) {
    errors.push_back(InvalidValue("source", "", "needs to be unset"));
  }
}

void ValidateEventsGroupUpdate(const json& before, const json& after, FieldErrors& errors) {
  const FieldRef old_event(before);
  const FieldRef new_event(after);
  if (!new_event["series"].is(old_event["series"].value()))
    ValidateSeries(new_event["series"], errors);
  for (const std::string field :
       {"involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count",
        "reason", "type", "eventTime", "action", "related"}) {
    const bool is_time = field.ends_with("Time") || field.ends_with("Timestamp");
    (is_time ? &ValidateImmutableJson : &ValidateImmutable)(old_event[field], new_event[field],
                                                            errors);
  }
  // The name in the group events.k8s.io.
  const FieldRef controller(new_event["reportingComponent"].value(), "reportingController");
  ValidateImmutable(old_event["reportingComponent"], controller, errors);
  ValidateImmutable(old_event["reportingInstance"], new_event["reportingInstance"], errors);
}

}  // namespace

void AddEventStrategies(StrategiesByKind& strategies) {
  static const Schema& event_schema = *Schemas::BuiltIn().Find("Event");
  Resource events_group;
  events_group.group = "events.k8s.io";
  KindStrategy& core_strategy = strategies["events"];
  KindStrategy& events_group_strategy = strategies["events.events.k8s.io"];
  for (KindStrategy* strategy : {&core_strategy, &events_group_strategy})
    strategy->finalizer_domain = KindStrategy::FinalizerDomain::kOptional;
  core_strategy.allows_create_on_update = true;
  core_strategy.validate = &ValidateCoreEvent;
  events_group_strategy.allows_create_on_update = true;
  events_group_strategy.apply_defaults = [events_group](json& object) {
    json event = ToStorageVersion(events_group, std::move(object));
    ApplyBuiltInDefaults(event, event_schema);
    object = FromStorageVersion(events_group, std::move(event));
  };
  events_group_strategy.validate = [events_group](const json& object, FieldErrors& errors) {
    ValidateEvent(ToStorageVersion(events_group, object), "reportingController", errors);
  };
  events_group_strategy.validate_create = [events_group](const json& object, FieldErrors& errors) {
    ValidateNewEventsGroupEvent(ToStorageVersion(events_group, object), errors);
  };
  events_group_strategy.validate_update = [events_group](const json& before, const json& after,
                                                         FieldErrors& errors) {
    ValidateEventsGroupUpdate(ToStorageVersion(events_group, before),
                              ToStorageVersion(events_group, after), errors);
  };
}

}  // namespace kopp::apiserver
