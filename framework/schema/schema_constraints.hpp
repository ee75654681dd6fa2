#pragma once

#include "pattern.hpp"
#include "schema/accessors.hpp"
#include "schema/schema.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::schema {

/// The constraints of a CRD's schema on a value, beyond its type.
struct SchemaConstraints {
  nlohmann::json keywords{};  ///< "minimum", "maxLength", "enum", …, as in the schema
  std::optional<Pattern> pattern{};
  std::vector<std::string> required{};
  nlohmann::json default_value{};  ///< replaces null in a list or a map, unless it is null itself
  // Schemas without types: the types are in the schema that contains them.
  std::vector<const Schema*> all_of{};
  std::vector<const Schema*> any_of{};
  std::vector<const Schema*> one_of{};
  const Schema* not_schema = nullptr;  ///< "not"

  /// Returns the value of a keyword, or nullptr if the schema does not have it.
  [[nodiscard]] const nlohmann::json* Find(std::string_view keyword) const {
    const auto found = keywords.find(keyword);
    return found == keywords.end() || found->is_null() ? nullptr : &*found;
  }
};

}  // namespace kopp::schema
