#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <kopp/informer/api_error.hpp>
#include <kopp/informer/decode_error.hpp>

namespace kopp::detail {

/// Returns the error for a successful response that no API server sends, such as a login page.
/// `request` is for example "GET /version".
[[nodiscard]] DecodeError NotFromApiServer(std::string_view request, const std::string& problem);

/// Describes the body of a successful response that is not a JSON object: "it has no body". Quotes
/// an HTML page only: other text may contain the data of a Secret.
[[nodiscard]] std::string DescribeNonObject(std::string_view body);

/// Throws NotFromApiServer unless `body`, the response to a request with this method and target,
/// begins and ends as a JSON object. Does not parse it.
void RequireJsonObject(std::string_view method, std::string_view target, std::string_view body);

/// Like RequireJsonObject for the first bytes of a body. `request` is for example "LIST
/// /api/v1/pods".
void RequireJsonObjectStart(std::string_view request, std::string_view bytes);

/// Parses a response. Throws DecodeError.
[[nodiscard]] nlohmann::json ParseJson(const std::string& text);

/// Returns whether `error` is the 404 of an API server. The 404 page of a proxy does not show that
/// an object is missing.
[[nodiscard]] bool IsNotFoundByServer(const ApiError& error);

}  // namespace kopp::detail
