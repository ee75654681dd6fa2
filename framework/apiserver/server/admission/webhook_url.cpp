#include "admission/webhook_url.hpp"

#include "base/duration.hpp"
#include "schema/go_quoted.hpp"

#include <chrono>
#include <filesystem>
#include <map>

namespace kopp::apiserver {

WebhookUrl::WebhookUrl(const testing::WebhookCall& call) : path(call.path) {
  if (call.url.empty()) {
    origin = "https://" + call.service.name + '.' + call.service.ns +
             ".svc:" + std::to_string(call.port);
  } else {
    const auto slash = call.url.find('/', call.url.find("//") + 2);
    origin = call.url.substr(0, slash);
    path = slash == std::string::npos ? "" : call.url.substr(slash);
  }
  // Removes dots, repeated slashes and the last slash, as client-go does.
  path = std::filesystem::path('/' + path + "/.").lexically_normal().parent_path();
  const Duration timeout = std::chrono::ceil<std::chrono::seconds>(call.timeout);
  target = path + "?timeout=" + detail::FormatDuration(timeout);
}

std::string PostError(const WebhookUrl& url, const std::string& cause) {
  return "Post " + schema::GoQuoted(url.origin + url.target) + ": " + cause;
}

std::string ResponseError(int status, const std::string& body) {
  static const std::map<int, const char*> texts{
      {400, "the server rejected our request for an unknown reason"},
      {401, "the server has asked for the client to provide credentials"},
      {404, "the server could not find the requested resource"},
      {405, "the server does not allow this method on the requested resource"},
      {409, "the server reported a conflict"},
      {422, "the server rejected our request due to an error in our request"},
      {429, "the server has received too many requests and has asked us to try again later"},
      {503, "the server is currently unable to handle the request"},
      {504,
       "the server was unable to return a response in the time allotted, but may still be "
       "processing the request"}};
  if (const auto text = texts.find(status); text != texts.end()) return text->second;
  if (status == 403 || status == 415) return body;
  if (status < 500) {
    return "the server responded with the status code " + std::to_string(status) +
           " but did not return more information";
  }
  return "an error on the server (" + schema::GoQuoted(body) +
         ") has prevented the request from succeeding";
}

}  // namespace kopp::apiserver
