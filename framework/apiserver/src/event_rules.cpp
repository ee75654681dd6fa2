#include "checks.hpp"
#include "defaults.hpp"
#include "event_faces.hpp"
#include "rules_by_kind.hpp"

#include <string>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxWord = 128;
constexpr std::size_t kMaxMessage = 1024;

void CheckLength(const Part& text, std::size_t max, Causes& causes) {
  if (text.text().size() <= max) return;
  causes.push_back(
      InvalidValue(text.path(), "", "can have at most " + std::to_string(max) + " characters"));
}

/// What new Events have to tell, which know when they happened.
void CheckTimed(const Part& event, const std::string& reporter, Causes& causes) {
  CheckGiven(event["reportingComponent"], causes);
  for (const std::string& why : QualifiedNameProblems(event["reportingComponent"].text())) {
    causes.push_back(InvalidValue(reporter, event["reportingComponent"].text(), why));
  }
  for (const char* word : {"reportingInstance", "action", "reason"}) {
    CheckGiven(event[word], causes);
    CheckLength(event[word], kMaxWord, causes);
  }
  CheckLength(event["message"], kMaxMessage, causes);
}

void CheckNamespace(const Part& event, bool timed, Causes& causes) {
  const std::string ns = event["metadata"]["namespace"].text();
  const Part about = event["involvedObject"]["namespace"];
  const bool fits = about.text().empty() ? ns == "default" || (timed && ns == "kube-system")
                                         : timed || about.is(ns);
  if (fits) return;
  causes.push_back(InvalidValue(about.path(), about.text(), "does not match event.namespace"));
}

void CheckKept(const json& object, Causes& causes) {
  const Part event(object);
  const bool timed = event["eventTime"].exists();
  CheckNamespace(event, timed, causes);
  if (timed) CheckTimed(event, "reportingComponent", causes);
}

/// The newer group asks for more.
void CheckNew(const json& object, Causes& causes) {
  const Part event(object);
  CheckKept(object, causes);
  if (!event["eventTime"].exists()) causes.push_back(Required("eventTime", ""));
  const std::string type = event["type"].text();
  if (type != "Normal" && type != "Warning") {
    causes.push_back(InvalidValue("type", "", "has invalid value: " + type));
  }
  for (const char* old : {"firstTimestamp", "lastTimestamp", "count"}) {
    if (event[old].exists()) causes.push_back(InvalidValue(old, "", "needs to be unset"));
  }
  if (event["source"].size() > 0) {
    causes.push_back(InvalidValue("source", "", "needs to be unset"));
  }
}

void CheckNewChange(const json& before, const json& after, Causes& causes) {
  const Part was(before);
  const Part is(after);
  for (const char* field : {"involvedObject", "reason", "message", "source", "firstTimestamp",
                            "lastTimestamp", "count", "reason", "type", "eventTime", "action",
                            "related", "reportingComponent", "reportingInstance"}) {
    CheckUnchanged(was[field], is[field], causes);
  }
}

}  // namespace

void AddEventRules(RulesByKind& rules) {
  static const Schema& kept = *Schemas::BuiltIn().Find("Event");
  Resource newer;
  newer.group = "events.k8s.io";
  KindRules& events = rules["events"];
  events.created_by_update = true;
  events.check = &CheckKept;
  KindRules& others = rules["events.events.k8s.io"];
  others.created_by_update = true;
  others.complete = [newer](json& object) {
    json event = ToKept(newer, std::move(object));
    FillIn(event, kept);
    object = FromKept(newer, std::move(event));
  };
  others.check = [newer](const json& object, Causes& causes) {
    CheckNew(ToKept(newer, object), causes);
  };
  others.check_change = [newer](const json& before, const json& after, Causes& causes) {
    CheckNewChange(ToKept(newer, before), ToKept(newer, after), causes);
  };
}

}  // namespace kopp::apiserver
