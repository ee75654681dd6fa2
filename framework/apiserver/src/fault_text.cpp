#include "fault_text.hpp"

#include "duration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <kopp/config.hpp>

namespace kopp::apiserver {
namespace {

using testing::Fault;
using What = Fault::What;

struct Named {
  std::string_view name;
  What what;
};

constexpr std::array<Named, 16> kFaults{{
    {"conflict", What::kConflict},
    {"too-many-requests", What::kTooManyRequests},
    {"server-error", What::kServerError},
    {"refuse", What::kRefuse},
    {"latency", What::kLatency},
    {"reset", What::kReset},
    {"stale-list", What::kStaleList},
    {"backwards-version", What::kBackwardsVersion},
    {"truncated-body", What::kTruncatedBody},
    {"gone", What::kGone},
    {"malformed-body", What::kMalformedBody},
    {"silent-watch", What::kSilentWatch},
    {"drop-watch", What::kDropWatch},
    {"lost-event", What::kLostEvent},
    {"duplicate-event", What::kDuplicateEvent},
    {"no-bookmarks", What::kNoBookmarks},
}};

bool Read(std::string_view text, std::string& value) {
  value = text;
  return !text.empty();
}

bool Read(std::string_view text, Duration& value) {
  const auto read = detail::ParseDuration(text);
  if (read) value = *read;
  return read.has_value();
}

template <typename Number>
bool Read(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

template <typename Value>
bool Read(std::string_view text, std::optional<Value>& value) {
  return Read(text, value.emplace());
}

template <auto kField>
bool ReadField(std::string_view text, Fault& fault) {
  return Read(text, fault.*kField);
}

struct Field {
  std::string_view name;
  std::string_view takes;
  bool (*read)(std::string_view text, Fault& fault);
};

constexpr std::array<Field, 12> kFields{{
    {"verb", "text", ReadField<&Fault::verb>},
    {"resource", "text", ReadField<&Fault::resource>},
    {"namespace", "text", ReadField<&Fault::ns>},
    {"name", "text", ReadField<&Fault::name>},
    {"user", "text", ReadField<&Fault::user>},
    {"times", "a whole number", ReadField<&Fault::times>},
    {"share", "a number from 0 to 1", ReadField<&Fault::share>},
    {"status", "a whole number", ReadField<&Fault::status>},
    {"delay", "a duration such as 200ms", ReadField<&Fault::delay>},
    {"retry-after", "a duration such as 5s", ReadField<&Fault::retry_after>},
    {"versions", "a whole number", ReadField<&Fault::versions>},
    {"bytes", "a whole number", ReadField<&Fault::bytes>},
}};

/// The verbs of requests that such a fault may befall; none: all.
std::vector<std::string_view> VerbsOf(What what) {
  switch (what) {
    case What::kConflict:
      return {"create", "update", "patch", "delete"};
    case What::kStaleList:
      return {"list"};
    case What::kBackwardsVersion:
      return {"get", "list"};
    case What::kGone:
      return {"list", "watch"};
    case What::kTruncatedBody:
      return {"get", "list", "create", "update", "patch", "delete", "deletecollection"};
    case What::kSilentWatch:
    case What::kDropWatch:
    case What::kLostEvent:
    case What::kDuplicateEvent:
    case What::kNoBookmarks:
      return {"watch"};
    default:
      return {};
  }
}

/// Why the verb is none that such a fault may befall; "" where it is one.
std::string ProblemOfVerb(const Fault& fault) {
  if (fault.verb.empty()) return {};
  auto verbs = VerbsOf(fault.what);
  if (verbs.empty()) {
    verbs = {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"};
  }
  std::string names;
  for (const std::string_view verb : verbs) {
    if (verb == fault.verb) return {};
    names.append(names.empty() ? "" : ", ").append(verb);
  }
  return "it befalls no \"" + fault.verb + "\"; its verbs are " + names;
}

/// The one of that name. Throws ConfigError, with the names that there are.
template <typename Each, std::size_t kCount>
const Each& Find(const std::array<Each, kCount>& all, std::string_view name, const char* what) {
  std::string names;
  for (const Each& each : all) {
    if (each.name == name) return each;
    names.append(names.empty() ? "" : ", ").append(each.name);
  }
  throw ConfigError("there is no " + std::string(what) + " \"" + std::string(name) +
                    "\"; there are " + names);
}

/// What stands before the first `separator`, which goes too.
std::string_view TakeTo(char separator, std::string_view& text) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

}  // namespace

bool CanBefall(What what, std::string_view verb) {
  const auto verbs = VerbsOf(what);
  return verbs.empty() || std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

std::string ProblemOf(const Fault& fault) {
  // Written so that no number at all is a problem too.
  if (!(fault.share >= 0 && fault.share <= 1)) return "share is a number from 0 to 1";
  if (fault.status < 500 || fault.status > 599) return "status is a number from 500 to 599";
  if (fault.times == 0) return "times is at least 1";
  if (fault.delay < Duration::zero()) return "delay is not negative";
  if (fault.retry_after < Duration::zero()) return "retry-after is not negative";
  return ProblemOfVerb(fault);
}

}  // namespace kopp::apiserver

namespace kopp::testing {

Fault ParseFault(std::string_view text) {
  using namespace apiserver;
  std::string_view rest = text;
  Fault fault{.what = Find(kFaults, TakeTo(',', rest), "fault").what};
  while (!rest.empty()) {
    std::string_view value = TakeTo(',', rest);
    const Field& field = Find(kFields, TakeTo('=', value), "field of a fault");
    if (!field.read(value, fault)) {
      throw ConfigError("the field " + std::string(field.name) + " of a fault is " +
                        std::string(field.takes) + ", not \"" + std::string(value) + '"');
    }
  }
  if (const std::string problem = ProblemOf(fault); !problem.empty()) {
    throw ConfigError("fault \"" + std::string(text) + "\": " + problem);
  }
  return fault;
}

}  // namespace kopp::testing
