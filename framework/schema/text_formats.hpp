#pragma once

#include <string>

// The string formats that need more than a regular expression, with the rules of kube-apiserver
// (k8s.io/kube-openapi, pkg/validation/strfmt). Thread-safe.

namespace kopp::schema {

/// An address as "a@example.com" or "Name <a@example.com>": Go's net/mail.
[[nodiscard]] bool IsEmailFormat(const std::string& text);

/// A URI with a scheme, or an absolute path: ParseRequestURI of Go's net/url.
[[nodiscard]] bool IsUriFormat(const std::string& text);

/// An IPv4 or IPv6 address.
[[nodiscard]] bool IsIpAddressFormat(const std::string& text);
/// An IP address with a dot: also an IPv6 address that ends with an IPv4 address. Leading zeros of
/// its numbers are ignored.
[[nodiscard]] bool IsIpv4Format(const std::string& text);
/// An IP address with a colon.
[[nodiscard]] bool IsIpv6Format(const std::string& text);
/// An IP address with the length of a prefix: "10.0.0.0/8". Leading zeros are ignored.
[[nodiscard]] bool IsCidrFormat(const std::string& text);
/// An address of 6, 8 or 20 bytes: ParseMAC of Go's net.
[[nodiscard]] bool IsMacFormat(const std::string& text);

}  // namespace kopp::schema
