// Decodes the objects in YAML files with generated types, encodes them again, and compares.
//   round_trip MINIMUM FILE...
// Objects of kinds without a generated type are skipped, and so are files that are not YAML. Prints
// each field that differs, and the number of compared objects. Fails if a field differs, or if
// fewer than MINIMUM objects were compared. A field that is missing afterwards is no difference if
// it was empty. Quantities are compared by value: 1Gi equals 1024Mi.

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>
#include <schema/yaml.hpp>

#include <kopp/informer/object.hpp>
#include <kopp/k8s/quantity.hpp>

namespace {

using nlohmann::json;
using RoundTrip = std::string (*)(const std::string& text);

template <kopp::ApiObject T>
std::string DecodeAndEncode(const std::string& text) {
  return kopp::Encode(kopp::Decode<T>(text));
}

// By apiVersion and kind.
std::map<std::pair<std::string, std::string>, RoundTrip>& Types() {
  static std::map<std::pair<std::string, std::string>, RoundTrip> types;
  return types;
}

template <kopp::ApiObject T>
struct Registered {
  Registered() {
    Types()[{std::string(T::kKind.api_version), std::string(T::kKind.kind)}] = DecodeAndEncode<T>;
  }
};

// Prints the paths at which `after` lacks something of `before` or differs from it.
class Comparison {
 public:
  explicit Comparison(std::string where) : where_(std::move(where)) {}

  void Compare(const std::string& path, const json& before, const json& after) {
    if (before.is_object() && after.is_object()) {
      for (const auto& [key, value] : before.items())
        CompareKey(path + '.' + key, key, value, after);
    } else if (before.is_array() && after.is_array() && before.size() == after.size()) {
      for (std::size_t i = 0; i < before.size(); ++i) Compare(path + "[]", before[i], after[i]);
    } else if (before != after && !AreEqualQuantities(before, after)) {
      Report(path, before.dump() + " became " + after.dump());
    }
  }
  [[nodiscard]] int differences() const { return differences_; }

 private:
  /// Returns whether `after` is the canonical text of the quantity `before`, as in Go.
  static bool AreEqualQuantities(const json& before, const json& after) {
    if (!before.is_string() && !before.is_number()) return false;
    try {
      const auto quantity =
          kopp::k8s::Quantity(before.is_string() ? before.get<std::string>() : before.dump());
      return after == quantity.ToString();
    } catch (const std::invalid_argument&) {
      return false;
    }
  }

  void CompareKey(const std::string& path, const std::string& key, const json& value,
                  const json& after) {
    if (after.contains(key)) {
      Compare(path, value, after[key]);
    } else if (!value.is_null() && value != "" && !(value.is_structured() && value.empty())) {
      Report(path, value.dump() + " is lost");
    }
  }
  void Report(const std::string& path, const std::string& text) {
    std::cerr << where_ << ": " << path << ": " << text << '\n';
    ++differences_;
  }

  std::string where_;
  int differences_ = 0;
};

// Returns the objects of a file, without those of kinds that are not known.
std::vector<json> ObjectsIn(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  std::vector<json> objects;
  try {
    for (json& object : kopp::schema::ParseManifests(text.str())) {
      if (!object.is_object() || !object.contains("kind") || !object.contains("metadata")) continue;
      objects.push_back(std::move(object));
    }
  } catch (const std::exception&) {  // a template, or an example of something that is not valid
  }
  return objects;
}

}  // namespace

#include "registrations.inc"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: round_trip MINIMUM FILE...\n";
    return 2;
  }
  const int minimum = std::stoi(argv[1]);
  int compared = 0;
  int differences = 0;
  for (int i = 2; i < argc; ++i) {
    for (json& object : ObjectsIn(argv[i])) {
      const auto type = Types().find({object.value("apiVersion", ""), object.value("kind", "")});
      if (type == Types().end()) continue;
      Comparison comparison(std::string(argv[i]) + ' ' + object.value("kind", ""));
      object.erase("apiVersion");
      object.erase("kind");
      try {
        comparison.Compare("", object, json::parse(type->second(object.dump())));
      } catch (const std::exception& error) {
        std::cerr << argv[i] << ": " << error.what() << '\n';
        ++differences;
      }
      differences += comparison.differences();
      ++compared;
    }
  }
  std::cout << compared << " objects, at least " << minimum << " expected; " << differences
            << " differences\n";
  return differences == 0 && compared >= minimum ? 0 : 1;
}
