#include "defaults.hpp"

#include "computed_defaults.hpp"
#include "data.hpp"
#include "quantity.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Type = Schema::Type;

/// A line of defaults.txt.
struct Default {
  enum class Kind { kGiven, kBlank, kNothing };
  std::string field{};
  Kind kind = Kind::kGiven;
  json value{};
  std::string same_as{};  // the field whose value it has, in the place of `value`
  std::string other{};    // the condition's field; empty: always
  std::vector<json> when{};
};
using Table = std::map<std::string, std::vector<Default>, std::less<>>;

std::string_view Take(std::string_view& text, char end) {
  const std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

Default ReadDefault(std::string_view line) {
  Default read{.field = std::string(Take(line, ' '))};
  std::string_view value = Take(line, ' ');
  if (value.front() == '~') read.kind = Default::Kind::kBlank;
  if (value.front() == '-') read.kind = Default::Kind::kNothing;
  if (read.kind != Default::Kind::kGiven) value.remove_prefix(1);
  if (value.front() == '.') {
    read.same_as = value.substr(1);
  } else {
    read.value = json::parse(value);
  }
  Take(line, ' ');  // "if"
  read.other = Take(line, '=');
  while (!line.empty()) read.when.push_back(json::parse(Take(line, '|')));
  return read;
}

Table ReadTable(std::string_view text) {
  Table table;
  std::vector<Default>* type = nullptr;
  while (!text.empty()) {
    const std::string_view line = Take(text, '\n');
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != ' ') {
      type = &table[std::string(line)];
    } else {
      type->push_back(ReadDefault(line.substr(1)));
    }
  }
  return table;
}

const std::vector<Default>& DefaultsOf(std::string_view type) {
  static const Table table = ReadTable(data::defaults);
  static const std::vector<Default> none;
  const auto found = table.find(type);
  return found == table.end() ? none : found->second;
}

json GivenAt(const json& object, const std::string& field) {
  const auto found = object.find(field);
  return found == object.end() ? json() : *found;
}

void FillInOne(json& object, const Default& line) {
  if (line.kind == Default::Kind::kNothing) {
    if (object.contains(line.field) && object[line.field] == line.value) object.erase(line.field);
    return;
  }
  if (object.contains(line.field)) return;
  if (!line.other.empty() && std::find(line.when.begin(), line.when.end(),
                                       GivenAt(object, line.other)) == line.when.end()) {
    return;
  }
  json value = line.same_as.empty() ? line.value : GivenAt(object, line.same_as);
  if (line.same_as.empty() || !value.is_null()) object[line.field] = std::move(value);
}

void FillIn(json& object, const std::vector<Default>& lines) {
  for (const Default& line : lines) FillInOne(object, line);
}

/// What Go's types have for a field that has to be there.
json ZeroOf(const Schema& schema) {
  switch (schema.type) {
    case Type::kString:
      return schema.format == "string" ? json("") : json();
    case Type::kInteger:
    case Type::kNumber:
      return 0;
    case Type::kBoolean:
      return false;
    default:
      return nullptr;
  }
}

void FillInZeros(json& object, const Schema& schema) {
  for (const auto& [name, field] : schema.fields) {
    if (!field.required || object.contains(name)) continue;
    if (json zero = ZeroOf(*field.schema); !zero.is_null()) object[name] = std::move(zero);
  }
}

void FillInFields(json& object, const Schema& schema) {
  FillInByCode(object, schema.name);
  for (const Default& line : DefaultsOf(schema.name)) {
    if (schema.Find(line.field) != nullptr) FillInOne(object, line);
  }
  for (const auto& [name, field] : schema.fields) {
    if (!field.fallback.is_null() && !object.contains(name)) object[name] = field.fallback;
    const auto found = object.find(name);
    if (found == object.end()) continue;
    if (found->is_object()) FillIn(*found, DefaultsOf(schema.name + '.' + name));
    kopp::apiserver::FillIn(*found, *field.schema);
  }
  FillInZeros(object, schema);
}

}  // namespace

void FillIn(json& value, const Schema& schema) {
  if (value.is_object() && schema.type == Type::kObject && !schema.name.empty()) {
    FillInFields(value, schema);
  } else if (value.is_structured() && schema.items != nullptr) {
    for (json& item : value) FillIn(item, *schema.items);
  } else if (value.is_string() && schema.format == "quantity") {
    value = Quantity(value.get_ref<const std::string&>()).ToText();
  }
}

json Blank(const Schema& schema) {
  json blank = json::object();
  if (schema.name.empty()) {  // a custom resource, or a part of one
    if (schema.Find("metadata") != nullptr) blank["metadata"] = json::object();
    return blank;
  }
  for (const Default& line : DefaultsOf(schema.name)) {
    if (line.kind == Default::Kind::kBlank && schema.Find(line.field) != nullptr) {
      blank[line.field] = line.value;
    }
  }
  for (const auto& [name, field] : schema.fields) {
    if (field.required) blank[name] = ZeroOf(*field.schema);
  }
  for (const auto& [name, field] : schema.fields) {
    if (field.always) blank[name] = Blank(*field.schema);
  }
  return blank;
}

}  // namespace kopp::apiserver
