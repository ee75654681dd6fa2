#include "webhook/change_patch.hpp"

#include "objects/merge_change.hpp"
#include "webhook/limited_json.hpp"

#include <map>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/informer/decode_error.hpp>
#include <kopp/informer/object.hpp>

namespace kopp {
namespace {

using nlohmann::json;

/// An object whose values are not parsed.
struct Members {
  std::map<std::string, RawJson> values{};
};
KOPP_FIELDS(Members, KOPP_FIELD(values, kOtherFields))

bool IsObject(std::string_view text) { return text.starts_with('{'); }

/// Parses a part of the object that the API server sent. Throws DecodeError.
json ParseSent(std::string_view text) {
  try {
    return ParseLimited(text);
  } catch (const std::invalid_argument& error) {
    throw DecodeError(DecodeError::Kind::kMalformed, "", error.what());
  }
}

class PatchWriter {
 public:
  /// Adds the operations for the value at `path`.
  void Add(const json::json_pointer& path, std::string_view object, std::string_view before,
           std::string_view after) {
    if (before == after) return;
    if (IsObject(object) && IsObject(before) && IsObject(after)) {
      return AddMembers(path, Decode<Members>(object), Decode<Members>(before),
                        Decode<Members>(after));
    }
    const json old_value = ParseSent(object);
    json new_value = old_value;
    MergeChange(new_value, json::parse(before), json::parse(after));
    AddDifference(path, old_value, new_value);
  }

  [[nodiscard]] std::string Text() const { return patch_.empty() ? "" : patch_.dump(); }

 private:
  void AddMembers(const json::json_pointer& path, const Members& object, const Members& before,
                  const Members& after) {
    for (const auto& [name, value] : before.values) {
      const bool is_removed = !after.values.contains(name) && object.values.contains(name);
      if (is_removed) patch_.push_back({{"op", "remove"}, {"path", (path / name).to_string()}});
    }
    for (const auto& [name, value] : after.values) {
      const auto old_value = object.values.find(name);
      const auto known = before.values.find(name);
      const json::json_pointer member = path / name;
      if (old_value == object.values.end()) {
        if (known == before.values.end() || known->second != value) AddValue(member, value.text);
      } else if (known != before.values.end()) {
        Add(member, old_value->second.text, known->second.text, value.text);
      } else {
        AddDifference(member, ParseSent(old_value->second.text), json::parse(value.text));
      }
    }
  }

  void AddValue(const json::json_pointer& path, const std::string& value) {
    patch_.push_back({{"op", "add"}, {"path", path.to_string()}, {"value", json::parse(value)}});
  }

  void AddDifference(const json::json_pointer& path, const json& from, const json& to) {
    for (json& operation : json::diff(from, to, path.to_string())) {
      patch_.push_back(std::move(operation));
    }
  }

  json patch_ = json::array();
};

}  // namespace

std::string ChangePatch(std::string_view object, std::string_view before, std::string_view after) {
  PatchWriter patch;
  patch.Add(json::json_pointer(), object, before, after);
  return patch.Text();
}

}  // namespace kopp
