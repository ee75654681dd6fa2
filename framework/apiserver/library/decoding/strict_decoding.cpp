#include "decoding/strict_decoding.hpp"

#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Type = Schema::Type;

/// SAX handler that tracks the schema of the current value and records unknown and duplicate
/// fields.
class StrictDecodingHandler : public json::json_sax_t {
 public:
  explicit StrictDecodingHandler(const Schema& schema) : next_(&schema) {}

  std::vector<std::string> errors;

  bool null() override { return EndValue(); }
  bool boolean(bool) override { return EndValue(); }
  bool number_integer(json::number_integer_t) override { return EndValue(); }
  bool number_unsigned(json::number_unsigned_t) override { return EndValue(); }
  bool number_float(json::number_float_t, const std::string&) override { return EndValue(); }
  bool string(std::string&) override { return EndValue(); }
  bool binary(json::binary_t&) override { return EndValue(); }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }

  bool start_object(std::size_t) override {
    levels_.push_back({.schema = next_, .path_element = PathElement()});
    return true;
  }
  bool start_array(std::size_t) override {
    levels_.push_back({.schema = next_, .path_element = PathElement(), .index = 0});
    next_ = next_ != nullptr && next_->type == Type::kList ? next_->items : nullptr;
    return true;
  }
  bool end_object() override { return EndLevel(); }
  bool end_array() override { return EndLevel(); }

  bool key(std::string& name) override {
    Level& level = levels_.back();
    level.key = name;
    const std::string path = Path();
    next_ = level.schema == nullptr ? nullptr : level.schema->FieldSchema(name);
    if (level.schema != nullptr && level.schema->type == Type::kObject &&
        !level.schema->preserve_unknown_fields && next_ == nullptr) {
      errors.push_back("unknown field \"" + path + '"');
    } else if (!level.seen_keys.insert(name).second) {
      errors.push_back("duplicate field \"" + path + '"');
    }
    return true;
  }

 private:
  struct Level {
    const Schema* schema = nullptr;  // nullptr: not specified
    std::string path_element;        // relative to the parent level
    std::optional<std::size_t> index{};
    std::string key{};
    std::set<std::string> seen_keys{};
  };

  /// Returns the path element of the current value, relative to the innermost level.
  [[nodiscard]] std::string PathElement() const {
    if (levels_.empty()) return "";
    const Level& level = levels_.back();
    if (level.index) return '[' + std::to_string(*level.index) + ']';
    return levels_.size() == 1 ? level.key : '.' + level.key;
  }
  [[nodiscard]] std::string Path() const {
    std::string path;
    for (const Level& level : levels_) path += level.path_element;
    return path + PathElement();
  }
  bool EndValue() {
    if (levels_.empty()) return true;
    Level& level = levels_.back();
    if (level.index) ++*level.index;
    next_ = level.index && level.schema != nullptr && level.schema->type == Type::kList
                ? level.schema->items
                : nullptr;
    return true;
  }
  bool EndLevel() {
    levels_.pop_back();
    return EndValue();
  }

  const Schema* next_;  // schema of the next value
  std::vector<Level> levels_;
};

}  // namespace

std::vector<std::string> FindStrictDecodingErrors(std::string_view text, const Schema& schema) {
  StrictDecodingHandler handler(schema);
  json::sax_parse(text, &handler);
  return std::move(handler.errors);
}

}  // namespace kopp::apiserver
