#include "yaml.hpp"

#include "at.hpp"
#include "utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <yaml-cpp/yaml.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 512;

// A tag "!" marks text that was quoted.
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

/// Aliases make much of little, so there is a bound.
class Converter {
 public:
  json Convert(const YAML::Node& node, int depth = 0) {
    if (depth > kMaxDepth) throw std::invalid_argument("exceeded max depth");
    if (nodes_++ == kMostNodes) throw std::invalid_argument("document contains excessive aliasing");
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
  static constexpr std::size_t kMostNodes = 400'000;
  std::size_t nodes_ = 0;
};

template <typename Read>
auto Reading(const Read& read) {
  try {
    return read();
  } catch (const YAML::Exception& error) {
    throw std::invalid_argument("error converting YAML to JSON: yaml: " + error.msg + " (line " +
                                std::to_string(error.mark.line + 1) + ')');
  }
}

}  // namespace

json YamlToJson(std::string_view text) {
  if (AsUtf8(std::string(text)) != text) {
    throw std::invalid_argument("error converting YAML to JSON: yaml: invalid leading UTF-8 octet");
  }
  return Reading([&] { return Converter().Convert(YAML::Load(std::string(text))); });
}

std::vector<json> ReadManifests(std::string_view text) {
  std::vector<json> objects;
  for (const YAML::Node& document : Reading([&] { return YAML::LoadAll(std::string(text)); })) {
    json object = Reading([&] { return Converter().Convert(document); });
    if (object.is_null()) continue;
    if (TextAt(object, "/kind") == "List" && object.contains("items")) {
      for (json& item : object["items"]) objects.push_back(std::move(item));
    } else {
      objects.push_back(std::move(object));
    }
  }
  return objects;
}

}  // namespace kopp::apiserver
