#include "account.hpp"

#include "at.hpp"

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

constexpr std::size_t kColumns = 79;  // in the 80th some terminals begin a new line
constexpr std::size_t kSince = 9;
constexpr std::size_t kWho = 17;
constexpr std::size_t kVerb = 6;
constexpr std::size_t kTook = 8;

std::int64_t Code(const json& entry) { return NumberAt(entry, "/responseStatus/code"); }

// Printable ASCII only, and no longer than `width`: names of users are anybody's.
std::string Fit(std::string text, std::size_t width) {
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  if (text.size() > width) text.replace(width - 2, std::string::npos, "..");
  return text;
}

std::string Cell(const std::string& text, std::size_t width) {
  std::string cell = Fit(text, width);
  cell.resize(width, ' ');
  return cell;
}

std::string Right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

// "you" is who has the kubeconfig that the demo writes.
std::string Who(const json& entry) {
  std::string user = TextAt(entry, "/user/username");
  if (user == "system:admin") return "you";
  if (user.starts_with("system:serviceaccount:")) return user.substr(user.rfind(':') + 1);
  return user;
}

// As on a command line, where the namespace "default" goes without saying.
std::string Qualified(const std::string& ns, const std::string& name) {
  if (name.empty()) return ns;
  return ns.empty() || ns == "default" ? name : ns + '/' + name;
}

Named ObjectOf(const json& entry) {
  const std::string name = TextAt(entry, "/objectRef/name");
  return {.resource = TextAt(entry, "/objectRef/resource"),
          .ns = TextAt(entry, "/objectRef/namespace"),
          .name = name.empty() ? TextAt(entry, "/responseObject/metadata/name") : name};
}

// An Event's own name says nothing: what it is about does.
std::string AboutEvent(const json& entry) {
  const json& answer = At(entry, "/responseObject");
  const json& object = At(answer, answer.contains("regarding") ? "/regarding" : "/involvedObject");
  if (object.is_null()) return "events";
  return "event " + TextAt(entry, "/responseObject/reason") + " of " + TextAt(object, "/kind") +
         ' ' + Qualified(TextAt(object, "/namespace"), TextAt(object, "/name"));
}

std::string What(const json& entry) {
  const Named object = ObjectOf(entry);
  if (object.resource.empty()) return TextAt(entry, "/requestURI");
  if (object.resource == "events" && Code(entry) < 300) return AboutEvent(entry);
  const std::string part = TextAt(entry, "/objectRef/subresource");
  return object.resource + (part.empty() ? "" : '/' + part) + ' ' +
         Qualified(object.ns, object.name);
}

// Of "2026-01-02T03:04:05.000006Z", since midnight.
std::int64_t Microseconds(const std::string& time) {
  int hours = 0;
  int minutes = 0;
  int seconds = 0;
  int micros = 0;
  if (std::sscanf(time.c_str(), "%*10sT%2d:%2d:%2d.%6dZ",  // NOLINT: digits, as we write them
                  &hours, &minutes, &seconds, &micros) != 4) {
    return 0;
  }
  return ((hours * 60 + minutes) * 60 + seconds) * std::int64_t{1'000'000} + micros;
}

std::string Took(const json& entry) {
  constexpr std::int64_t kDay = 86'400'000'000;
  const std::int64_t took = Microseconds(TextAt(entry, "/stageTimestamp")) -
                            Microseconds(TextAt(entry, "/requestReceivedTimestamp")) + kDay;
  char text[32];
  std::snprintf(text, sizeof text, "%.2f ms", static_cast<double>(took % kDay) / 1000);
  return text;
}

bool IsTold(const json& entry) {
  const std::string verb = TextAt(entry, "/verb");
  const bool reads = verb == "get" || verb == "list" || verb == "watch";
  const std::int64_t code = Code(entry);
  if (reads && verb != "watch") return code >= 400 && code != 404;
  const bool renews = TextAt(entry, "/objectRef/resource") == "leases" && verb != "create";
  return !renews || code >= 400;
}

}  // namespace

std::string AccountLine(const json& entry, std::size_t width) {
  if (!IsTold(entry)) return "";
  std::string verb = TextAt(entry, "/verb");
  if (verb == "deletecollection") verb = "delete";
  if (verb == "patch" && Code(entry) == 201) verb = "create";  // by server-side apply
  std::string what = What(entry);
  if (Code(entry) >= 400) {
    what =
        std::to_string(Code(entry)) + ' ' + TextAt(entry, "/responseStatus/reason") + ": " + what;
  }
  const std::size_t rest = width - (kWho + 2 + kVerb + 2 + 1 + kTook);
  return Cell(Who(entry), kWho) + "  " + Cell(verb, kVerb) + "  " + Cell(what, rest) + ' ' +
         Right(Took(entry), kTook);
}

Account::Account(std::ostream& out, Options options) : out_(out), options_(std::move(options)) {}

void Account::Begin() {
  auto state = state_.Lock();
  state->begun = true;
  state->begin = Clock::Real().Now();
  const std::size_t rest = kColumns - kSince - (2 + kWho + 2 + kVerb + 2 + 1 + kTook);
  out_ << Right("after", kSince) << "  " << Cell("who", kWho) << "  " << Cell("does", kVerb) << "  "
       << Cell("what", rest) << ' ' << Right("within", kTook) << '\n'
       << std::flush;
}

void Account::Tell(std::string_view entry) {
  const json read = json::parse(entry);
  auto state = state_.Lock();
  if (!state->begun) return;
  Note(*state, read);
  const std::string line = AccountLine(read, kColumns - kSince - 2);
  if (line.empty()) return;
  const std::chrono::duration<double> since = Clock::Real().Now() - state->begin;
  char begin[32];
  std::snprintf(begin, sizeof begin, "%.3f s", since.count());
  const std::string_view colour = Colour(read);
  out_ << colour << Right(begin, kSince) << "  " << line << (colour.empty() ? "" : "\x1b[0m")
       << '\n'
       << std::flush;
}

void Account::Say(std::string_view text) {
  const auto state = state_.Lock();
  out_ << text << std::flush;
}

void Account::Note(State& state, const json& entry) const {
  const bool by_program = TextAt(entry, "/user/username") == options_.program;
  if (!by_program || Code(entry) >= 300) return;
  const std::string verb = TextAt(entry, "/verb");
  Named object = ObjectOf(entry);
  state.active = Clock::Real().Now();
  auto& watched = state.watched;
  if (verb == "watch" &&
      std::find(watched.begin(), watched.end(), object.resource) == watched.end()) {
    watched.push_back(object.resource);
  }
  const bool is_minor = object.resource == "events" || object.resource == "leases";
  if (verb != "get" && verb != "list" && verb != "watch" && verb != "delete" && !state.made &&
      !is_minor && TextAt(entry, "/objectRef/subresource").empty()) {
    state.made = std::move(object);
  }
}

std::string_view Account::Colour(const json& entry) const {
  if (!options_.colours) return "";
  if (Code(entry) >= 400) return "\x1b[31m";
  return TextAt(entry, "/user/username") == options_.program ? "\x1b[32m" : "";
}

bool Account::is_heard() const {
  const auto state = state_.Lock();
  return out_.good();
}
std::vector<std::string> Account::watched() const { return state_.Lock()->watched; }
std::optional<Named> Account::made() const { return state_.Lock()->made; }
TimePoint Account::active() const { return state_.Lock()->active; }

}  // namespace kopp::apiserver
