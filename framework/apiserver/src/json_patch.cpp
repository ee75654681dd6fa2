#include "json_patch.hpp"

#include "status.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kMostCopied = 3 << 20;  // bytes, by one patch
constexpr std::size_t kDeepest = 512;         // levels, as of what clients send

[[noreturn]] void Fail() { throw std::invalid_argument("an operation cannot be carried out"); }

std::string Unescaped(std::string_view part) {
  std::string plain;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const bool escaped = part[i] == '~' && i + 1 < part.size();
    if (escaped) ++i;
    plain += !escaped ? part[i] : part[i] == '1' ? '/' : '~';
  }
  return plain;
}

std::size_t DepthOf(const json& value) {
  std::size_t deepest = 0;
  if (!value.is_structured()) return deepest;
  for (const json& part : value) deepest = std::max(deepest, DepthOf(part));
  return deepest + 1;
}

/// Where an operation works: a member of an object, or an item of a list.
class Location {
 public:
  Location(json& document, const json& path) {
    if (!path.is_string()) Fail();
    std::string_view rest = path.get_ref<const std::string&>();
    if (!rest.starts_with('/')) Fail();
    container_ = &document;
    for (;;) {
      rest.remove_prefix(1);
      const std::string_view part = rest.substr(0, rest.find('/'));
      rest.remove_prefix(part.size());
      name_ = Unescaped(part);
      ++depth_;
      if (rest.empty()) break;
      container_ = Find();
      if (container_ == nullptr) Fail();
    }
    if (!container_->is_structured()) Fail();
  }

  /// nullptr where there is nothing.
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

  void Remove() const {
    if (Find() == nullptr) Fail();
    if (container_->is_object()) {
      container_->erase(name_);
    } else {
      container_->erase(*Index());
    }
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
  // Nothing that is read, compared or written of the document needs more stack than that.
  void CheckDepth(const json& value) const {
    if (depth_ + DepthOf(value) > kDeepest) Fail();
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

json Member(const json& operation, const char* name) {
  const auto found = operation.find(name);
  return found == operation.end() ? json() : *found;
}

json Taken(json& document, const json& operation) {
  const json* found = Location(document, Member(operation, "from")).Find();
  if (found == nullptr) Fail();
  return *found;
}

void Test(const Location& place, const json& expected) {
  const json* found = place.Find();
  if (found == nullptr ? !expected.is_null() : *found != expected) Fail();
}

/// Copies of copies grow fast.
void Count(const json& copy, std::size_t& copied) {
  copied += copy.dump().size();
  if (copied <= kMostCopied) return;
  throw Refusal(413, "RequestEntityTooLarge",
                "Request entity too large: Unable to complete the copy, the accumulated size "
                "increase of copy is " +
                    std::to_string(copied) + ", exceeding the limit " + std::to_string(kMostCopied),
                json::object());
}

void CarryOut(json& document, const json& operation, std::size_t& copied) {
  const json name = Member(operation, "op");
  const json path = Member(operation, "path");
  if (name == "add") {
    Location(document, path).Add(Member(operation, "value"));
  } else if (name == "remove") {
    Location(document, path).Remove();
  } else if (name == "replace") {
    Location(document, path).Replace(Member(operation, "value"));
  } else if (name == "copy") {
    json value = Taken(document, operation);
    Count(value, copied);
    Location(document, path).Add(std::move(value));
  } else if (name == "move") {
    json value = Taken(document, operation);
    Location(document, Member(operation, "from")).Remove();
    Location(document, path).Add(std::move(value));
  } else if (name == "test") {
    Test(Location(document, path), Member(operation, "value"));
  } else {
    Fail();
  }
}

}  // namespace

json JsonPatched(json document, const json& operations) {
  std::size_t copied = 0;
  for (const json& operation : operations) CarryOut(document, operation, copied);
  return document;
}

}  // namespace kopp::apiserver
