#include "api/request.hpp"

#include <algorithm>
#include <cctype>

namespace kopp::apiserver {

std::string ServerRequest::media_type() const {
  return content_type.substr(0, content_type.find(';'));
}

std::string VerbOf(const ServerRequest& request) {
  const RequestInfo& target = request.target;
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  };
  if (!target.is_resource) return lower(request.method);
  const bool has_name = !target.name.empty();
  if (request.method == "GET") {
    if (target.watch_prefix || (target.query.IsTrue("watch") && !has_name)) return "watch";
    return has_name ? "get" : "list";
  }
  if (request.method == "POST") return "create";
  if (request.method == "PUT") return "update";
  if (request.method == "DELETE") return has_name ? "delete" : "deletecollection";
  return lower(request.method);
}

}  // namespace kopp::apiserver
