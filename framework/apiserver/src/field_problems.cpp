#include "field_problems.hpp"

#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Type = Schema::Type;

/// Follows the parser through an object of a schema, and finds what is passed over.
class ProblemFinder : public json::json_sax_t {
 public:
  explicit ProblemFinder(const Schema& schema) : next_(&schema) {}

  std::vector<std::string> problems;

  bool null() override { return Value(); }
  bool boolean(bool) override { return Value(); }
  bool number_integer(json::number_integer_t) override { return Value(); }
  bool number_unsigned(json::number_unsigned_t) override { return Value(); }
  bool number_float(json::number_float_t, const std::string&) override { return Value(); }
  bool string(std::string&) override { return Value(); }
  bool binary(json::binary_t&) override { return Value(); }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }

  bool start_object(std::size_t) override {
    levels_.push_back({.schema = next_, .step = Step()});
    return true;
  }
  bool start_array(std::size_t) override {
    levels_.push_back({.schema = next_, .step = Step(), .index = 0});
    next_ = next_ != nullptr && next_->type == Type::kList ? next_->items : nullptr;
    return true;
  }
  bool end_object() override { return End(); }
  bool end_array() override { return End(); }

  bool key(std::string& name) override {
    Level& level = levels_.back();
    level.key = name;
    const std::string path = Path();
    next_ = level.schema == nullptr ? nullptr : level.schema->Of(name);
    if (level.schema != nullptr && level.schema->type == Type::kObject && !level.schema->open &&
        next_ == nullptr) {
      problems.push_back("unknown field \"" + path + '"');
    } else if (!level.seen.insert(name).second) {
      problems.push_back("duplicate field \"" + path + '"');
    }
    return true;
  }

 private:
  struct Level {
    const Schema* schema = nullptr;  // nullptr: nothing is known of what is here
    std::string step;                // from the level above to this one
    std::optional<std::size_t> index{};
    std::string key{};
    std::set<std::string> seen{};
  };

  /// From the innermost level to the value that begins.
  [[nodiscard]] std::string Step() const {
    if (levels_.empty()) return "";
    const Level& level = levels_.back();
    if (level.index) return '[' + std::to_string(*level.index) + ']';
    return levels_.size() == 1 ? level.key : '.' + level.key;
  }
  [[nodiscard]] std::string Path() const {
    std::string path;
    for (const Level& level : levels_) path += level.step;
    return path + Step();
  }
  bool Value() {
    if (levels_.empty()) return true;
    Level& level = levels_.back();
    if (level.index) ++*level.index;
    next_ = level.index && level.schema != nullptr && level.schema->type == Type::kList
                ? level.schema->items
                : nullptr;
    return true;
  }
  bool End() {
    levels_.pop_back();
    return Value();
  }

  const Schema* next_;  // of the value that comes
  std::vector<Level> levels_;
};

}  // namespace

std::vector<std::string> FieldProblems(std::string_view text, const Schema& schema) {
  ProblemFinder finder(schema);
  json::sax_parse(text, &finder);
  return std::move(finder.problems);
}

}  // namespace kopp::apiserver
