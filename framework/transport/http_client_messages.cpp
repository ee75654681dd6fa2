#include "http_client_messages.hpp"

#include "base/ascii.hpp"
#include "base/quoted.hpp"
#include "net/transport_failure.hpp"

#include <algorithm>
#include <stdexcept>

#include <string.h>

#include <kopp/informer/detail/retry_after.hpp>

namespace kopp::detail {
namespace {

using ErrorKind = TransportError::Kind;

bool IsHeaderValueCharacter(char c) { return (c >= ' ' && c < '\x7f') || c == '\t'; }

bool EqualsIgnoringCase(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [lower](char a, char b) { return lower(a) == lower(b); });
}

// Percent-encodes '%' and all characters that are not allowed in the name of a header, as client-go
// does for the keys of Impersonate-Extra.
std::string EscapeHeaderName(std::string_view name) {
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : name) {
    if (IsLetterOrDigit(c) ||
        std::string_view("!#$&'*+-.^_`|~").find(c) != std::string_view::npos) {
      escaped += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      escaped.append({'%', kHexDigits[byte / 16], kHexDigits[byte % 16]});
    }
  }
  return escaped;
}

std::string_view TrimBlanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Removes a quoted string with its backslash escapes from the front of `rest` and stores its
// content in `text`. Returns false if there is none.
bool ConsumeQuotedString(std::string_view& rest, std::string& text) {
  if (!rest.starts_with('"')) return false;
  text.clear();
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return true;
    }
    if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
    text += rest[i];
  }
  return false;
}

// Returns whether the header announces a Content-Encoding, or a Transfer-Encoding other than
// "chunked".
bool IsUnexpectedEncoding(std::string_view name, std::string_view value) {
  return (EqualsIgnoringCase(name, "Content-Encoding") && !EqualsIgnoringCase(value, "identity")) ||
         (EqualsIgnoringCase(name, "Transfer-Encoding") && !EqualsIgnoringCase(value, "chunked"));
}

// Parses a Warning header: a comma-separated list such as `299 - "text"` (RFC 7234, section 5.5).
// Appends the texts of warnings with code 299 to `warnings` and ignores other codes. Stops at the
// first malformed warning without an error, as client-go does.
void ParseWarnings(std::string_view rest, std::vector<std::string>& warnings) {
  std::string text;
  std::string date;
  for (rest = TrimBlanks(rest); !rest.empty(); rest = TrimBlanks(rest)) {
    const bool is_warning_299 = rest.starts_with("299 ");
    const auto quote = rest.find('"');
    if (quote == std::string_view::npos) return;
    rest.remove_prefix(quote);
    if (!ConsumeQuotedString(rest, text)) return;
    if (is_warning_299) warnings.push_back(text);
    rest = TrimBlanks(rest);
    ConsumeQuotedString(rest, date);
    rest = TrimBlanks(rest);
    if (!rest.starts_with(',')) return;
    rest.remove_prefix(1);
  }
}

}  // namespace

void CheckApiRequest(const ApiRequest& request) {
  const auto all = [](std::string_view text, auto allowed) {
    return std::all_of(text.begin(), text.end(), allowed);
  };
  if (request.method.empty() || !all(request.method, IsLetterOrDigit)) {
    throw std::invalid_argument("invalid HTTP method " + Quoted(request.method) +
                                ": use letters and digits only");
  }
  if (!IsRequestTarget(request.target)) {
    throw std::invalid_argument("invalid request target " + Quoted(request.target) +
                                ": use a percent-encoded path that starts with exactly one /");
  }
  const auto validate_header = [&](const char* name, const std::string& value) {
    if (all(value, IsHeaderValueCharacter)) return;
    throw std::invalid_argument("invalid " + std::string(name) + " header " + Quoted(value) +
                                ": use printable ASCII characters only");
  };
  validate_header("Content-Type", request.content_type);
  validate_header("Accept", request.accept);
  validate_header("traceparent", request.traceparent);
}

std::vector<Header> RequestHeaders(const ApiRequest& request, std::string_view user_agent,
                                   std::string_view authorization) {
  std::vector<Header> headers;
  headers.reserve(4);
  headers.push_back({"User-Agent", user_agent});
  if (!request.accept.empty()) headers.push_back({"Accept", request.accept});
  if (!request.traceparent.empty()) headers.push_back({"traceparent", request.traceparent});
  if (!authorization.empty()) headers.push_back({"Authorization", authorization});
  if (!request.body.empty()) headers.push_back({"Content-Type", request.content_type});
  return headers;
}

SecretString AuthorizationHeader(const SecretString& token) {
  if (token.empty()) return {};
  std::string text;
  text.reserve(7 + token.Reveal().size());  // growing would leave a copy behind
  text.append("Bearer ").append(token.Reveal());
  SecretString header(text);
  ::explicit_bzero(text.data(), text.size());
  return header;
}

std::vector<std::pair<std::string, std::string>> ImpersonationHeaders(
    const ImpersonationConfig& impersonate) {
  std::vector<std::pair<std::string, std::string>> headers;
  const auto& [user, uid, groups, extra] = impersonate;
  if (!user.empty()) headers.emplace_back("Impersonate-User", user);
  if (!uid.empty()) headers.emplace_back("Impersonate-Uid", uid);
  for (const std::string& group : groups) headers.emplace_back("Impersonate-Group", group);
  for (const auto& [key, values] : extra) {
    const std::string name = "Impersonate-Extra-" + EscapeHeaderName(key);
    for (const std::string& value : values) headers.emplace_back(name, value);
  }
  return headers;
}

bool IsSafeToRetry(const ApiRequest& request) { return request.method == "GET"; }

bool IsWatch(const ApiRequest& request) {
  const auto query = request.target.find('?');
  return query != std::string::npos && request.target.find("watch=", query) != std::string::npos;
}

// The message omits the query of the location, because that may contain a credential.
void RejectRedirect(int status, std::string_view location) {
  if (status < 300 || status >= 400) return;
  const std::string_view target = location.substr(0, location.find_first_of("?#"));
  throw TransportError(ErrorKind::kMalformed,
                       "the server sent a redirect (" + std::to_string(status) + ")" +
                           (target.empty() ? "" : " to " + Quoted(target)) +
                           ", which kopp does not follow; configure the final address of the API "
                           "server, and check whether a proxy or a login page answers instead");
}

void ApplyResponseHeader(std::string_view name, std::string_view value, ApiResponse& response) {
  if (EqualsIgnoringCase(name, "Retry-After")) {
    response.retry_after = ParseRetryAfter(TrimBlanks(value), Clock::Real().WallNow());
  } else if (EqualsIgnoringCase(name, "Warning")) {
    ParseWarnings(value, response.warnings);
  } else if (EqualsIgnoringCase(name, "Date")) {
    response.date = TrimBlanks(value);
  } else if (IsUnexpectedEncoding(name, TrimBlanks(value))) {
    throw TransportError(ErrorKind::kMalformed,
                         "the response has the unexpected header " +
                             Quoted(std::string(name) + ": " + std::string(value)) +
                             "; check whether a proxy compresses responses");
  }
}

TransportError AddRequestContext(const TransportError& error, const ApiRequest& request,
                                 const Endpoint& endpoint, const std::stop_token& stop) {
  const std::string request_line =
      request.method + " " + endpoint.Origin() + endpoint.base_path + request.target + ": ";
  const TransportError cause = stop.stop_requested() ? failure::Cancelled() : error;
  return {cause.kind(), request_line + cause.what()};
}

}  // namespace kopp::detail
