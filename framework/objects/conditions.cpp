#include "base/quoted.hpp"
#include "base/timestamp.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/conditions.hpp>

namespace kopp {
namespace {

/// The schema that controller-gen makes from metav1.Condition.
constexpr std::string_view kConditionSchema =
    R"schema({"description":"Condition contains details for one aspect of the current state of this )schema"
    R"schema(API Resource.","properties":{"lastTransitionTime":{"description":"lastTransitionTime is )schema"
    R"schema(the last time the condition transitioned from one status to another.\nThis should be )schema"
    R"schema(when the underlying condition changed.  If that is not known, then using the time when )schema"
    R"schema(the API field changed is acceptable.","format":"date-time","type":"string"},"message":{")schema"
    R"schema(description":"message is a human readable message indicating details about the )schema"
    R"schema(transition.\nThis may be an empty string.","maxLength":32768,"type":"string"},"observedG)schema"
    R"schema(eneration":{"description":"observedGeneration represents the .metadata.generation that )schema"
    R"schema(the condition was set based upon.\nFor instance, if .metadata.generation is currently )schema"
    R"schema(12, but the .status.conditions[x].observedGeneration is 9, the condition is out of )schema"
    R"schema(date\nwith respect to the current state of the )schema"
    R"schema(instance.","format":"int64","minimum":0,"type":"integer"},"reason":{"description":"reaso)schema"
    R"schema(n contains a programmatic identifier indicating the reason for the condition's last )schema"
    R"schema(transition.\nProducers of specific condition types may define expected values and )schema"
    R"schema(meanings for this field,\nand whether the values are considered a guaranteed API.\nThe )schema"
    R"schema(value should be a CamelCase string.\nThis field may not be )schema"
    R"schema(empty.","maxLength":1024,"minLength":1,"pattern":"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_]))schema"
    R"schema(?$","type":"string"},"status":{"description":"status of the condition, one of True, )schema"
    R"schema(False, Unknown.","enum":["True","False","Unknown"],"type":"string"},"type":{"description)schema"
    R"schema(":"type of condition in CamelCase or in foo.example.com/CamelCase.","maxLength":316,"pat)schema"
    R"schema(tern":"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9)schema"
    R"schema(][-A-Za-z0-9_.]*)?[A-Za-z0-9])$","type":"string"}},"required":["lastTransitionTime","mes)schema"
    R"schema(sage","reason","status","type"],"type":"object"})schema";

constexpr std::size_t kMaxTypeLength = 316;
constexpr std::size_t kMaxReasonLength = 1024;
constexpr std::size_t kMaxConditionMessage = 32768;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }
bool IsLetterOrDigit(char c) { return IsLetter(c) || IsDigit(c); }

/// Returns whether `text` is a DNS subdomain, such as "example.com".
bool IsDnsSubdomain(std::string_view text) {
  while (true) {
    const std::string_view label = text.substr(0, text.find('.'));
    const auto is_end = [](char c) { return IsLower(c) || IsDigit(c); };
    if (label.empty() || !is_end(label.front()) || !is_end(label.back())) return false;
    if (!std::ranges::all_of(label, [&](char c) { return is_end(c) || c == '-'; })) return false;
    if (label.size() == text.size()) return true;
    text.remove_prefix(label.size() + 1);
  }
}

/// Returns whether `type` is a CamelCase word, with an optional DNS subdomain and a slash before.
bool IsConditionType(std::string_view type) {
  const auto slash = type.find('/');
  if (slash != std::string_view::npos && !IsDnsSubdomain(type.substr(0, slash))) return false;
  const std::string_view word = type.substr(slash + 1);  // npos + 1 is 0
  return !word.empty() && type.size() <= kMaxTypeLength && IsLetterOrDigit(word.front()) &&
         IsLetterOrDigit(word.back()) && std::ranges::all_of(word, [](char c) {
           return IsLetterOrDigit(c) || c == '-' || c == '_' || c == '.';
         });
}

bool IsConditionReason(std::string_view reason) {
  return !reason.empty() && reason.size() <= kMaxReasonLength && IsLetter(reason.front()) &&
         (IsLetterOrDigit(reason.back()) || reason.back() == '_') &&
         std::ranges::all_of(
             reason, [](char c) { return IsLetterOrDigit(c) || c == '_' || c == ',' || c == ':'; });
}

void Require(bool is_valid, const char* field, std::string_view value, const char* rule) {
  if (is_valid) return;
  throw std::invalid_argument(std::string(field) + " of a condition, " + detail::Quoted(value) +
                              ", is not valid: " + rule);
}

void Validate(const Condition& condition) {
  Require(IsConditionType(condition.type), "type", condition.type,
          "use a CamelCase word such as Ready, or a domain and a word such as example.com/Ready");
  const auto& status = condition.status;
  Require(status == "True" || status == "False" || status == "Unknown", "status", status,
          "use True, False or Unknown");
  Require(IsConditionReason(condition.reason), "reason", condition.reason,
          "use one CamelCase word such as BucketCreated");
  Require(condition.observedGeneration >= 0, "observedGeneration",
          std::to_string(condition.observedGeneration), "use metadata.generation of the object");
}

/// Cuts `text` to `max` bytes, or up to three bytes less, to keep the last UTF-8 character
/// complete.
void CutText(std::string& text, std::size_t max) {
  if (text.size() <= max) return;
  while (max > 0 && (static_cast<unsigned char>(text[max]) & 0xC0U) == 0x80U) --max;
  text.resize(max);
}

auto Find(auto& conditions, std::string_view type) {
  return std::ranges::find(conditions, type, &Condition::type);
}

/// Removes the list `conditions` from `status`. Returns the conditions by their types.
std::map<std::string, nlohmann::json> TakeConditions(nlohmann::json& status) {
  std::map<std::string, nlohmann::json> conditions;
  const auto list = status.find("conditions");
  if (list == status.end() || !list->is_array()) return conditions;
  for (const nlohmann::json& condition : *list) {
    const auto type = condition.is_object() ? condition.find("type") : condition.end();
    if (type == condition.end() || !type->is_string()) return {};
    conditions.emplace(type->get<std::string>(), condition);
  }
  status.erase(list);
  return conditions;
}

bool HasConditionStatus(const std::vector<Condition>& conditions, std::string_view type,
                        std::string_view status) {
  const Condition* const condition = FindCondition(conditions, type);
  return condition != nullptr && condition->status == status;
}

}  // namespace

std::string_view KoppSchema(const Condition* /*type*/) { return kConditionSchema; }

bool SetCondition(std::vector<Condition>& conditions, Condition condition, const Clock& clock) {
  Validate(condition);
  if (!condition.message) condition.message = "";
  CutText(*condition.message, kMaxConditionMessage);
  const auto found = Find(conditions, condition.type);
  if (found != conditions.end() && found->status == condition.status) {
    condition.lastTransitionTime = found->lastTransitionTime;
  }
  if (condition.lastTransitionTime.empty()) {
    condition.lastTransitionTime = detail::FormatTimestamp(clock.WallNow());
  }
  if (found == conditions.end()) {
    conditions.push_back(std::move(condition));
    return true;
  }
  if (*found == condition) return false;
  *found = std::move(condition);
  return true;
}

bool RemoveCondition(std::vector<Condition>& conditions, std::string_view type) {
  const auto found = Find(conditions, type);
  if (found == conditions.end()) return false;
  conditions.erase(found);
  return true;
}

const Condition* FindCondition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found = Find(conditions, type);
  return found == conditions.end() ? nullptr : &*found;
}

std::vector<Condition> SelectConditions(const std::vector<Condition>& conditions,
                                        std::initializer_list<std::string_view> types) {
  std::vector<Condition> selected;
  std::ranges::copy_if(conditions, std::back_inserter(selected), [&](const Condition& condition) {
    return std::ranges::find(types, condition.type) != types.end();
  });
  return selected;
}

bool detail::HasStatus(const std::string& stored, const std::string& status) {
  if (stored == status) return true;
  nlohmann::json stored_json = nlohmann::json::parse(stored, nullptr, false);
  nlohmann::json json = nlohmann::json::parse(status, nullptr, false);
  if (stored_json.is_discarded() || json.is_discarded()) return false;  // not UTF-8
  const auto stored_conditions = TakeConditions(stored_json);
  const auto conditions = TakeConditions(json);
  return stored_json == json && std::ranges::all_of(conditions, [&](const auto& condition) {
           const auto found = stored_conditions.find(condition.first);
           return found != stored_conditions.end() && found->second == condition.second;
         });
}

bool IsConditionTrue(const std::vector<Condition>& conditions, std::string_view type) {
  return HasConditionStatus(conditions, type, "True");
}

bool IsConditionFalse(const std::vector<Condition>& conditions, std::string_view type) {
  return HasConditionStatus(conditions, type, "False");
}

}  // namespace kopp
