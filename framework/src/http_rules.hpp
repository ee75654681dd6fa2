#pragma once

#include "endpoint.hpp"

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/transport.hpp>

// What both adapters send, and what they take for an answer.
namespace kopp::detail {

struct Header {
  std::string_view name;
  std::string_view value;
};

/// Whether `text` is a path, with or without a query, as RFC 3986 has them.
[[nodiscard]] bool IsTarget(std::string_view text);

/// Throws std::invalid_argument for a request that would not arrive as it was meant: a line break
/// in it could add headers or a second request.
void CheckRequest(const Request& request);

/// The headers of `request` but Host and Content-Length. `authorization` may be empty.
[[nodiscard]] std::vector<Header> HeadersOf(const Request& request, std::string_view user_agent,
                                            std::string_view authorization);

/// "Bearer …", or nothing without a token.
[[nodiscard]] std::string Authorization(const std::string& token);

/// Whether `request` may be sent again when nobody knows what became of it.
[[nodiscard]] bool IsRepeatable(const Request& request);

/// Throws TransportError for a status that is no answer to a call of ours: a redirect.
void CheckStatus(int status);

/// Takes from one header of the answer what `response` has room for. Throws TransportError when the
/// header says that the body is encoded in a way that was not asked for.
void TakeHeader(std::string_view name, std::string_view value, Response& response);

/// `error`, with what was asked in front, or as kCancelled when `stop` was the reason.
[[nodiscard]] TransportError Explain(const TransportError& error, const Request& request,
                                     const Endpoint& endpoint, const std::stop_token& stop);

inline constexpr std::size_t kHeaderLimit = 64 << 10;

}  // namespace kopp::detail
