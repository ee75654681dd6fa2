#pragma once

#include <cstddef>
#include <cstdint>
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
/// Where several fit, the one injected first happens, and counts. Which of those that fit a `share`
/// takes is drawn from the server's seed, for each fault by itself: the same in each run. Inject
/// throws std::invalid_argument for a share, status, time or verb that cannot be.
struct Fault {
  enum class What {
    // Of a request, as it comes. Nothing is done:
    kConflict,         ///< 409 to an update, patch or delete; to a create as if it existed already
    kTooManyRequests,  ///< 429, with `retry_after`
    kServerError,      ///< `status`, 5xx
    kRefuse,           ///< no connection; over HTTP, where there is one by then, it is reset
    // It is done all the same:
    kLatency,           ///< the answer comes after `delay`
    kReset,             ///< the connection is cut, without an answer
    kStaleList,         ///< the list of `versions` ago, or as far back as is remembered
    kBackwardsVersion,  ///< a list or a get tells a resourceVersion that is lower by `versions`
    kTruncatedBody,     ///< the connection is cut after `bytes` of the body; of no watch

    // Of a request, or of a watch:
    kGone,           ///< 410 to a list; a watch says it as its last event
    kMalformedBody,  ///< the body is no JSON; of a watch: one event

    // Of a watch, one that is open already or the next. Of these, and kGone, it meets one at most:
    kSilentWatch,  ///< it says nothing any more and stays open, for good
    kDropWatch,    ///< its connection is cut after `bytes` more, wherever that is

    // Of an event of a watch: `name` and `ns` are those of the object.
    kLostEvent,       ///< it is left out
    kDuplicateEvent,  ///< it comes twice
    kNoBookmarks,     ///< a bookmark is left out, the one that ends the initial events too
  };

  What what = What::kServerError;

  std::string verb{};      ///< as audit logs name it: "get", "list", "update"; empty: each
  std::string resource{};  ///< "foos" or "foos.samplecontroller.k8s.io"; empty: each
  std::string ns{};        ///< empty: each
  std::string name{};      ///< empty: each
  std::string user{};      ///< empty: each

  /// For the next so many that fit: requests, watches or events. None: until ClearFaults.
  std::optional<std::size_t> times{};
  double share = 1;  ///< of those that fit

  int status = 500;
  Duration delay = std::chrono::seconds(1);
  Duration retry_after = std::chrono::seconds(1);  ///< in whole seconds
  std::uint64_t versions = 1;                      ///< each write, of whatever kind, makes one
  std::size_t bytes = 0;
};

/// A fault in a line of text: its name, then fields: "conflict,verb=update,resource=foos,times=3",
/// "latency,delay=200ms,share=0.1". Names and fields are those above, with '-' for what stands
/// between words there, but for `ns`: "namespace". Throws ConfigError, which says what is wrong and
/// what there is.
[[nodiscard]] Fault ParseFault(std::string_view text);

}  // namespace kopp::testing
