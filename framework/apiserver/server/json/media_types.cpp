#include "json/media_types.hpp"

#include "json/schema_names.hpp"
#include "schema/consume_until.hpp"

#include <algorithm>
#include <charconv>

namespace kopp::apiserver {
namespace {

/// Like ConsumeUntil(), but without the spaces around the result.
std::string_view ConsumeTrimmed(std::string_view& text, char separator) {
  std::string_view consumed = ConsumeUntil(text, separator);
  while (consumed.starts_with(' ')) consumed.remove_prefix(1);
  while (consumed.ends_with(' ')) consumed.remove_suffix(1);
  return consumed;
}

MediaType ParseMediaType(std::string_view text) {
  MediaType media{.type = ConsumeTrimmed(text, ';')};
  while (!text.empty()) {
    std::string_view value = ConsumeTrimmed(text, ';');
    const std::string_view name = ConsumeTrimmed(value, '=');
    if (name == "as") media.as = value;
    if (name == "v") media.version = value;
    if (name == "g") media.group = value;
    if (name == "q") std::from_chars(value.data(), value.data() + value.size(), media.quality);
  }
  return media;
}

}  // namespace

std::vector<MediaType> ParseAccept(std::string_view accept) {
  std::vector<MediaType> media_types;
  while (!accept.empty()) media_types.push_back(ParseMediaType(ConsumeTrimmed(accept, ',')));
  const auto is_better = [](const MediaType& a, const MediaType& b) {
    if (a.quality != b.quality) return a.quality > b.quality;
    return a.type != "*/*" && b.type == "*/*";
  };
  std::stable_sort(media_types.begin(), media_types.end(), is_better);
  return media_types;
}

}  // namespace kopp::apiserver
