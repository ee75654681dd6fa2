#pragma once

#include "pattern.hpp"
#include "said.hpp"
#include "schema.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// What a CRD's schema asks of a value beyond its type.
struct Rules {
  nlohmann::json said{};  ///< the schema's own words: "minimum", "maxLength", "enum", …
  std::optional<Pattern> pattern{};
  std::vector<std::string> required{};
  nlohmann::json fallback{};  ///< what null becomes in a list or a map; null: it stays
  // Schemas whose types say nothing: what they are about has its type already.
  std::vector<const Schema*> all_of{};
  std::vector<const Schema*> any_of{};
  std::vector<const Schema*> one_of{};
  const Schema* none = nullptr;  ///< "not"

  /// nullptr where the schema does not say it.
  [[nodiscard]] const nlohmann::json* Find(std::string_view word) const {
    const auto found = said.find(word);
    return found == said.end() || found->is_null() ? nullptr : &*found;
  }
};

}  // namespace kopp::apiserver
