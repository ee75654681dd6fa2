#include "script.hpp"

#include "http_text.hpp"

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

constexpr std::size_t kMostSteps = 20;
constexpr int kLongestWait = 1000;  // seconds: longer than any timeout or what is kept of the past

/// The text in front of `end`, which `text` loses with it.
std::string_view TakeUntil(std::string_view& text, std::string_view end) {
  const std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(taken.size() + end.size(), text.size()));
  return taken;
}

/// What goes over the wire for a line like "GET /readyz", and what stands below it.
std::string InHttp(std::string_view line, std::string_view text) {
  std::string message(line);
  message += " HTTP/1.1\r\nHost: fuzz\r\n";
  while (!text.empty()) {
    const std::string_view header = TakeUntil(text, "\n");
    if (header.empty()) break;
    message.append(header).append("\r\n");
  }
  message.append("Content-Length: ").append(std::to_string(text.size())).append("\r\n\r\n");
  return message.append(text);
}

/// None where a server would not even ask itself what it means.
std::optional<Ask> ReadHttp(std::string_view message) {
  http::request_parser<http::string_body> parser;
  parser.eager(true);
  while (!parser.is_done()) {
    boost::system::error_code error;
    const std::size_t parsed =
        parser.put(boost::asio::buffer(message.data(), message.size()), error);
    if (error || parsed == 0) return std::nullopt;
    message.remove_prefix(parsed);
  }
  if (ObjectionTo(parser.get())) return std::nullopt;
  return ReadAsk(parser.get());
}

std::optional<Step> ReadStep(std::string_view text) {
  const std::string_view line = TakeUntil(text, "\n");
  if (line.starts_with("WAIT ")) {
    int seconds = 0;
    std::from_chars(line.data() + 5, line.data() + line.size(), seconds);
    return Step{.wait = std::chrono::seconds(std::clamp(seconds, 1, kLongestWait))};
  }
  auto ask = ReadHttp(InHttp(line, text));
  if (!ask) return std::nullopt;
  if (ask->accept.empty()) ask->accept = "application/json";
  if (ask->content_type.empty()) ask->content_type = "application/json";
  return Step{.ask = std::move(*ask)};
}

}  // namespace

std::vector<Step> ReadScript(std::string_view text) {
  std::vector<Step> steps;
  while (!text.empty() && steps.size() < kMostSteps) {
    if (auto step = ReadStep(TakeUntil(text, "\n###\n"))) steps.push_back(std::move(*step));
  }
  return steps;
}

}  // namespace kopp::apiserver::fuzz
