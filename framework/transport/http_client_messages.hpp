#pragma once

#include "net/endpoint.hpp"

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/transport.hpp>

// Functions for requests and responses that the two transport adapters share: validation, headers
// and error texts.
namespace kopp::detail {

/// A header of a request. Does not own its strings.
struct Header {
  std::string_view name;
  std::string_view value;
};

/// Throws std::invalid_argument for a request with characters that are not allowed in its method,
/// target or headers. This prevents header injection and request smuggling by line breaks.
void CheckApiRequest(const ApiRequest& request);

/// Returns the headers of `request` except Host and Content-Length. `authorization` may be empty.
/// The headers refer to the arguments, which must outlive them.
[[nodiscard]] std::vector<Header> RequestHeaders(const ApiRequest& request,
                                                 std::string_view user_agent,
                                                 std::string_view authorization);

/// Returns "Bearer TOKEN", or "" if `token` is empty.
[[nodiscard]] SecretString AuthorizationHeader(const SecretString& token);

/// Returns the names and values of the Impersonate-… headers, which must be valid.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> ImpersonationHeaders(
    const ImpersonationConfig& impersonate);

/// Returns whether `request` may be sent again if it is unknown whether the server has processed
/// it.
[[nodiscard]] bool IsSafeToRetry(const ApiRequest& request);

[[nodiscard]] bool IsWatch(const ApiRequest& request);

/// Throws TransportError if `status` is a redirect (3xx). `location` is the header of this name.
void RejectRedirect(int status, std::string_view location);

/// Stores the value of a Retry-After or Warning header in `response`; ignores other headers. Throws
/// TransportError if the header announces an encoding of the body, because kopp does not request
/// one.
void ApplyResponseHeader(std::string_view name, std::string_view value, ApiResponse& response);

/// Returns `error` with method and URL in front of its text. If a stop was requested, the returned
/// error is kCancelled instead.
[[nodiscard]] TransportError AddRequestContext(const TransportError& error,
                                               const ApiRequest& request, const Endpoint& endpoint,
                                               const std::stop_token& stop);

/// The limit for the header section of a response, in bytes.
inline constexpr std::size_t kMaxHeaderBytes = 64 << 10;

}  // namespace kopp::detail
