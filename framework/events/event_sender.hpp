#pragma once

#include "base/stop_timer.hpp"
#include "event_request.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include <kopp/client.hpp>
#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/random_source.hpp>

namespace kopp {

/// The outcome of one try to write an Event.
struct SendResult {
  enum class Outcome { kWritten, kRejected, kRetry };
  Outcome outcome = Outcome::kWritten;
  Duration delay = {};  ///< of kRetry: the time until the next try
};

/// Sends the writes of Events to the API server, and decides which ones are tried again. Not
/// thread-safe.
class EventSender {
 public:
  /// The time limit of a try, so that a namespace whose Events are slow, for example because of an
  /// admission webhook, does not delay those of others for long.
  static constexpr Duration kTryTimeout = std::chrono::seconds(3);

  /// `aggregator` must outlive the sender. `try_timeout` is real time, as the timeouts of calls.
  EventSender(Client client, Logger log, EventAggregator& aggregator,
              workqueue::RandomSource random, Duration try_timeout = kTryTimeout)
      : client_(std::move(client)),
        log_(std::move(log)),
        aggregator_(aggregator),
        random_(std::move(random)),
        try_timeout_(try_timeout) {}

  /// Tries to write the Event once, and logs a failure. Blocks until the server responds, or until
  /// the time limit. `may_exist` is whether a previous try may
  /// have written it. May change the name of the Event.
  SendResult Try(EventRequest& request, bool may_exist);

 private:
  void SendInTime(EventRequest& request, bool may_exist);
  void Send(const Client& client, EventRequest& request, bool may_exist);
  void Create(const Client& client, EventRequest& request, bool may_exist);
  SendResult Retry(const EventRequest& request, const std::exception& error, Duration delay);
  SendResult Cancelled(const EventRequest& request, const std::exception& error);
  SendResult Rejected(const EventRequest& request, const ApiError& error);

  Client client_;
  Logger log_;
  EventAggregator& aggregator_;
  workqueue::RandomSource random_;
  const Duration try_timeout_;
  detail::StopTimer timer_{Clock::Real()};  // of the current try
};

}  // namespace kopp
