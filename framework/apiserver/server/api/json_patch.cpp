#include "api/json_patch.hpp"

#include "api/status.hpp"
#include "schema/accessors.hpp"
#include "schema/max_depth.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxCopiedBytes = 3 << 20;  // by one patch

[[noreturn]] void Fail() { throw std::invalid_argument("a JSON patch operation failed"); }

/// Decodes "~0" and "~1" in a token of a JSON pointer.
std::string UnescapeToken(std::string_view token) {
  std::string unescaped;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool is_escape = token[i] == '~' && i + 1 < token.size();
    if (is_escape) ++i;
    unescaped += !is_escape ? token[i] : token[i] == '1' ? '/' : '~';
  }
  return unescaped;
}

std::size_t DepthOf(const json& value) {
  std::size_t deepest = 0;
  if (!value.is_structured()) return deepest;
  for (const json& field : value) deepest = std::max(deepest, DepthOf(field));
  return deepest + 1;
}

/// The target of an operation: a member of an object, or an item of a list. Throws
/// std::invalid_argument if the target is not valid.
class Location {
 public:
  Location(json& document, const json& path) {
    if (!path.is_string()) Fail();
    std::string_view rest = path.get_ref<const std::string&>();
    if (!rest.starts_with('/')) Fail();
    container_ = &document;
    for (;;) {
      rest.remove_prefix(1);
      const std::string_view token = rest.substr(0, rest.find('/'));
      rest.remove_prefix(token.size());
      name_ = UnescapeToken(token);
      ++depth_;
      if (rest.empty()) break;
      container_ = Find();
      if (container_ == nullptr) Fail();
    }
    if (!container_->is_structured()) Fail();
  }

  /// Returns the value at the target, or nullptr if there is none.
  [[nodiscard]] json* Find() const {
    if (container_->is_object()) {
      const auto found = container_->find(name_);
      return found == container_->end() ? nullptr : &*found;
    }
    const auto index = Index();
    return index && *index < container_->size() ? &(*container_)[*index] : nullptr;
  }

  void Add(json value) const {
    CheckDepth(value);
    if (container_->is_object()) {
      (*container_)[name_] = std::move(value);
    } else if (name_ == "-") {
      container_->push_back(std::move(value));
    } else {
      const auto index = Index();
      if (!index || *index > container_->size()) Fail();
      container_->insert(container_->begin() + static_cast<std::ptrdiff_t>(*index),
                         std::move(value));
    }
  }

  /// Returns whether the target is a member of an object, which may be missing.
  [[nodiscard]] bool is_member() const { return container_->is_object(); }

  void Remove() const { static_cast<void>(Take()); }

  /// Removes the value, and returns it.
  [[nodiscard]] json Take() const {
    json* const found = Find();
    if (found == nullptr) Fail();
    json value = std::move(*found);
    if (container_->is_object()) {
      container_->erase(name_);
    } else {
      container_->erase(*Index());
    }
    return value;
  }

  void Replace(json value) const {
    CheckDepth(value);
    json* found = Find();
    if (found != nullptr) {
      *found = std::move(value);
    } else {
      if (!container_->is_object()) Fail();
      Add(std::move(value));
    }
  }

 private:
  // Limits the stack that recursive functions on the document need.
  void CheckDepth(const json& value) const {
    if (depth_ + DepthOf(value) > kMaxJsonDepth) Fail();
  }
  [[nodiscard]] std::optional<std::size_t> Index() const {
    if (!container_->is_array()) return std::nullopt;
    std::ptrdiff_t index = 0;
    const auto [end, error] = std::from_chars(name_.data(), name_.data() + name_.size(), index);
    if (error != std::errc() || end != name_.data() + name_.size()) return std::nullopt;
    if (index < 0) index += static_cast<std::ptrdiff_t>(container_->size());
    return index < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(index));
  }

  json* container_ = nullptr;
  std::size_t depth_ = 0;
  std::string name_;
};

/// Returns the value to copy. A missing member of an object is copied as null.
json CopiedValue(json& document, const json& operation) {
  const Location from(document, Field(operation, "from"));
  const json* found = from.Find();
  if (found != nullptr) return *found;
  if (!from.is_member()) Fail();
  return nullptr;
}

/// 1 and 1.0 differ: an integer does not equal a number with a fraction.
void Test(const Location& location, const json& expected) {
  const json* found = location.Find();
  if (found == nullptr ? !expected.is_null() : found->dump() != expected.dump()) Fail();
}

/// Limits the total size of copied values: repeated copies grow exponentially.
void CheckCopySize(const json& copy, std::size_t& copied) {
  copied += copy.dump().size();
  if (copied <= kMaxCopiedBytes) return;
  throw TooLarge(
      fmt::format("Unable to complete the copy, the accumulated size increase of copy is "
                  "{}, exceeding the limit {}",
                  copied, kMaxCopiedBytes));
}

void ApplyOperation(json& document, const json& operation, std::size_t& copied) {
  const json& op = Field(operation, "op");
  const json& path = Field(operation, "path");
  if (op == "add") {
    Location(document, path).Add(Field(operation, "value"));
  } else if (op == "remove") {
    Location(document, path).Remove();
  } else if (op == "replace") {
    Location(document, path).Replace(Field(operation, "value"));
  } else if (op == "copy") {
    json value = CopiedValue(document, operation);
    CheckCopySize(value, copied);
    Location(document, path).Add(std::move(value));
  } else if (op == "move") {
    json value = Location(document, Field(operation, "from")).Take();
    Location(document, path).Add(std::move(value));
  } else if (op == "test") {
    Test(Location(document, path), Field(operation, "value"));
  } else {
    Fail();
  }
}

}  // namespace

json ApplyJsonPatch(json document, const json& operations) {
  std::size_t copied = 0;
  for (const json& operation : operations) ApplyOperation(document, operation, copied);
  return document;
}

}  // namespace kopp::apiserver
