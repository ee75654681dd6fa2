#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// A part of an object, as causes name it. What is not there is null, and so is all below it. The
/// object outlives it.
class Part {
 public:
  explicit Part(const nlohmann::json& object) : value_(&object) {}

  [[nodiscard]] const nlohmann::json& value() const { return *value_; }
  /// "spec.ports[0].name"
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool exists() const { return !value_->is_null(); }
  /// "" where it is no text.
  [[nodiscard]] std::string text() const {
    return value_->is_string() ? value_->get<std::string>() : "";
  }
  [[nodiscard]] std::int64_t number() const {
    return value_->is_number() ? value_->get<std::int64_t>() : 0;
  }
  [[nodiscard]] bool is(const nlohmann::json& other) const { return *value_ == other; }
  [[nodiscard]] std::size_t size() const { return value_->size(); }

  /// A field.
  Part operator[](const std::string& name) const {
    return {Below(name), path_.empty() ? name : path_ + '.' + name};
  }
  /// An entry of a map: "data[key]".
  [[nodiscard]] Part Key(const std::string& key) const {
    return {Below(key), path_ + '[' + key + ']'};
  }
  /// The items of a list.
  [[nodiscard]] std::vector<Part> items() const {
    std::vector<Part> items;
    if (!value_->is_array()) return items;
    for (const nlohmann::json& item : *value_) {
      items.push_back({item, path_ + '[' + std::to_string(items.size()) + ']'});
    }
    return items;
  }
  /// The keys of a map.
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    if (!value_->is_object()) return keys;
    for (auto entry = value_->begin(); entry != value_->end(); ++entry) keys.push_back(entry.key());
    return keys;
  }

 private:
  Part(const nlohmann::json& value, std::string path) : value_(&value), path_(std::move(path)) {}

  [[nodiscard]] const nlohmann::json& Below(const std::string& name) const {
    static const nlohmann::json none;
    if (!value_->is_object()) return none;
    const auto found = value_->find(name);
    return found == value_->end() ? none : *found;
  }

  const nlohmann::json* value_;
  std::string path_{};
};

}  // namespace kopp::apiserver
