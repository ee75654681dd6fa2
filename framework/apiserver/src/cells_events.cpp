// The cells of Events, which two groups give different names to the same fields of.
#include "age.hpp"
#include "cells.hpp"

#include <algorithm>
#include <cctype>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// In the words of v1 or of events.k8s.io/v1.
std::string EitherAt(const json& event, const std::string& one, const std::string& other) {
  return TextAt(event, one, TextAt(event, other));
}

std::string FirstSeen(const json& event) {
  const std::string first = EitherAt(event, "/firstTimestamp", "/deprecatedFirstTimestamp");
  return first.empty() ? TextAt(event, "/eventTime") : first;
}

std::string LastSeen(const json& event) {
  if (At(event, "/series").is_object()) return TextAt(event, "/series/lastObservedTime");
  const std::string last = EitherAt(event, "/lastTimestamp", "/deprecatedLastTimestamp");
  return last.empty() ? FirstSeen(event) : last;
}

/// "pod/NAME".
json Object(const json& event, const std::string&) {
  std::string kind = EitherAt(event, "/involvedObject/kind", "/regarding/kind");
  std::transform(kind.begin(), kind.end(), kind.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string name = EitherAt(event, "/involvedObject/name", "/regarding/name");
  return name.empty() ? kind : kind + '/' + name;
}

json Subobject(const json& event, const std::string&) {
  return EitherAt(event, "/involvedObject/fieldPath", "/regarding/fieldPath");
}

json Source(const json& event, const std::string&) {
  std::string source = EitherAt(event, "/source/component", "/deprecatedSource/component");
  std::string where = EitherAt(event, "/source/host", "/deprecatedSource/host");
  if (source.empty()) source = EitherAt(event, "/reportingComponent", "/reportingController");
  if (where.empty()) where = TextAt(event, "/reportingInstance");
  return where.empty() ? source : source + ", " + where;
}

json Message(const json& event, const std::string&) {
  const std::string message = EitherAt(event, "/message", "/note");
  constexpr const char* kSpaces = " \t\r\n\v\f";
  const auto first = message.find_first_not_of(kSpaces);
  if (first == std::string::npos) return "";
  return message.substr(first, message.find_last_not_of(kSpaces) - first + 1);
}

json Count(const json& event, const std::string&) {
  if (At(event, "/series").is_object()) return NumberAt(event, "/series/count");
  const std::int64_t count = NumberAt(event, "/count") + NumberAt(event, "/deprecatedCount");
  return std::max<std::int64_t>(count, 1);
}

}  // namespace

CellsOfKinds EventCells() {
  const Cell first_seen = [](const json& event, const std::string& now) {
    return AgeOf(FirstSeen(event), now);
  };
  const Cell last_seen = [](const json& event, const std::string& now) {
    return AgeOf(LastSeen(event), now);
  };
  return {{"Event",
           {last_seen, Text("/type"), Text("/reason"), Object, Subobject, Source, Message,
            first_seen, Count, Name()}}};
}

}  // namespace kopp::apiserver
