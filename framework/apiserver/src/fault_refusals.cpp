#include "fault_refusals.hpp"

#include "fault_plan.hpp"
#include "reads.hpp"
#include "status_reply.hpp"

#include <chrono>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using testing::Fault;
using What = Fault::What;

std::optional<Reply> ConflictOver(const Ask& ask, World& world) {
  const Target& target = ask.target;
  const Catalog::Entry resource =
      world.catalog()->Find(target.group, target.version, target.plural);
  if (resource == nullptr) return std::nullopt;
  const std::string name = NameIn(ask);
  const bool creates = ask.method == "POST";
  return ReplyOf(creates ? AlreadyExists(*resource, name, false) : Modified(*resource, name));
}

Reply TooMany(const Fault& fault) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(fault.retry_after).count();
  Reply reply =
      ReplyOf({429,
               "TooManyRequests",
               "The server has received too many requests and has asked us to try again later",
               {{"retryAfterSeconds", seconds}}});
  reply.retry_after = static_cast<int>(seconds);
  return reply;
}

/// 502 and the like come from a proxy before the server, which knows nothing of Status objects.
Reply ServerError(int status) {
  const std::string problem = "a fault was injected";
  if (status == 500) {
    return ReplyOf({500,
                    "InternalError",
                    "Internal error occurred: " + problem,
                    {{"causes", {{{"message", problem}}}}}});
  }
  if (status == 503) {
    return ReplyOf(
        {503, "ServiceUnavailable", "the server is currently unable to handle the request"});
  }
  if (status == 504) {
    return ReplyOf({504, "Timeout", "Timeout: request did not complete within the allotted timeout",
                    json::object()});
  }
  return {.status = status,
          .body = status == 502 ? "Bad Gateway\n" : "Server Error\n",
          .content_type = "text/plain; charset=utf-8"};
}

}  // namespace

std::optional<Reply> RefusalBy(const Fault& fault, const Ask& ask, World& world) {
  switch (fault.what) {
    case What::kConflict:
      return ConflictOver(ask, world);
    case What::kGone:
      return ReplyOf(TooOldToList(ask.target.query.Get("continue")));
    case What::kTooManyRequests:
      return TooMany(fault);
    case What::kServerError:
      return ServerError(fault.status);
    default:
      return std::nullopt;
  }
}

}  // namespace kopp::apiserver
