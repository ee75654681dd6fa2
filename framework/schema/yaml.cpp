#include "schema/yaml.hpp"

#include "base/base64.hpp"
#include "base/yaml_error.hpp"
#include "schema/accessors.hpp"
#include "schema/max_depth.hpp"
#include "schema/utf8.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

namespace kopp::schema {
namespace {

using nlohmann::json;

/// Parses an integer as strconv.ParseInt of Go does with base 0: 0x1f, 0o17, 017, 0b11. Returns
/// null if it is not one that fits into 64 bits.
json Integer(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    constexpr std::string_view kPrefixes = "xXoObB";
    const std::size_t prefix = kPrefixes.find(text[1]);
    constexpr std::array kBases{16, 8, 2};
    base = prefix == std::string_view::npos ? 8 : kBases.at(prefix / 2);
    text.remove_prefix(prefix == std::string_view::npos ? 1 : 2);
  }
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || rest != end || error != std::errc()) return {};
  if (!is_negative) return value;
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63U;
  if (value > kLimit) return {};
  return static_cast<std::int64_t>(~value + 1);
}

/// Returns null if the text is not a decimal number. A number without a fraction is an integer, as
/// Go writes it in JSON.
json Decimal(std::string_view text) {
  const std::size_t first = text.starts_with('+') || text.starts_with('-') ? 1 : 0;
  if (text.find_first_of(".0123456789", first) != first) return {};
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (rest != end || error != std::errc()) return {};
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::abs(value) <= kExact && std::trunc(value) == value) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

/// Returns the value of a plain scalar: null, a boolean or a number of YAML 1.1, or the text.
/// Follows resolve.go of go.yaml.in/yaml/v2, which Kubernetes uses.
json PlainScalar(const std::string& text) {
  static const std::map<std::string_view, json> values = [] {
    std::map<std::string_view, json> words;
    for (const char* word : {"", "~", "null", "Null", "NULL"}) words[word] = nullptr;
    for (const char* word :
         {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}) {
      words[word] = true;
    }
    for (const char* word :
         {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}) {
      words[word] = false;
    }
    return words;
  }();
  if (const auto found = values.find(text); found != values.end()) return found->second;
  if (std::string_view("+-.0123456789").find(text[0]) == std::string_view::npos) return text;
  static constexpr std::array<std::string_view, 12> kNotFinite{".inf",  ".Inf",  ".INF",  "+.inf",
                                                               "+.Inf", "+.INF", "-.inf", "-.Inf",
                                                               "-.INF", ".nan",  ".NaN",  ".NAN"};
  if (std::ranges::find(kNotFinite, text) != kNotFinite.end()) {
    throw std::invalid_argument("error converting YAML to JSON: json: unsupported value: " + text);
  }
  std::string digits = text;
  std::erase(digits, '_');
  if (json integer = Integer(digits); !integer.is_null()) return integer;
  json decimal = Decimal(digits);
  return decimal.is_null() ? json(text) : decimal;
}

/// Returns the bytes of a scalar with the tag !!binary.
std::string Binary(const YAML::Node& node) {
  if (auto bytes = detail::DecodeBase64(node.Scalar())) return *std::move(bytes);
  throw std::invalid_argument(
      fmt::format("error converting YAML to JSON: yaml: !!binary value contains invalid base64 "
                  "data (line {})",
                  node.Mark().line + 1));
}

/// Returns the text of a scalar as UTF-8: yaml-cpp decodes the escapes \N and \_ to single bytes.
std::string TextOf(const YAML::Node& node) {
  std::string text;
  std::size_t rest = 0;  // bytes of the current code point that follow
  for (const char c : node.Scalar()) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0xc0) rest = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    if (byte >= 0x80 && rest == 0) text += '\xc2';
    if (rest > 0) --rest;
    text += c;
  }
  return text;
}

/// Returns the value of a scalar. yaml-cpp gives quoted scalars the tag "!", and plain ones "?".
/// Scalars with a tag of their own are strings.
json Scalar(const YAML::Node& node) {
  constexpr std::string_view kYaml = "tag:yaml.org,2002:";
  std::string_view tag = node.Tag();
  if (tag.empty() || tag == "?") return PlainScalar(node.Scalar());
  if (!tag.starts_with(kYaml)) return TextOf(node);
  tag.remove_prefix(kYaml.size());
  if (tag == "binary") return Binary(node);
  return tag == "str" ? json(TextOf(node)) : PlainScalar(node.Scalar());
}

/// Converts YAML nodes to JSON. Limits the number of nodes, because nested aliases expand
/// exponentially.
class Converter {
 public:
  json Convert(const YAML::Node& node, std::size_t depth = 0) {
    if (depth > kMaxJsonDepth) throw std::invalid_argument("exceeded max depth");
    if (nodes_++ == kMaxNodes) throw std::invalid_argument("document contains excessive aliasing");
    switch (node.Type()) {
      case YAML::NodeType::Sequence: {
        json list = json::array();
        for (const YAML::Node& item : node) list.push_back(Convert(item, depth + 1));
        return list;
      }
      case YAML::NodeType::Map: {
        json object = json::object();
        for (const auto& field : node) {
          AddField(field.first, Convert(field.second, depth + 1), object);
        }
        return object;
      }
      case YAML::NodeType::Scalar:
        return Scalar(node);
      default:
        return {};
    }
  }

 private:
  static constexpr std::size_t kMaxNodes = 400'000;

  /// Adds a field to `object`, or the fields of a merge key ("<<: *base").
  static void AddField(const YAML::Node& key, json value, json& object) {
    if (key.IsScalar() && key.Scalar() == "<<" && key.Tag() != "!") {
      Merge(value, object);
    } else {
      object[NameOf(key)] = std::move(value);
    }
  }
  /// Merges an object, or the objects of a list: the first has precedence.
  static void Merge(const json& value, json& object) {
    if (value.is_object()) return object.update(value);
    if (!value.is_array()) ThrowNoMerge();
    for (auto item = value.rbegin(); item != value.rend(); ++item) {
      if (!item->is_object()) ThrowNoMerge();
      object.update(*item);
    }
  }
  [[noreturn]] static void ThrowNoMerge() {
    throw std::invalid_argument(
        "error converting YAML to JSON: yaml: map merge requires map or sequence of maps as the "
        "value");
  }
  /// Returns the name of a field: numbers and booleans as JSON has them.
  static std::string NameOf(const YAML::Node& key) {
    const json name = key.IsScalar() ? Scalar(key) : json();
    if (name.is_string()) return name;
    if (name.is_number() || name.is_boolean()) return name.dump();
    throw std::invalid_argument("error converting YAML to JSON: unsupported map key in line " +
                                std::to_string(key.Mark().line + 1) +
                                ": it must be a string, a number or a boolean");
  }

  std::size_t nodes_ = 0;
};

/// Calls `function`, and converts exceptions of yaml-cpp to std::invalid_argument, without text of
/// the document: it may be a Secret.
template <typename Function>
auto ConvertErrors(const Function& function) {
  try {
    return function();
  } catch (const YAML::Exception& error) {
    throw std::invalid_argument(
        fmt::format("error converting YAML to JSON: yaml: {} (line {}, column {})",
                    detail::DescribeYamlError(error), error.mark.line + 1, error.mark.column + 1));
  }
}

YAML::Node LoadYaml(std::string_view text) {
  if (ToValidUtf8(std::string(text)) != text) {
    throw std::invalid_argument("error converting YAML to JSON: yaml: invalid leading UTF-8 octet");
  }
  return YAML::Load(std::string(text));
}

/// Adds the items of a list. Those of a typed list, such as ConfigMapList, need no kind.
void AddItems(json& list, std::vector<json>& objects) {
  std::string kind = StringAt(list, "/kind");
  if (kind.ends_with("List")) kind.resize(kind.size() - std::string_view("List").size());
  for (json& item : list["items"]) {
    if (item.is_object() && !item.contains("kind") && !item.contains("apiVersion")) {
      item["kind"] = kind;
      item["apiVersion"] = StringAt(list, "/apiVersion");
    }
    objects.push_back(std::move(item));
  }
}

}  // namespace

json ParseYaml(std::string_view text) {
  return ConvertErrors([&] { return Converter().Convert(LoadYaml(text)); });
}

std::vector<json> ParseManifests(std::string_view text) {
  std::vector<json> objects;
  for (const YAML::Node& document :
       ConvertErrors([&] { return YAML::LoadAll(std::string(text)); })) {
    json object = ConvertErrors([&] { return Converter().Convert(document); });
    if (object.is_null()) continue;
    if (Field(object, "items").is_array()) {
      AddItems(object, objects);
    } else {
      objects.push_back(std::move(object));
    }
  }
  return objects;
}

}  // namespace kopp::schema
