#pragma once

#include <string>
#include <string_view>

#include <kopp/informer/api_error.hpp>

namespace kopp::detail {

/// Returns what a person can do about an error of the API server, such as "grant verb patch on
/// foos/status in API group samplecontroller.k8s.io", or "" if the message of the server says it
/// all. `request` is the first argument of ApiError. All hints about API errors are made here.
[[nodiscard]] std::string ApiErrorHint(std::string_view request, const Status& status);

}  // namespace kopp::detail
