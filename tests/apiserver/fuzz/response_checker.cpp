#include "response_checker.hpp"

#include "all_extensions.hpp"
#include "http/http_message.hpp"

#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver::fuzz {
namespace {

using nlohmann::json;

constexpr std::string_view kSetup =
    R"(POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions

{"metadata":{"name":"foos.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
"names":{"kind":"Foo","plural":"foos"},"versions":[{"name":"v1","served":true,"storage":true,
"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas",
"statusReplicasPath":".status.replicas"}},"schema":{"openAPIV3Schema":{"type":"object","properties":
{"spec":{"type":"object","properties":{"replicas":{"type":"integer","default":1,"maximum":9},
"size":{"enum":["S","L"],"type":"string"},"parts":{"type":"array","items":{"type":"string"}}}},
"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}
###
POST /apis/example.com/v1/namespaces/default/foos

{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a"},"spec":{"size":"S"}}
###
POST /api/v1/namespaces/default/configmaps

{"metadata":{"name":"a","labels":{"app":"web"}},"data":{"k":"v"}}
###
POST /api/v1/namespaces/default/pods

{"metadata":{"name":"a","labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}
###
POST /apis/apps/v1/namespaces/default/deployments

{"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":
{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})";

bool IsJson(const std::string& content_type) {
  return content_type.starts_with("application/json");
}

}  // namespace

ResponseChecker::ResponseChecker()
    : context_(clock_, 1, {.clock = clock_}, {}, AllExtensions()),
      api_(context_),
      log_(context_, api_),
      filter_(context_.extensions().make_protobuf_filter(context_, log_)) {
  for (const Step& step : ParseScript(kSetup)) {
    if (Run(step) != 201) throw Finding("setup request failed: " + step.request.target.raw);
  }
}

int ResponseChecker::Run(const Step& step) {
  int status = 0;
  if (step.wait > Duration::zero()) {
    clock_.Advance(step.wait);
  } else {
    ServerResponse response = filter_->Handle(step.request);
    EncodeBody(response);
    status = response.status;
    CheckResponse(response);
    CheckReadBack(step.request, response);
    if (response.watch != nullptr && IsJson(response.content_type)) {
      watches_.push_back(std::move(response.watch));
    }
  }
  for (const auto& watch : watches_) CheckFrames(watch->ReadFrames());
  return status;
}

void ResponseChecker::Finish() {
  for (const json& entry : log_.Entries()) {
    try {
      static_cast<void>(entry.dump());
    } catch (const json::exception& error) {
      throw Finding(std::string("cannot serialize an audit log entry: ") + error.what());
    }
  }
}

// kube-apiserver also sends some 5xx responses on purpose: 504 for a resourceVersion in the future,
// and 500 without a reason for some that are not numbers.
void ResponseChecker::CheckResponse(const ServerResponse& response) const {
  const auto contains = [&](std::string_view text) {
    return response.body.text().find(text) != std::string::npos;
  };
  if (response.status >= 500 && contains("InternalError") && !contains("the spec replicas field")) {
    throw Finding("internal error: " + response.body.text());
  }
  if (response.watch == nullptr && IsJson(response.content_type) &&
      !json::accept(response.body.text())) {
    throw Finding("invalid JSON: " + response.body.text());
  }
  const std::string head =
      kopp::detail::FormatHead(FormatHeaders(response, "", clock_.WallNow()), {.length = 0});
  if (head.find("\r\n\r\n") != head.size() - 4) throw Finding("invalid response head: " + head);
}

void ResponseChecker::CheckReadBack(const ServerRequest& write, const ServerResponse& response) {
  const bool is_write = write.method == "POST" || write.method == "PUT" || write.method == "PATCH";
  if (!is_write || response.status / 100 != 2 || write.target.query.Has("dryRun")) return;
  if (!IsJson(response.content_type)) return;
  const json object = response.body.ToValue();
  const json metadata = object.value("metadata", json::object());
  // An object that is being deleted or has a deleted owner may already have been removed.
  if (!metadata.contains("name") || metadata.contains("deletionTimestamp") ||
      metadata.contains("ownerReferences")) {
    return;
  }
  ServerRequest read{.method = "GET", .target = write.target, .accept = write.accept};
  read.target.name = metadata["name"];
  read.target.query = {};
  if (read.target.subresource != "scale") read.target.subresource.clear();
  ServerResponse found = log_.Handle(read);
  EncodeBody(found);
  // The status of a CustomResourceDefinition changes after the response.
  const bool is_definition = write.target.plural == "customresourcedefinitions";
  if (found.status != 200 || (!is_definition && found.body.ToValue() != object)) {
    throw Finding("written: " + response.body.text() + "read: " + found.body.text());
  }
}

void ResponseChecker::CheckFrames(const std::string& frames) const {
  std::string_view rest = frames;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const json event = json::parse(line, nullptr, false);
    if (line.size() == rest.size() || !event.is_object() || !event.contains("type") ||
        !event.contains("object")) {
      throw Finding("invalid watch event: " + std::string(line));
    }
    rest.remove_prefix(line.size() + 1);
  }
}

}  // namespace kopp::apiserver::fuzz
