#include "faults/fault_text.hpp"

#include "base/duration.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include <kopp/config_error.hpp>

namespace kopp::apiserver {
namespace {

bool AreEqualIgnoringCase(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// Returns the Levenshtein distance: the number of characters to insert, erase or replace.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> distances(b.size() + 1);  // from the start of `a` to each start of `b`
  std::iota(distances.begin(), distances.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(distances[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (AreEqualIgnoringCase(a[i], b[j]) ? 0 : 1);
      diagonal = distances[j + 1];
      distances[j + 1] = std::min({replaced, diagonal + 1, distances[j] + 1});
    }
  }
  return distances.back();
}

using testing::Fault;
using Type = Fault::Type;

struct TypeName {
  std::string_view name;
  Type type;
};

constexpr std::array<TypeName, 19> kTypes{{
    {"conflict", Type::kConflict},
    {"too-many-requests", Type::kTooManyRequests},
    {"server-error", Type::kServerError},
    {"refuse", Type::kRefuse},
    {"latency", Type::kLatency},
    {"reset", Type::kReset},
    {"stale-list", Type::kStaleList},
    {"backwards-version", Type::kBackwardsVersion},
    {"truncated-body", Type::kTruncatedBody},
    {"gone", Type::kGone},
    {"malformed-body", Type::kMalformedBody},
    {"silent-watch", Type::kSilentWatch},
    {"drop-watch", Type::kDropWatch},
    {"lost-event", Type::kLostEvent},
    {"duplicate-event", Type::kDuplicateEvent},
    {"no-bookmarks", Type::kNoBookmarks},
    {"webhook-timeout", Type::kWebhookTimeout},
    {"webhook-refuse", Type::kWebhookRefuse},
    {"webhook-latency", Type::kWebhookLatency},
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

struct FaultField {
  std::string_view name;
  std::string_view value_description;
  bool (*read)(std::string_view text, Fault& fault);
};

constexpr std::array<FaultField, 12> kFields{{
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

/// Returns the verbs of the requests that a fault of this type can apply to. An empty list means
/// all verbs.
std::vector<std::string_view> ApplicableVerbs(Type type) {
  switch (type) {
    case Type::kConflict:
      return {"create", "update", "patch", "delete"};
    case Type::kStaleList:
      return {"list"};
    case Type::kBackwardsVersion:
      return {"get", "list"};
    case Type::kGone:
      return {"list", "watch"};
    case Type::kTruncatedBody:
      return {"get", "list", "create", "update", "patch", "delete", "deletecollection"};
    case Type::kSilentWatch:
    case Type::kDropWatch:
    case Type::kLostEvent:
    case Type::kDuplicateEvent:
    case Type::kNoBookmarks:
      return {"watch"};
    case Type::kWebhookTimeout:
    case Type::kWebhookRefuse:
    case Type::kWebhookLatency:
      return {"create", "update", "delete", "deletecollection"};
    default:
      return {};
  }
}

/// Describes the error if the fault cannot apply to its verb; else "".
std::string FindVerbError(const Fault& fault) {
  if (fault.verb.empty()) return {};
  auto verbs = ApplicableVerbs(fault.type);
  if (verbs.empty()) {
    verbs = {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"};
  }
  std::string names;
  for (const std::string_view verb : verbs) {
    if (verb == fault.verb) return {};
    names.append(names.empty() ? "" : ", ").append(verb);
  }
  return "verb \"" + fault.verb + "\" is not valid for this fault" +
         NearMatchHint(fault.verb, {verbs.begin(), verbs.end()}) + "; valid verbs: " + names;
}

/// Finds an entry by name. Throws ConfigError with the valid names.
template <typename Entry, std::size_t kCount>
const Entry& FindByName(const std::array<Entry, kCount>& entries, std::string_view name,
                        const char* description) {
  std::string names;
  std::vector<std::string> candidates;
  for (const Entry& entry : entries) {
    if (entry.name == name) return entry;
    names.append(names.empty() ? "" : ", ").append(entry.name);
    candidates.emplace_back(entry.name);
  }
  throw ConfigError("unknown " + std::string(description) + " \"" + std::string(name) + '"' +
                    NearMatchHint(name, candidates) + "; valid: " + names);
}

/// Removes the text up to and including the first `separator`, or all text if there is none.
/// Returns the removed text without the separator.
std::string_view SplitAt(char separator, std::string_view& text) {
  const std::size_t end = text.find(separator);
  const std::string_view head = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return head;
}

}  // namespace

std::string FindNearMatch(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kCharactersPerError = 3;
  std::size_t best = name.size() / kCharactersPerError;
  std::string match;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(name, candidate);
    if (distance > best || (distance == best && !match.empty())) continue;
    best = distance;
    match = candidate;
  }
  return match;
}

std::string NearMatchHint(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string match = FindNearMatch(name, candidates);
  return match.empty() ? "" : ": did you mean \"" + match + "\"?";
}

bool AppliesTo(Type type, std::string_view verb) {
  const auto verbs = ApplicableVerbs(type);
  return verbs.empty() || std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

std::string FindFaultError(const Fault& fault) {
  // The negation also rejects NaN.
  if (!(fault.share >= 0 && fault.share <= 1)) return "share must be a number from 0 to 1";
  if (fault.status < 500 || fault.status > 599) return "status must be a number from 500 to 599";
  if (fault.times == 0) return "times must be at least 1";
  if (fault.delay < Duration::zero()) return "delay must not be negative";
  if (fault.retry_after < Duration::zero()) return "retry-after must not be negative";
  return FindVerbError(fault);
}

}  // namespace kopp::apiserver

namespace kopp::testing {

Fault ParseFault(std::string_view text) {
  using namespace apiserver;
  std::string_view rest = text;
  Fault fault{.type = FindByName(kTypes, SplitAt(',', rest), "fault type").type};
  while (!rest.empty()) {
    std::string_view value = SplitAt(',', rest);
    const FaultField& field = FindByName(kFields, SplitAt('=', value), "fault field");
    if (!field.read(value, fault)) {
      throw ConfigError("fault field " + std::string(field.name) + " must be " +
                        std::string(field.value_description) + ", not \"" + std::string(value) +
                        '"');
    }
  }
  if (const std::string error = FindFaultError(fault); !error.empty()) {
    throw ConfigError("fault \"" + std::string(text) + "\": " + error);
  }
  return fault;
}

}  // namespace kopp::testing
