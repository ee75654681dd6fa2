#pragma once

#include <string>

#include <kopp/transport.hpp>

namespace kopp::apiserver::explore {

/// Returns whether a request changes objects.
[[nodiscard]] bool IsWrite(const ApiRequest& request);
/// Returns "create deployments default/web" or "list pods".
[[nodiscard]] std::string DescribeRequest(const ApiRequest& request);
/// Returns "201", or the status and the message of an error, without secret values of the request.
[[nodiscard]] std::string DescribeResponse(const ApiRequest& request, const ApiResponse& response);

}  // namespace kopp::apiserver::explore
