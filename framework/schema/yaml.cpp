#include "schema/yaml.hpp"

#include "schema/accessors.hpp"
#include "schema/decode.hpp"
#include "schema/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

namespace kopp::schema {
namespace {

using nlohmann::json;

// yaml-cpp gives quoted scalars the tag "!".
json Scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str") return text;
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return {};
  bool truth = false;
  if (YAML::convert<bool>::decode(node, truth)) return truth;
  std::int64_t integer = 0;
  if (YAML::convert<std::int64_t>::decode(node, integer)) return integer;
  double number = 0;
  if (YAML::convert<double>::decode(node, number)) return number;
  return text;
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
        for (const auto& entry : node) {
          object[entry.first.as<std::string>()] = Convert(entry.second, depth + 1);
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
  std::size_t nodes_ = 0;
};

/// Calls `function`, and converts exceptions of yaml-cpp to std::invalid_argument.
template <typename Function>
auto ConvertErrors(const Function& function) {
  try {
    return function();
  } catch (const YAML::Exception& error) {
    throw std::invalid_argument(fmt::format("error converting YAML to JSON: yaml: {} (line {})",
                                            error.msg, error.mark.line + 1));
  }
}

}  // namespace

json ParseYaml(std::string_view text) {
  if (ToValidUtf8(std::string(text)) != text) {
    throw std::invalid_argument("error converting YAML to JSON: yaml: invalid leading UTF-8 octet");
  }
  return ConvertErrors([&] { return Converter().Convert(YAML::Load(std::string(text))); });
}

std::vector<json> ParseManifests(std::string_view text) {
  std::vector<json> objects;
  for (const YAML::Node& document :
       ConvertErrors([&] { return YAML::LoadAll(std::string(text)); })) {
    json object = ConvertErrors([&] { return Converter().Convert(document); });
    if (object.is_null()) continue;
    if (StringAt(object, "/kind") == "List" && object.contains("items")) {
      for (json& item : object["items"]) objects.push_back(std::move(item));
    } else {
      objects.push_back(std::move(object));
    }
  }
  return objects;
}

}  // namespace kopp::schema
