#pragma once

#include "api/response.hpp"
#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

#include <string>

// IP addresses and ranges in fields of former API versions: leading zeros and IPv4 addresses in
// IPv6 notation are valid, but cause warnings.

namespace kopp::apiserver {

/// Returns whether the text is an IPv4 address, also in IPv6 notation.
[[nodiscard]] bool IsIpv4Address(const std::string& text);
/// Returns whether the text is another IPv6 address.
[[nodiscard]] bool IsIpv6Address(const std::string& text);
/// Requires an IP address.
void ValidateIpAddress(const FieldRef& address, FieldErrors& errors);
/// Requires an IP address that is not unspecified, loopback or link-local.
void ValidateNonSpecialIp(const FieldRef& ip, FieldErrors& errors);
/// Adds a warning if a valid IP address is not in its canonical form.
void WarnAboutIp(const FieldRef& address, Warnings& warnings);
/// Adds warnings if a valid range such as "10.0.0.0/8" is not in its canonical form.
void WarnAboutCidr(const FieldRef& range, Warnings& warnings);
/// Adds warnings about the addresses in the status of a Service or an Ingress.
void WarnAboutLoadBalancerStatus(const nlohmann::json& object, Warnings& warnings);

}  // namespace kopp::apiserver
