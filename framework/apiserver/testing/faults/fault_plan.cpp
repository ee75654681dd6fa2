#include "faults/fault_plan.hpp"

#include "faults/audit_log.hpp"
#include "faults/fault_text.hpp"
#include "json/parse.hpp"

#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using testing::Fault;
using Kind = FaultContext::Kind;
using Type = Fault::Type;

bool MatchesRequest(Type type, const ServerRequest& request, const std::string& verb) {
  switch (type) {
    case Type::kGone:
    case Type::kMalformedBody:
      return verb != "watch";  // for a watch, the fault applies to its stream or events
    case Type::kStaleList:
      return !request.target.query.Has("continue");
    case Type::kSilentWatch:
    case Type::kDropWatch:
    case Type::kLostEvent:
    case Type::kDuplicateEvent:
    case Type::kNoBookmarks:
      return false;
    default:
      return true;
  }
}

bool MatchesContext(Type type, const FaultContext& context, const std::string& verb) {
  const bool is_of_webhook = type >= Type::kWebhookTimeout;
  if (is_of_webhook != (context.kind == Kind::kWebhook)) return false;
  switch (context.kind) {
    case Kind::kRequest:
      return MatchesRequest(type, context.request, verb);
    case Kind::kWatch:
      return type == Type::kGone || type == Type::kSilentWatch || type == Type::kDropWatch;
    case Kind::kEvent:
      return type == Type::kLostEvent || type == Type::kDuplicateEvent ||
             type == Type::kMalformedBody;
    case Kind::kBookmark:
      return type == Type::kNoBookmarks;
    case Kind::kWebhook:
      return true;
  }
  return false;
}

bool IsResource(const std::string& resource, const RequestInfo& target) {
  return resource == target.plural || resource == target.plural + '.' + target.group;
}

bool Matches(const Fault& fault, const FaultContext& context) {
  const std::string verb = VerbOf(context.request);
  const auto is = [](const std::string& expected, const std::string& actual) {
    return expected.empty() || expected == actual;
  };
  return AppliesTo(fault.type, verb) && MatchesContext(fault.type, context, verb) &&
         is(fault.verb, verb) && is(fault.ns, context.ns) && is(fault.name, context.name) &&
         is(fault.user, context.request.user.name) &&
         (fault.resource.empty() || IsResource(fault.resource, context.request.target));
}

}  // namespace

std::string ObjectNameOf(const ServerRequest& request) {
  if (!request.target.name.empty() || request.method != "POST") return request.target.name;
  try {
    return ParseJsonOrYaml(request.body, request.content_type)
        .at(nlohmann::json::json_pointer("/metadata/name"))
        .get<std::string>();
  } catch (const std::invalid_argument&) {
    return {};  // the body is not valid: the server rejects the request
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

void FaultPlan::Add(Fault fault) {
  auto state = state_.Lock();
  const std::uint64_t number = ++state->last_number;
  // Each fault has its own random generator. So the requests that it applies to do not depend on
  // other requests and faults.
  state->faults.push_back({std::move(fault), number, std::mt19937_64(seed_ + number)});
}

void FaultPlan::Clear() { state_.Lock()->faults.clear(); }

std::optional<Fault> FaultPlan::Match(const FaultContext& context) {
  std::uint64_t last_number = 0;
  return MatchNewer(context, last_number);
}

std::optional<Fault> FaultPlan::MatchNewer(const FaultContext& context,
                                           std::uint64_t& last_number) {
  auto state = state_.Lock();
  for (auto each = state->faults.begin(); each != state->faults.end(); ++each) {
    if (each->number <= last_number) continue;
    last_number = each->number;
    if (!Matches(each->fault, context) || !DrawShare(*each)) continue;
    Fault fault = each->fault;
    if (each->fault.times && --*each->fault.times == 0) state->faults.erase(each);
    return fault;
  }
  return std::nullopt;
}

bool FaultPlan::DrawShare(Entry& entry) {
  return std::uniform_real_distribution<double>()(entry.random) < entry.fault.share;
}

}  // namespace kopp::apiserver
