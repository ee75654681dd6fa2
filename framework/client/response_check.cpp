#include "client/response_check.hpp"

#include <nlohmann/json.hpp>

#include <kopp/informer/detail/resource_path.hpp>
#include <kopp/informer/detail/response_text.hpp>

namespace kopp::detail {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

}  // namespace

DecodeError NotFromApiServer(std::string_view request, const std::string& problem) {
  return {DecodeError::Kind::kMalformed, "",
          std::string(request) + ": the response is not from a Kubernetes API server: " + problem +
              "; " + std::string(kNotAnApiServer)};
}

std::string DescribeNonObject(std::string_view body) {
  if (body.find_first_not_of(kBlanks) == std::string_view::npos) return "it has no body";
  const std::string description = DescribeBody(body);
  if (!description.starts_with(kHtmlPage)) return "it is not a complete JSON object";
  return "it is an HTML page" + description.substr(kHtmlPage.size());
}

void RequireJsonObject(std::string_view method, std::string_view target, std::string_view body) {
  const auto first = body.find_first_not_of(kBlanks);
  const auto last = body.find_last_not_of(kBlanks);
  if (first != std::string_view::npos && body[first] == '{' && body[last] == '}') return;
  throw NotFromApiServer(std::string(method).append(" ").append(target), DescribeNonObject(body));
}

void RequireJsonObjectStart(std::string_view request, std::string_view bytes) {
  const auto first = bytes.find_first_not_of(kBlanks);
  if (first == std::string_view::npos || bytes[first] == '{') return;
  throw NotFromApiServer(request, DescribeNonObject(bytes));
}

nlohmann::json ParseJson(const std::string& text) {
  auto value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_discarded()) return value;
  throw DecodeError(DecodeError::Kind::kMalformed, "", "the response is not valid JSON");
}

bool IsNotFoundByServer(const ApiError& error) {
  return error.IsNotFound() && !error.status().message.starts_with(kHtmlPage);
}

}  // namespace kopp::detail
