#include "examiner.hpp"

#include "http_text.hpp"

#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver::fuzz {
namespace {

using nlohmann::json;

constexpr std::string_view kBeginning =
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

Examiner::Examiner() : world_(clock_, 1, {.clock = clock_}), api_(world_), log_(world_, api_) {
  for (const Step& step : ReadScript(kBeginning)) {
    if (Do(step) != 201) throw Finding("the server does not begin: " + step.ask.target.text);
  }
}

int Examiner::Do(const Step& step) {
  int status = 0;
  if (step.wait > Duration::zero()) {
    clock_.Advance(step.wait);
  } else {
    Reply reply = log_.Answer(step.ask);
    status = reply.status;
    CheckAnswer(reply);
    CheckReadBack(step.ask, reply);
    if (reply.feed != nullptr) feeds_.push_back(std::move(reply.feed));
  }
  for (const auto& feed : feeds_) CheckFrames(feed->Take());
  return status;
}

void Examiner::Finish() {
  for (const json& entry : log_.Entries()) {
    try {
      static_cast<void>(entry.dump());
    } catch (const json::exception& error) {
      throw Finding(std::string("the audit log has no text: ") + error.what());
    }
  }
}

// Other answers of 5xx are the real server's too: 504 for a version of the future, and 500 without
// a reason for some that are no numbers.
void Examiner::CheckAnswer(const Reply& reply) const {
  const auto says = [&](std::string_view text) { return reply.body.find(text) != reply.body.npos; };
  if (reply.status >= 500 && says("InternalError") && !says("the spec replicas field")) {
    throw Finding("a surprise: " + reply.body);
  }
  if (reply.feed == nullptr && IsJson(reply.content_type) && !json::accept(reply.body)) {
    throw Finding("no JSON: " + reply.body);
  }
  const std::string head = HeadOf(reply, {.now = clock_.WallNow(), .length = reply.body.size()});
  if (head.find("\r\n\r\n") != head.size() - 4) throw Finding("no head of an answer: " + head);
}

void Examiner::CheckReadBack(const Ask& write, const Reply& reply) {
  const bool is_write = write.method == "POST" || write.method == "PUT" || write.method == "PATCH";
  if (!is_write || reply.status / 100 != 2 || write.target.query.Has("dryRun")) return;
  const json object = json::parse(reply.body, nullptr, false);
  const json metadata = object.value("metadata", json::object());
  // What is being deleted may be gone by now, and so may what has an owner: that may be gone.
  if (!metadata.contains("name") || metadata.contains("deletionTimestamp") ||
      metadata.contains("ownerReferences")) {
    return;
  }
  Ask read{.method = "GET", .target = write.target, .accept = write.accept};
  read.target.name = metadata["name"];
  read.target.query = {};
  if (read.target.subresource != "scale") read.target.subresource.clear();
  const Reply found = log_.Answer(read);
  // Who makes a definition is answered before the server has judged it.
  const bool is_judged = write.target.plural == "customresourcedefinitions";
  if (found.status != 200 || (!is_judged && json::parse(found.body, nullptr, false) != object)) {
    throw Finding("written: " + reply.body + "read: " + found.body);
  }
}

void Examiner::CheckFrames(const std::string& frames) const {
  std::string_view rest = frames;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const json event = json::parse(line, nullptr, false);
    if (line.size() == rest.size() || !event.is_object() || !event.contains("type") ||
        !event.contains("object")) {
      throw Finding("no event: " + std::string(line));
    }
    rest.remove_prefix(line.size() + 1);
  }
}

}  // namespace kopp::apiserver::fuzz
