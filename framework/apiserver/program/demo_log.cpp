#include "demo_log.hpp"

#include "json/schema_names.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ostream>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kColumns = 79;  // some terminals wrap after the 80th column
constexpr std::size_t kTimeWidth = 9;
constexpr std::size_t kUserWidth = 17;
constexpr std::size_t kVerbWidth = 6;
constexpr std::size_t kDurationWidth = 8;
constexpr std::size_t kMessageIndent = kTimeWidth + 2 + kUserWidth + 2;
constexpr int kMaxMessageLines = 6;

std::int64_t Code(const json& entry) { return IntegerAt(entry, "/responseStatus/code"); }

// Replaces bytes that are not printable ASCII, because clients choose the names, and shortens the
// text to `width`.
std::string Truncate(std::string text, std::size_t width) {
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  if (text.size() > width) text.replace(width - 2, std::string::npos, "..");
  return text;
}

std::string PadRight(const std::string& text, std::size_t width) {
  std::string cell = Truncate(text, width);
  cell.resize(width, ' ');
  return cell;
}

std::string PadLeft(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

// Returns the user of the request. "you" is the administrator, whose kubeconfig the demo prints.
std::string UserOf(const json& entry) {
  std::string user = StringAt(entry, "/user/username");
  if (user == "system:admin") return "you";
  if (user.starts_with("system:serviceaccount:")) return user.substr(user.rfind(':') + 1);
  return user;
}

// Returns "NAMESPACE/NAME", or "NAME" in the namespace "default".
std::string QualifiedName(const std::string& ns, const std::string& name) {
  if (name.empty()) return ns;
  return ns.empty() || ns == "default" ? name : ns + '/' + name;
}

ObjectReference ObjectOf(const json& entry) {
  const std::string name = StringAt(entry, "/objectRef/name");
  return {.resource = StringAt(entry, "/objectRef/resource"),
          .ns = StringAt(entry, "/objectRef/namespace"),
          .name = name.empty() ? StringAt(entry, "/responseObject/metadata/name") : name};
}

// Describes an Event by its reason and its object, because its name is not informative.
std::string DescribeEvent(const json& entry) {
  const json& event = ValueAt(entry, "/responseObject");
  const json& object =
      ValueAt(event, event.contains("regarding") ? "/regarding" : "/involvedObject");
  if (object.is_null()) return "events";
  return "event " + StringAt(entry, "/responseObject/reason") + " of " + StringAt(object, "/kind") +
         ' ' + QualifiedName(StringAt(object, "/namespace"), StringAt(object, "/name"));
}

std::string DescribeObject(const json& entry) {
  const ObjectReference object = ObjectOf(entry);
  if (object.resource.empty()) return StringAt(entry, "/requestURI");
  if (object.resource == "events" && Code(entry) < 300) return DescribeEvent(entry);
  const std::string subresource = StringAt(entry, "/objectRef/subresource");
  return object.resource + (subresource.empty() ? "" : '/' + subresource) + ' ' +
         QualifiedName(object.ns, object.name);
}

// Returns the microseconds since midnight of a time such as "2026-01-02T03:04:05.000006Z".
std::int64_t MicrosecondsOfDay(const std::string& time) {
  int hours = 0;
  int minutes = 0;
  int seconds = 0;
  int micros = 0;
  if (std::sscanf(time.c_str(), "%*10sT%2d:%2d:%2d.%6dZ",  // NOLINT: the server writes the format
                  &hours, &minutes, &seconds, &micros) != 4) {
    return 0;
  }
  return ((hours * 60 + minutes) * 60 + seconds) * std::int64_t{1'000'000} + micros;
}

std::string DurationOf(const json& entry) {
  constexpr std::int64_t kDay = 86'400'000'000;
  const std::int64_t duration = MicrosecondsOfDay(StringAt(entry, "/stageTimestamp")) -
                                MicrosecondsOfDay(StringAt(entry, "/requestReceivedTimestamp")) +
                                kDay;
  char text[32];
  std::snprintf(text, sizeof text, "%.2f ms", static_cast<double>(duration % kDay) / 1000);
  return text;
}

bool IsPrinted(const json& entry) {
  const std::string verb = StringAt(entry, "/verb");
  const bool reads = verb == "get" || verb == "list" || verb == "watch";
  const std::int64_t code = Code(entry);
  if (reads && verb != "watch") return code >= 400 && code != 404;
  const bool renews = StringAt(entry, "/objectRef/resource") == "leases" && verb != "create";
  return !renews || code >= 400;
}

// Returns the message of a failed request as lines below that of the request, with line breaks
// before them.
std::string MessageLines(const json& entry) {
  constexpr std::size_t kWidth = kColumns - kMessageIndent;
  if (Code(entry) < 400) return "";
  std::string rest = StringAt(entry, "/responseStatus/message");
  std::string text;
  const auto append = [&](const std::string& line) {
    text += '\n' + std::string(kMessageIndent, ' ') + Truncate(line, kWidth);
  };
  for (int i = 1; i < kMaxMessageLines && rest.size() > kWidth; ++i) {
    const auto space = rest.find_last_of(" \n", kWidth);
    const bool has_space = space != std::string::npos && space > 0;
    append(rest.substr(0, has_space ? space : kWidth));
    rest.erase(0, has_space ? space + 1 : kWidth);
  }
  if (!rest.empty()) append(rest);
  return text;
}

}  // namespace

std::string DemoLogLine(const json& entry, std::size_t width) {
  if (!IsPrinted(entry)) return "";
  std::string verb = StringAt(entry, "/verb");
  if (verb == "deletecollection") verb = "delete";
  // A server-side apply that creates the object has status 201.
  if (verb == "patch" && Code(entry) == 201) verb = "create";
  std::string object = DescribeObject(entry);
  if (Code(entry) >= 400) {
    object = std::to_string(Code(entry)) + ' ' + StringAt(entry, "/responseStatus/reason") + ": " +
             object;
  }
  const std::size_t object_width = width - (kUserWidth + 2 + kVerbWidth + 2 + 1 + kDurationWidth);
  return PadRight(UserOf(entry), kUserWidth) + "  " + PadRight(verb, kVerbWidth) + "  " +
         PadRight(object, object_width) + ' ' + PadLeft(DurationOf(entry), kDurationWidth);
}

DemoLog::DemoLog(std::ostream& out, Options options) : out_(out), options_(std::move(options)) {}

void DemoLog::Start() {
  auto state = state_.Lock();
  state->is_started = true;
  state->start_time = Clock::Real().Now();
  const std::size_t object_width =
      kColumns - kTimeWidth - (2 + kUserWidth + 2 + kVerbWidth + 2 + 1 + kDurationWidth);
  out_ << PadLeft("time", kTimeWidth) << "  " << PadRight("user", kUserWidth) << "  "
       << PadRight("verb", kVerbWidth) << "  " << PadRight("object", object_width) << ' '
       << PadLeft("duration", kDurationWidth) << '\n'
       << std::flush;
}

void DemoLog::LogRequest(std::string_view entry) {
  const json event = json::parse(entry);
  auto state = state_.Lock();
  if (!state->is_started) return;
  UpdateState(*state, event);
  const std::string line = DemoLogLine(event, kColumns - kTimeWidth - 2);
  if (line.empty()) return;
  const std::chrono::duration<double> elapsed = Clock::Real().Now() - state->start_time;
  char time[32];
  std::snprintf(time, sizeof time, "%.3f s", elapsed.count());
  const std::string_view color = ColorOf(event);
  out_ << color << PadLeft(time, kTimeWidth) << "  " << line << MessageLines(event)
       << (color.empty() ? "" : "\x1b[0m") << '\n'
       << std::flush;
}

void DemoLog::Print(std::string_view text) {
  const auto state = state_.Lock();
  out_ << text << std::flush;
}

void DemoLog::UpdateState(State& state, const json& entry) const {
  const bool by_program = StringAt(entry, "/user/username") == options_.program_user;
  if (!by_program || Code(entry) >= 300) return;
  const std::string verb = StringAt(entry, "/verb");
  ObjectReference object = ObjectOf(entry);
  state.last_activity = Clock::Real().Now();
  auto& watched = state.watched_resources;
  if (verb == "watch" &&
      std::find(watched.begin(), watched.end(), object.resource) == watched.end()) {
    watched.push_back(object.resource);
  }
  const bool is_minor = object.resource == "events" || object.resource == "leases";
  if (verb != "get" && verb != "list" && verb != "watch" && verb != "delete" &&
      !state.first_object && !is_minor && StringAt(entry, "/objectRef/subresource").empty()) {
    state.first_object = std::move(object);
  }
}

std::string_view DemoLog::ColorOf(const json& entry) const {
  if (!options_.use_colors) return "";
  if (Code(entry) >= 400) return "\x1b[31m";
  return StringAt(entry, "/user/username") == options_.program_user ? "\x1b[32m" : "";
}

bool DemoLog::is_output_open() const {
  const auto state = state_.Lock();
  return out_.good();
}
std::vector<std::string> DemoLog::watched_resources() const {
  return state_.Lock()->watched_resources;
}
std::optional<ObjectReference> DemoLog::first_object() const { return state_.Lock()->first_object; }
TimePoint DemoLog::last_activity() const { return state_.Lock()->last_activity; }

}  // namespace kopp::apiserver
