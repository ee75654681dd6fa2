#include "list_response.hpp"

#include <nlohmann/json.hpp>

namespace kopp {
namespace {

constexpr auto kMalformed = DecodeError::Kind::kMalformed;

bool HasItems(const std::string& envelope) {
  const auto list = nlohmann::json::parse(envelope, nullptr, /*allow_exceptions=*/false);
  return list.is_object() && list.contains("items");
}

}  // namespace

ListResponse DecodeListResponse(const JsonSplitter& splitter) {
  if (!splitter.IsComplete()) {
    throw DecodeError(kMalformed, "", "the response is not a complete list");
  }
  auto list = Decode<ListResponse>(splitter.envelope());
  if (!list.items.text.empty()) return list;
  if (!list.kind.ends_with("List")) {
    throw DecodeError(kMalformed, "", "the response is not a list but a \"" + list.kind + "\"");
  }
  // A server written in Go may send `"items": null` for an empty list. If there are no items at
  // all, the cache must not take the list for an empty one, which would delete its objects.
  if (!HasItems(splitter.envelope())) {
    throw DecodeError(kMalformed, "", "the " + list.kind + " has no items");
  }
  return list;
}

}  // namespace kopp
