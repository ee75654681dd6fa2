// The disturbances of API calls in a Simulation.
#include "explore/requests.hpp"
#include "explore/simulation.hpp"
#include "faults/fault_injector.hpp"
#include "net/transport_failure.hpp"

#include <utility>

namespace kopp::apiserver::explore {
namespace {

namespace failure = detail::failure;
using testing::Fault;

[[noreturn]] void Fail(const ApiRequest& request, const TransportError& error) {
  throw TransportError(error.kind(), request.method + ' ' + request.target + ": " + error.what());
}

/// Returns the fault of a disturbance that replaces the response.
Fault FaultOf(Disturbance::Type type) {
  if (type == Disturbance::Type::kConflict) return {.type = Fault::Type::kConflict};
  if (type == Disturbance::Type::kThrottle) return {.type = Fault::Type::kTooManyRequests};
  return {.type = Fault::Type::kServerError};
}

}  // namespace

bool Simulation::Applies(Type type, std::size_t at, const std::string& text) {
  for (Pending& pending : schedule_) {
    if (pending.applied || !(pending.disturbance == Disturbance{type, at})) continue;
    pending.applied = true;
    Tell("** " + ToString({pending.disturbance}) + ": " + text);
    return true;
  }
  return false;
}

void Simulation::DisturbBefore(OperatorProcess& process, const ApiRequest& request,
                               std::size_t call) {
  const auto text = [&](const std::string& what) {
    return mode_ == RunMode::kStory
               ? what + " call " + std::to_string(call) + ", " + DescribeRequest(request)
               : "";
  };
  if (HasSteps() && Applies(Type::kStepBefore, call, text("the next step comes before"))) {
    const std::string actor = std::exchange(actor_, "the test");
    TakeStep();
    actor_ = actor;
  }
  if (Applies(Type::kCrashBefore, call, text("the process crashes before"))) process.End();
  if (Applies(Type::kDownBefore, call, text("the process crashes, until the next step, before"))) {
    down_ = true;
    process.End();
  }
  for (const Type type : {Type::kLeader, Type::kLeaderStep}) {
    if (!Applies(type, call, text("another replica becomes the leader during"))) continue;
    late_ = {request, type == Type::kLeaderStep, step_};
    process.End();
  }
}

/// Returns the response of a disturbance that replaces it, or throws its exception.
std::optional<ApiResponse> Simulation::ErrorResponse(const ApiRequest& request, std::size_t call) {
  const auto text = [&] {
    return mode_ == RunMode::kStory
               ? "call " + std::to_string(call) + ", " + DescribeRequest(request) + ", fails"
               : "";
  };
  if (Applies(Type::kTimeout, call, text())) Fail(request, failure::ResponseTimeout());
  if (Applies(Type::kReset, call, text())) Fail(request, failure::ClosedBeforeResponse());
  for (const Type type : {Type::kConflict, Type::kThrottle, Type::kError}) {
    if (!Applies(type, call, text())) continue;
    const ServerRequest parsed{.method = request.method,
                               .target = ParseRequestInfo(request.target),
                               .body = request.body,
                               .content_type = request.content_type};
    if (auto error = ErrorResponseFor(FaultOf(type), parsed, cluster_.context())) {
      EncodeBody(*error);
      return ApiResponse{
          .status = error->status,
          .body = std::move(error->body.text()),
          .retry_after = error->retry_after
                             ? std::optional<Duration>(std::chrono::seconds(*error->retry_after))
                             : std::nullopt};
    }
  }
  return std::nullopt;
}

void Simulation::DisturbAfter(OperatorProcess& process, const ApiRequest& request,
                              std::size_t call) {
  if (Applies(Type::kCrashAfter, call, "the process crashes after this call")) process.End();
  if (Applies(Type::kDownAfter, call, "the process crashes after this call, until the next step")) {
    down_ = true;
    process.End();
  }
  if (Applies(Type::kLostResponse, call, "the response of this call is lost")) {
    ForEachView(request, [](CacheView& view) { view.hold = CacheView::Hold::kDelay; });
    Fail(request, failure::ResponseTimeout());
  }
}

}  // namespace kopp::apiserver::explore
