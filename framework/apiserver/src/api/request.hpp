#pragma once

#include "api/request_info.hpp"

#include <string>
#include <vector>

namespace kopp::apiserver {

/// The authenticated user of a request.
struct User {
  std::string name{};
  std::vector<std::string> groups{};
};

/// A request, received over HTTP or through the in-memory transport.
struct ServerRequest {
  std::string method{};
  RequestInfo target{};
  std::string body{};
  std::string content_type{};
  std::string accept{};
  std::string user_agent{};
  std::string audit_id{};  ///< identifies the request in the audit log, which assigns one if empty
  User user{};

  /// Returns `content_type` without its parameters.
  [[nodiscard]] std::string media_type() const;
  /// Returns the field manager of a write, by default the product name in the User-Agent: "kubectl"
  /// for "kubectl/v1.34".
  [[nodiscard]] std::string field_manager() const;
};

}  // namespace kopp::apiserver
