#include "api/request.hpp"

#include "json/utf8.hpp"

namespace kopp::apiserver {

std::string ServerRequest::media_type() const {
  return content_type.substr(0, content_type.find(';'));
}

std::string ServerRequest::field_manager() const {
  std::string manager = target.query.Get("fieldManager");
  if (!manager.empty()) return manager;
  const std::string product = user_agent.substr(0, user_agent.find('/'));
  return product.empty() ? "unknown" : ToValidUtf8(product);
}

}  // namespace kopp::apiserver
