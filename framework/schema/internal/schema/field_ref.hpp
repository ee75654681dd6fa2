#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::schema {

/// A value inside a JSON object, together with its field path for FieldErrors. A field that does
/// not exist is null, and so are all fields below it. The object must outlive the FieldRef.
class FieldRef {
 public:
  /// Creates a reference to the root of an object. Its path is empty.
  explicit FieldRef(const nlohmann::json& object) : value_(&object) {}
  /// Creates a reference to a value that errors report at `path`.
  FieldRef(const nlohmann::json& value, std::string path)
      : value_(&value), path_(std::move(path)) {}

  [[nodiscard]] const nlohmann::json& value() const { return *value_; }
  /// Returns the field path: "spec.ports[0].name".
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool exists() const { return !value_->is_null(); }
  /// Returns the string, or "" if the value is not a string.
  [[nodiscard]] std::string text() const {
    return value_->is_string() ? value_->get<std::string>() : "";
  }
  /// Returns the number, or 0 if the value is not a number.
  [[nodiscard]] std::int64_t number() const {
    return value_->is_number() ? value_->get<std::int64_t>() : 0;
  }
  [[nodiscard]] bool is(const nlohmann::json& other) const { return *value_ == other; }
  [[nodiscard]] std::size_t size() const { return value_->size(); }

  /// Returns a field of an object: "spec.name".
  FieldRef operator[](const std::string& name) const {
    return {Child(name), path_.empty() ? name : path_ + '.' + name};
  }
  /// Returns the value of a key in a map: "data[key]".
  [[nodiscard]] FieldRef Key(const std::string& key) const {
    return {Child(key), path_ + '[' + key + ']'};
  }
  /// Returns the items of a list, or an empty list if the value is not a list.
  [[nodiscard]] std::vector<FieldRef> items() const {
    std::vector<FieldRef> items;
    if (!value_->is_array()) return items;
    for (const nlohmann::json& item : *value_) {
      items.emplace_back(item, path_ + '[' + std::to_string(items.size()) + ']');
    }
    return items;
  }
  /// Returns the keys of a map or object, or an empty list if the value is neither.
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    if (!value_->is_object()) return keys;
    for (auto entry = value_->begin(); entry != value_->end(); ++entry) keys.push_back(entry.key());
    return keys;
  }

 private:
  [[nodiscard]] const nlohmann::json& Child(const std::string& name) const {
    static const nlohmann::json none;
    if (!value_->is_object()) return none;
    const auto found = value_->find(name);
    return found == value_->end() ? none : *found;
  }

  const nlohmann::json* value_;
  std::string path_{};
};

}  // namespace kopp::schema
