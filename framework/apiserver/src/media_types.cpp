#include "media_types.hpp"

#include <algorithm>
#include <charconv>

namespace kopp::apiserver {
namespace {

/// The text in front of `end`, trimmed; `text` loses it.
std::string_view Take(std::string_view& text, char end) {
  std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  while (taken.starts_with(' ')) taken.remove_prefix(1);
  while (taken.ends_with(' ')) taken.remove_suffix(1);
  return taken;
}

MediaType ReadMediaType(std::string_view text) {
  MediaType media{.type = Take(text, ';')};
  while (!text.empty()) {
    std::string_view value = Take(text, ';');
    const std::string_view name = Take(value, '=');
    if (name == "as") media.as = value;
    if (name == "v") media.version = value;
    if (name == "g") media.group = value;
    if (name == "q") std::from_chars(value.data(), value.data() + value.size(), media.quality);
  }
  return media;
}

}  // namespace

std::vector<MediaType> ReadAccept(std::string_view accept) {
  std::vector<MediaType> choices;
  while (!accept.empty()) choices.push_back(ReadMediaType(Take(accept, ',')));
  const auto is_better = [](const MediaType& a, const MediaType& b) {
    if (a.quality != b.quality) return a.quality > b.quality;
    return a.type != "*/*" && b.type == "*/*";
  };
  std::stable_sort(choices.begin(), choices.end(), is_better);
  return choices;
}

}  // namespace kopp::apiserver
