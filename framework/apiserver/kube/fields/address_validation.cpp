#include "fields/address_validation.hpp"

#include "schema/formats.hpp"
#include "schema/go_quoted.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <arpa/inet.h>
#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using Bytes = std::array<unsigned char, sizeof(in6_addr)>;

/// An IP address. An IPv4 address has 4 bytes, the rest of `bytes` is 0.
struct Address {
  int family = AF_INET;
  Bytes bytes{};
  bool is_strict = true;  ///< whether it was written without superfluous zeros

  [[nodiscard]] std::size_t size() const { return family == AF_INET ? 4 : bytes.size(); }
  /// Returns whether it is an IPv4 address in IPv6 notation: ::ffff:10.0.0.1.
  [[nodiscard]] bool is_mapped() const {
    constexpr std::array<unsigned char, 12> kPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return family == AF_INET6 && std::equal(kPrefix.begin(), kPrefix.end(), bytes.begin());
  }
  /// Returns the address, with IPv4 instead of a mapped address.
  [[nodiscard]] Address Unmapped() const {
    if (!is_mapped()) return *this;
    Address v4;
    std::copy(bytes.end() - 4, bytes.end(), v4.bytes.begin());
    return v4;
  }
};

std::optional<Address> ParseAddress(const std::string& text) {
  if (text.find('\0') != std::string::npos) return std::nullopt;
  Address address;
  address.family = text.find(':') == std::string::npos ? AF_INET : AF_INET6;
  if (inet_pton(address.family, text.c_str(), address.bytes.data()) == 1) return address;
  address.is_strict = false;
  if (inet_pton(address.family, WithoutLeadingZeros(text).c_str(), address.bytes.data()) == 1)
    return address;
  return std::nullopt;
}

/// Formats an address as Go's net.IP: a mapped address is an IPv4 address, and no other IPv6
/// address has dots.
std::string ToString(const Address& address) {
  const Address shown = address.Unmapped();
  std::array<char, INET6_ADDRSTRLEN> text{};
  std::string formatted = inet_ntop(shown.family, shown.bytes.data(), text.data(), text.size());
  if (shown.family == AF_INET || formatted.find('.') == std::string::npos) return formatted;
  const Bytes& bytes = shown.bytes;  // 96 zero bits, and 32 bits that inet_ntop writes with dots
  return fmt::format("::{:x}:{:x}", bytes[12] << 8U | bytes[13], bytes[14] << 8U | bytes[15]);
}

/// A range of IP addresses: those that have the first `bits` bits of `address`.
struct Cidr {
  Address address{};
  std::size_t bits = 0;
  bool is_strict = true;  ///< whether it was written without superfluous zeros

  [[nodiscard]] Cidr Masked() const {
    Cidr masked = *this;
    for (std::size_t i = bits; i < address.size() * 8; ++i)
      masked.address.bytes[i / 8] &= static_cast<unsigned char>(~(0x80U >> i % 8));
    return masked;
  }
};

std::optional<Cidr> ParseCidr(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string_view digits = std::string_view(text).substr(std::min(slash + 1, text.size()));
  const auto address = ParseAddress(text.substr(0, slash));
  Cidr cidr;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), cidr.bits);
  if (!address || error != std::errc() || end != digits.data() + digits.size() ||
      cidr.bits > address->size() * 8)
    return std::nullopt;
  cidr.address = *address;
  cidr.is_strict = address->is_strict && (digits.size() == 1 || digits.front() != '0');
  return cidr;
}

std::string ToString(const Cidr& cidr) {
  constexpr std::size_t kMappedBits = 96;
  const std::size_t hidden = cidr.address.is_mapped() ? std::min(kMappedBits, cidr.bits) : 0;
  return ToString(cidr.address) + '/' + std::to_string(cidr.bits - hidden);
}

bool HasPrefix(const Bytes& bytes, std::initializer_list<unsigned char> prefix) {
  return std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

}  // namespace

bool IsIpv4Address(const std::string& text) {
  const auto address = ParseAddress(text);
  return address && address->Unmapped().family == AF_INET;
}

bool IsIpv6Address(const std::string& text) {
  const auto address = ParseAddress(text);
  return address && address->Unmapped().family == AF_INET6;
}

void ValidateIpAddress(const FieldRef& address, FieldErrors& errors) {
  if (ParseAddress(address.text())) return;
  errors.push_back(InvalidValue(address.path(), address.text(),
                                "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
}

void ValidateNonSpecialIp(const FieldRef& ip, FieldErrors& errors) {
  const auto add_invalid = [&](const std::string& detail) {
    errors.push_back(InvalidValue(ip.path(), ip.text(), detail));
  };
  const auto parsed = ParseAddress(ip.text());
  if (!parsed) return add_invalid("must be a valid IP address");
  const Address address = parsed->Unmapped();
  const bool is_v4 = address.family == AF_INET;
  const Bytes& bytes = address.bytes;
  const bool has_zero_prefix =
      std::all_of(bytes.begin(), bytes.end() - 1, [](unsigned char byte) { return byte == 0; });
  if (has_zero_prefix && bytes.back() == 0)
    add_invalid("may not be unspecified (" + ip.text() + ')');
  if (is_v4 ? bytes[0] == 127 : has_zero_prefix && bytes.back() == 1)
    add_invalid("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  if (is_v4 ? HasPrefix(bytes, {169, 254}) : bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80)
    add_invalid("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  if (is_v4 ? HasPrefix(bytes, {224, 0, 0}) : bytes[0] == 0xff && (bytes[1] & 0x0f) == 0x02)
    add_invalid("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
}

void WarnAboutIp(const FieldRef& address, Warnings& warnings) {
  const auto parsed = ParseAddress(address.text());
  if (!parsed) return;
  const std::string quoted = GoQuoted(address.text());
  const std::string canonical = ToString(*parsed);
  if (!parsed->is_strict || parsed->is_mapped()) {
    warnings.push_back(address.path() + ": non-standard IP address " + quoted +
                       " will be considered invalid in a future Kubernetes release: use \"" +
                       canonical + '"');
  } else if (parsed->family == AF_INET6 && canonical != address.text()) {
    warnings.push_back(address.path() + ": IPv6 address " + quoted +
                       " should be in RFC 5952 canonical format (\"" + canonical + "\")");
  }
}

void WarnAboutCidr(const FieldRef& range, Warnings& warnings) {
  const auto parsed = ParseCidr(range.text());
  if (!parsed) return;
  const std::string quoted = GoQuoted(range.text());
  const Cidr masked = parsed->Masked();
  const bool is_ambiguous = masked.address.bytes != parsed->address.bytes;
  if (is_ambiguous) {
    warnings.push_back(range.path() + ": CIDR value " + quoted +
                       " is ambiguous in this context (should be \"" + ToString(masked) +
                       "\" or \"" + ToString(parsed->address) + '/' +
                       std::to_string(parsed->address.size() * 8) + "\"?)");
  }
  if (!parsed->is_strict || parsed->address.is_mapped()) {
    warnings.push_back(range.path() + ": non-standard CIDR value " + quoted +
                       " will be considered invalid in a future Kubernetes release: use \"" +
                       ToString(masked) + '"');
  } else if (!is_ambiguous && parsed->address.family == AF_INET6 &&
             ToString(*parsed) != range.text()) {
    warnings.push_back(range.path() + ": IPv6 CIDR value " + quoted +
                       " should be in RFC 5952 canonical format (\"" + ToString(*parsed) + "\")");
  }
}

void WarnAboutLoadBalancerStatus(const nlohmann::json& object, Warnings& warnings) {
  for (const FieldRef& ingress : FieldRef(object)["status"]["loadBalancer"]["ingress"].items())
    WarnAboutIp(FieldRef(ingress["ip"].value(), ingress.path()), warnings);
}

}  // namespace kopp::apiserver
