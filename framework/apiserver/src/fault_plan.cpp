#include "fault_plan.hpp"

#include "audit_log.hpp"
#include "decode.hpp"
#include "fault_text.hpp"

#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using testing::Fault;
using Kind = Occasion::Kind;
using What = Fault::What;

bool SuitsRequest(What what, const Ask& ask, const std::string& verb) {
  switch (what) {
    case What::kGone:
    case What::kMalformedBody:
      return verb != "watch";  // it befalls what the watch tells
    case What::kStaleList:
      return !ask.target.query.Has("continue");
    case What::kSilentWatch:
    case What::kDropWatch:
    case What::kLostEvent:
    case What::kDuplicateEvent:
    case What::kNoBookmarks:
      return false;
    default:
      return true;
  }
}

bool Suits(What what, const Occasion& occasion, const std::string& verb) {
  switch (occasion.kind) {
    case Kind::kRequest:
      return SuitsRequest(what, occasion.ask, verb);
    case Kind::kWatch:
      return what == What::kGone || what == What::kSilentWatch || what == What::kDropWatch;
    case Kind::kEvent:
      return what == What::kLostEvent || what == What::kDuplicateEvent ||
             what == What::kMalformedBody;
    case Kind::kBookmark:
      return what == What::kNoBookmarks;
  }
  return false;
}

bool IsOf(const std::string& resource, const Target& target) {
  return resource == target.plural || resource == target.plural + '.' + target.group;
}

bool Fits(const Fault& fault, const Occasion& occasion) {
  const std::string verb = VerbOf(occasion.ask);
  const auto is = [](const std::string& wanted, const std::string& given) {
    return wanted.empty() || wanted == given;
  };
  return CanBefall(fault.what, verb) && Suits(fault.what, occasion, verb) && is(fault.verb, verb) &&
         is(fault.ns, occasion.ns) && is(fault.name, occasion.name) &&
         is(fault.user, occasion.ask.user.name) &&
         (fault.resource.empty() || IsOf(fault.resource, occasion.ask.target));
}

}  // namespace

std::string NameIn(const Ask& ask) {
  if (!ask.target.name.empty() || ask.method != "POST") return ask.target.name;
  try {
    return Parse(ask.body, ask.content_type)
        .at(nlohmann::json::json_pointer("/metadata/name"))
        .get<std::string>();
  } catch (const std::invalid_argument&) {
    return {};  // it is refused for what it is
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

void FaultPlan::Add(Fault fault) {
  auto state = state_.Lock();
  const std::uint64_t number = ++state->added;
  // A chance of its own: which requests are hit does not depend on what else is asked and injected.
  state->faults.push_back({std::move(fault), number, std::mt19937_64(seed_ + number)});
}

void FaultPlan::Clear() { state_.Lock()->faults.clear(); }

std::optional<Fault> FaultPlan::Take(const Occasion& occasion) {
  std::uint64_t none = 0;
  return TakeNew(occasion, none);
}

std::optional<Fault> FaultPlan::TakeNew(const Occasion& occasion, std::uint64_t& considered) {
  auto state = state_.Lock();
  for (auto each = state->faults.begin(); each != state->faults.end(); ++each) {
    if (each->number <= considered) continue;
    considered = each->number;
    if (!Fits(each->fault, occasion) || !Draw(*each)) continue;
    Fault fault = each->fault;
    if (each->fault.times && --*each->fault.times == 0) state->faults.erase(each);
    return fault;
  }
  return std::nullopt;
}

bool FaultPlan::Draw(Planned& planned) {
  return std::uniform_real_distribution<double>()(planned.chance) < planned.fault.share;
}

}  // namespace kopp::apiserver
