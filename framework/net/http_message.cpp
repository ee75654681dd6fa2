#include "net/http_message.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/status.hpp>

namespace kopp::detail {
namespace {

namespace http = boost::beast::http;
using boost::beast::iequals;

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

bool IsVisible(char c) { return c > ' ' && c < '\x7f'; }

bool IsHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Returns whether each % of `path` is followed by two hexadecimal digits.
bool IsPercentEncoded(std::string_view path) {
  for (std::size_t at = path.find('%'); at != std::string_view::npos; at = path.find('%', at + 1)) {
    if (at + 2 >= path.size() || !IsHex(path[at + 1]) || !IsHex(path[at + 2])) return false;
  }
  return true;
}

}  // namespace

std::optional<RequestError> FindRequestError(const HttpMessage& request) {
  const auto hosts = request.count(http::field::host);
  if (hosts > 1) return RequestError{400, "too many Host headers"};
  if (hosts == 0 && request.version() >= 11) {
    return RequestError{400, "missing required Host header"};
  }
  const bool has_other_encoding = request.count(http::field::transfer_encoding) > 0 &&
                                  !iequals(request[http::field::transfer_encoding], "chunked");
  if (has_other_encoding) {
    return RequestError{501, "the only supported Transfer-Encoding is chunked"};
  }
  const auto expected = request[http::field::expect];
  if (!expected.empty() && !iequals(expected, "100-continue")) {
    return RequestError{417, "the only supported Expect is 100-continue"};
  }
  const std::string_view target = OriginForm(View(request.target()));
  if (!target.starts_with('/')) return RequestError{400, "a request target must begin with /"};
  if (!IsPercentEncoded(target.substr(0, target.find('?')))) {
    return RequestError{400, "a % in a path must be followed by two hexadecimal digits"};
  }
  return std::nullopt;
}

std::string_view OriginForm(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const auto path = target.find('/', scheme.size());
    return path == std::string_view::npos ? "/" : target.substr(path);
  }
  return target;
}

std::string HeaderOf(const HttpMessage& request, std::string_view name) {
  std::string values;
  const auto [first, last] = request.equal_range({name.data(), name.size()});
  for (auto each = first; each != last; ++each) {
    values.append(values.empty() ? "" : ", ").append(View(each->value()));
  }
  std::replace_if(
      values.begin(), values.end(), [](char c) { return !IsVisible(c) && c != ' '; }, '?');
  return values;
}

std::string FormatHead(const OutgoingResponse& response, const HeadOptions& options) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(response.status));
  std::string head = options.http10 ? "HTTP/1.0 " : "HTTP/1.1 ";
  head.append(std::to_string(response.status)).append(" ").append(View(reason)).append("\r\n");
  head += response.headers;
  if (options.length) {
    head.append("Content-Length: ").append(std::to_string(*options.length)).append("\r\n");
  } else if (!options.http10) {
    head += "Transfer-Encoding: chunked\r\n";
  }
  if (options.keep_alive == options.http10) {  // differs from the default of the HTTP version
    head.append("Connection: ").append(options.keep_alive ? "keep-alive" : "close").append("\r\n");
  }
  return head + "\r\n";
}

std::string FormatChunk(std::string_view bytes) {
  std::array<char, 16> digits{};
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), bytes.size(), 16);
  std::string chunk(digits.data(), end);
  return chunk.append("\r\n").append(bytes).append("\r\n");
}

}  // namespace kopp::detail
