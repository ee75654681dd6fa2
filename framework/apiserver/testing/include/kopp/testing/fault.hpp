#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <kopp/workqueue/clock.hpp>

namespace kopp::testing {

/// A fault that an ApiServer injects: its type, the requests that it applies to, and how often.
///
///     server.Inject({.type = Fault::Type::kConflict, .verb = "update", .resource = "foos",
///                    .times = 3});
///
/// The server applies the fault that was injected first of those that match the request and select
/// it by their `share`; only that one counts towards its `times`. Each fault has its own random
/// generator, seeded from ApiServerOptions::seed: every run selects the same requests.
/// ApiServer::Inject throws std::invalid_argument if a field is out of range, if `verb` is not
/// valid for the type, or if the server does not serve `resource` at that time: install
/// CustomResourceDefinitions first. The message names a similar verb or resource, if there is one.
struct Fault {
  enum class Type {
    // Faults that replace the response. The server does not execute the request.
    kConflict,         ///< 409 Conflict to an update, patch or delete; AlreadyExists to a create
    kTooManyRequests,  ///< 429, with `retry_after`
    kServerError,      ///< a 5xx response with `status`
    kRefuse,           ///< refuses the connection; resets it if it is already open (HTTP)
    // Faults that change the response. The server executes the request.
    kLatency,           ///< delays the response by `delay`
    kReset,             ///< resets the connection without a response
    kStaleList,         ///< returns the list as it was `versions` ago, if the history has it
    kBackwardsVersion,  ///< lowers the resourceVersion of a list or get response by `versions`
    kTruncatedBody,     ///< resets the connection after `bytes` of the body; not for watches

    // Faults of a request or of a watch.
    kGone,           ///< 410 to a list; an ERROR event with code 410 that ends a watch
    kMalformedBody,  ///< a body that is not JSON; for a watch, one event that is not JSON

    // Faults of a watch, either an open watch or the next one. At most one of these, or kGone,
    // applies to a watch.
    kSilentWatch,  ///< stops sending, but keeps the connection open
    kDropWatch,    ///< resets the connection after `bytes` more, even inside an event

    // Faults of a watch event. `name` and `ns` match the object of the event.
    kLostEvent,       ///< omits the event
    kDuplicateEvent,  ///< sends the event twice
    kNoBookmarks,     ///< omits a bookmark, even if it ends the initial events

    // Faults of a call of an admission webhook for a write. `verb` is "create", "update" (also of a
    // patch), "delete" or "deletecollection".
    kWebhookTimeout,  ///< waits for the time limit of the call, without calling the webhook
    kWebhookRefuse,   ///< refuses the connection
    kWebhookLatency,  ///< delays the call by `delay`
  };

  Type type = Type::kServerError;

  // Selectors of the requests, watches or events. An empty field matches everything.
  std::string verb{};      ///< as in audit logs: "get", "list", "update"
  std::string resource{};  ///< "foos" or "foos.samplecontroller.k8s.io"
  std::string ns{};        ///< the namespace
  std::string name{};      ///< the object name
  std::string user{};      ///< the user name

  /// The number of matching requests, watches or events to apply to, at least 1. Empty: all, until
  /// ApiServer::ClearFaults.
  std::optional<std::size_t> times{};
  double share = 1;  ///< the fraction of the matches that the fault applies to, from 0 to 1

  // Parameters of the types above.
  int status = 500;                                ///< from 500 to 599
  Duration delay = std::chrono::seconds(1);        ///< not negative
  Duration retry_after = std::chrono::seconds(1);  ///< rounded up to whole seconds
  std::uint64_t versions = 1;                      ///< each write to any object makes one version
  std::size_t bytes = 0;                           ///< sent before the reset
};

/// Parses the text form of a fault, as in `kopp-apiserver --fault`: its type, then fields, for
/// example "conflict,verb=update,resource=foos,times=3" or "latency,delay=200ms,share=0.1". Types
/// and fields have the names above in lower case with '-' between words; `ns` is "namespace".
/// Throws ConfigError, which describes the mistake and lists the valid values.
[[nodiscard]] Fault ParseFault(std::string_view text);

}  // namespace kopp::testing
