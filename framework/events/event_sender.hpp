#pragma once

#include "event_request.hpp"

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

/// Sends the writes of Events to the API server, and decides which ones are tried again. Blocks
/// until the server responds. Not thread-safe.
class EventSender {
 public:
  /// `aggregator` must outlive the sender.
  EventSender(Client client, Logger log, EventAggregator& aggregator,
              workqueue::RandomSource random)
      : client_(std::move(client)),
        log_(std::move(log)),
        aggregator_(aggregator),
        random_(std::move(random)) {}

  /// Tries to write the Event once, and logs a failure. `may_exist` is whether a previous try may
  /// have written it. May change the name of the Event.
  SendResult Try(EventRequest& request, bool may_exist);

 private:
  void Send(EventRequest& request, bool may_exist);
  void Create(EventRequest& request, bool may_exist);
  SendResult Retry(const EventRequest& request, const std::exception& error, Duration delay);
  SendResult Cancelled(const EventRequest& request, const std::exception& error);
  SendResult Rejected(const EventRequest& request, const ApiError& error);

  Client client_;
  Logger log_;
  EventAggregator& aggregator_;
  workqueue::RandomSource random_;
};

}  // namespace kopp
