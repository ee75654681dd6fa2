#include "net/bind_address.hpp"

#include "net/endpoint.hpp"

#include <charconv>

namespace kopp::detail {
namespace {

std::optional<std::string> ParseHost(std::string_view text) {
  if (text.empty() || IsHostName(text)) return std::string(text);
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  std::string address(text.substr(1, text.size() - 2));
  if (!IsIpv6Address(address)) return std::nullopt;
  return address;
}

}  // namespace

std::optional<BindAddress> ParseBindAddress(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto host = ParseHost(text.substr(0, colon));
  const char* const end = text.data() + text.size();
  std::uint16_t port = 0;
  const auto [parsed_end, error] = std::from_chars(text.data() + colon + 1, end, port);
  if (!host || error != std::errc() || parsed_end != end) return std::nullopt;
  return BindAddress{std::move(*host), port};
}

}  // namespace kopp::detail
