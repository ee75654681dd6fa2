#include "faults.hpp"

#include "fault_refusals.hpp"
#include "fault_text.hpp"
#include "faulty_feed.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using testing::Fault;
using What = Fault::What;

Version Before(Version version, Version versions) {
  return version > versions ? version - versions : 1;  // 0 means any
}

/// The target that asks for exactly that version.
Target OfVersion(const Target& target, Version version) {
  std::string text =
      target.path + "?resourceVersionMatch=Exact&resourceVersion=" + std::to_string(version);
  std::string_view left = target.text;
  left.remove_prefix(std::min(left.size(), left.find('?')));
  while (!left.empty()) {
    left.remove_prefix(1);
    const std::string_view option = left.substr(0, left.find('&'));
    if (!option.starts_with("resourceVersion")) text.append("&").append(option);
    left.remove_prefix(option.size());
  }
  return ParseTarget(text);
}

/// `body` with a lower version; what has none stays as it is.
std::string WithLowerVersion(const std::string& body, Version versions) {
  json object = json::parse(body, nullptr, false);
  const json::json_pointer path("/metadata/resourceVersion");
  if (!object.is_object() || !object.contains(path)) return body;
  json& version = object[path];
  version = std::to_string(Before(std::stoull(version.get<std::string>()), versions));
  return object.dump() + '\n';
}

}  // namespace

void Faults::Inject(Fault fault) {
  if (const std::string problem = ProblemOf(fault); !problem.empty()) {
    throw std::invalid_argument("a fault that cannot be: " + problem);
  }
  plan_.Add(std::move(fault));
  // Watches that are open may have to end.
  std::set<std::string> resources;
  for (const Catalog::Entry& entry : world_.catalog()->all()) resources.insert(entry->kept_as);
  for (const std::string& resource : resources) world_.store().Wake(resource);
}

Reply Faults::Answer(const Ask& ask) {
  Reply reply = AnswerSomehow(ask);
  if (reply.feed != nullptr) {
    reply.feed = std::make_unique<FaultyFeed>(world_.store(), plan_, ask, std::move(reply.feed));
  }
  return reply;
}

Reply Faults::AnswerSomehow(const Ask& ask) {
  if (plan_.IsEmpty()) return server_.Answer(ask);
  const auto fault = plan_.Take({Occasion::Kind::kRequest, ask, ask.target.ns, NameIn(ask)});
  return fault ? AnswerBadly(ask, *fault) : server_.Answer(ask);
}

Reply Faults::AnswerBadly(const Ask& ask, const Fault& fault) {
  if (auto refusal = RefusalBy(fault, ask, world_)) return std::move(*refusal);
  if (fault.what == What::kRefuse) return {.mishap = {.reset = true, .refused = true}};
  if (fault.what == What::kStaleList) return StaleList(ask, fault.versions);

  Reply reply = server_.Answer(ask);
  if (fault.what == What::kLatency) reply.mishap.delay = fault.delay;
  if (fault.what == What::kReset) reply.mishap.reset = true;
  if (fault.what == What::kTruncatedBody) {
    // At least one byte is missing.
    reply.mishap.cut_after = std::min(fault.bytes, std::max<std::size_t>(reply.body.size(), 1) - 1);
  }
  if (fault.what == What::kMalformedBody) reply.body = Malformed(reply.body);
  if (fault.what == What::kBackwardsVersion) {
    reply.body = WithLowerVersion(reply.body, fault.versions);
  }
  return reply;
}

Reply Faults::StaleList(const Ask& ask, Version versions) {
  Ask past = ask;
  past.target = OfVersion(ask.target, Before(world_.store().version(), versions));
  Reply reply = server_.Answer(past);
  return reply.status == 410 ? server_.Answer(ask) : std::move(reply);
}

}  // namespace kopp::apiserver
