#include "script.hpp"

#include "http/http_message.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>

namespace kopp::apiserver::fuzz {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kMaxSteps = 20;
constexpr int kMaxWaitSeconds = 1000;  // longer than each timeout and the history of the store

/// Removes and returns the text before `separator`, and removes the separator itself.
std::string_view ConsumeUntil(std::string_view& text, std::string_view separator) {
  const std::string_view consumed = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(consumed.size() + separator.size(), text.size()));
  return consumed;
}

/// Returns the HTTP message for a line like "GET /readyz" and the headers and body below it.
std::string HttpMessage(std::string_view line, std::string_view text) {
  std::string message(line);
  message += " HTTP/1.1\r\nHost: fuzz\r\n";
  while (!text.empty()) {
    const std::string_view header = ConsumeUntil(text, "\n");
    if (header.empty()) break;
    message.append(header).append("\r\n");
  }
  message.append("Content-Length: ").append(std::to_string(text.size())).append("\r\n\r\n");
  return message.append(text);
}

/// Returns std::nullopt if the message is not valid HTTP.
std::optional<ServerRequest> ParseHttp(std::string_view message) {
  http::request_parser<http::string_body> parser;
  parser.eager(true);
  while (!parser.is_done()) {
    boost::system::error_code error;
    const std::size_t parsed =
        parser.put(boost::asio::buffer(message.data(), message.size()), error);
    if (error || parsed == 0) return std::nullopt;
    message.remove_prefix(parsed);
  }
  if (kopp::detail::FindRequestError(parser.get())) return std::nullopt;
  return ReadServerRequest(parser.get());
}

std::optional<Step> ParseStep(std::string_view text) {
  const std::string_view line = ConsumeUntil(text, "\n");
  if (line.starts_with("WAIT ")) {
    int seconds = 0;
    std::from_chars(line.data() + 5, line.data() + line.size(), seconds);
    return Step{.wait = std::chrono::seconds(std::clamp(seconds, 1, kMaxWaitSeconds))};
  }
  auto request = ParseHttp(HttpMessage(line, text));
  if (!request) return std::nullopt;
  if (request->accept.empty()) request->accept = "application/json";
  if (request->content_type.empty()) request->content_type = "application/json";
  return Step{.request = std::move(*request)};
}

}  // namespace

std::vector<Step> ParseScript(std::string_view text) {
  std::vector<Step> steps;
  while (!text.empty() && steps.size() < kMaxSteps) {
    if (auto step = ParseStep(ConsumeUntil(text, "\n###\n"))) steps.push_back(std::move(*step));
  }
  return steps;
}

}  // namespace kopp::apiserver::fuzz
