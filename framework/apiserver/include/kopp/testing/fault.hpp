#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <kopp/workqueue/clock.hpp>

namespace kopp::testing {

/// Something that an ApiServer does wrong when told to: what, to whom, and how often.
///
///     server.Inject({.what = Fault::What::kConflict, .verb = "update", .resource = "foos",
///                    .times = 3});
///
/// Where several fit a request, the one injected first happens.
struct Fault {
  enum class What {
    kConflict,          ///< 409 to a write
    kGone,              ///< 410 to a list or watch
    kTooManyRequests,   ///< 429, with `retry_after`
    kServerError,       ///< `status`, 5xx
    kLatency,           ///< the answer comes after `delay`
    kRefuse,            ///< no connection
    kReset,             ///< the connection is cut; what was asked was done
    kSilentWatch,       ///< a watch says nothing any more, and stays open
    kDropWatch,         ///< a watch's connection is cut after `bytes` of its body
    kLostEvent,         ///< a watch leaves out an event
    kDuplicateEvent,    ///< a watch says an event twice
    kStaleList,         ///< a list is the one of some time ago
    kBackwardsVersion,  ///< a list or object says an older resourceVersion than one told before
    kNoBookmarks,       ///< a watch sends no bookmarks
    kTruncatedBody,     ///< the connection is cut after `bytes` of the body
    kMalformedBody,     ///< the body is no JSON
  };

  What what = What::kServerError;

  std::string verb{};      ///< as audit logs name it: "get", "list", "update"; empty: each
  std::string resource{};  ///< "foos" or "foos.samplecontroller.k8s.io"; empty: each
  std::string ns{};        ///< empty: each
  std::string name{};      ///< empty: each
  std::string user{};      ///< empty: each

  std::optional<std::size_t> times{};  ///< for the next so many that fit; none: until ClearFaults
  double share = 1;                    ///< of those that fit, drawn by the server's seed

  int status = 500;
  Duration delay = std::chrono::seconds(1);
  Duration retry_after = std::chrono::seconds(1);  ///< whole seconds
  std::size_t bytes = 0;
};

/// A fault in a line of text: its name, then fields: "conflict,verb=update,resource=foos,times=3",
/// "latency,delay=200ms,share=0.1". Throws ConfigError, which says what is wrong and what there is.
[[nodiscard]] Fault ParseFault(std::string_view text);

}  // namespace kopp::testing
