// The cells of Events. The API groups "" and events.k8s.io have different names for the same
// fields.
#include "printers/printers.hpp"

#include <algorithm>
#include <cctype>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns the field of v1 or, if it is empty, the field of events.k8s.io/v1.
std::string FirstStringAt(const json& event, const std::string& one, const std::string& other) {
  return StringAt(event, one, StringAt(event, other));
}

std::string FirstSeen(const json& event) {
  const std::string first = FirstStringAt(event, "/firstTimestamp", "/deprecatedFirstTimestamp");
  return first.empty() ? StringAt(event, "/eventTime") : first;
}

std::string LastSeen(const json& event) {
  if (ValueAt(event, "/series").is_object()) return StringAt(event, "/series/lastObservedTime");
  const std::string last = FirstStringAt(event, "/lastTimestamp", "/deprecatedLastTimestamp");
  return last.empty() ? FirstSeen(event) : last;
}

/// Returns the object of an Event: "pod/NAME".
json Object(const json& event, const std::string&) {
  std::string kind = FirstStringAt(event, "/involvedObject/kind", "/regarding/kind");
  std::transform(kind.begin(), kind.end(), kind.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string name = FirstStringAt(event, "/involvedObject/name", "/regarding/name");
  return name.empty() ? kind : kind + '/' + name;
}

json Subobject(const json& event, const std::string&) {
  return FirstStringAt(event, "/involvedObject/fieldPath", "/regarding/fieldPath");
}

json Source(const json& event, const std::string&) {
  std::string source = FirstStringAt(event, "/source/component", "/deprecatedSource/component");
  std::string where = FirstStringAt(event, "/source/host", "/deprecatedSource/host");
  if (source.empty()) source = FirstStringAt(event, "/reportingComponent", "/reportingController");
  if (where.empty()) where = StringAt(event, "/reportingInstance");
  return where.empty() ? source : source + ", " + where;
}

json Message(const json& event, const std::string&) {
  const std::string message = FirstStringAt(event, "/message", "/note");
  constexpr const char* kSpaces = " \t\r\n\v\f";
  const auto first = message.find_first_not_of(kSpaces);
  if (first == std::string::npos) return "";
  return message.substr(first, message.find_last_not_of(kSpaces) - first + 1);
}

json Count(const json& event, const std::string&) {
  if (ValueAt(event, "/series").is_object()) return IntegerAt(event, "/series/count");
  const std::int64_t count = IntegerAt(event, "/count") + IntegerAt(event, "/deprecatedCount");
  return std::max<std::int64_t>(count, 1);
}

}  // namespace

CellsByKind EventCells() {
  const Cell first_seen = [](const json& event, const std::string& now) {
    return FormatAge(FirstSeen(event), now);
  };
  const Cell last_seen = [](const json& event, const std::string& now) {
    return FormatAge(LastSeen(event), now);
  };
  return {{"Event",
           {last_seen, Text("/type"), Text("/reason"), Object, Subobject, Source, Message,
            first_seen, Count, Name()}}};
}

}  // namespace kopp::apiserver
