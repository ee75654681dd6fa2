#pragma once

#include "api/request.hpp"
#include "api/response.hpp"
#include "net/http_message.hpp"
#include "storage/store.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <kopp/workqueue/clock.hpp>

// Converts between HTTP messages and the API's requests and responses.

namespace kopp::apiserver {

/// Returns the API's view of an HTTP request that detail::FindRequestError accepts. Moves the body
/// out of `message`. The caller sets the user.
[[nodiscard]] ServerRequest ReadServerRequest(detail::HttpMessage& message);

/// Returns the status and headers of a response, as kube-apiserver sends them. `audit_id` may be
/// empty.
[[nodiscard]] detail::OutgoingResponse FormatHeaders(const ServerResponse& response,
                                                     const std::string& audit_id, WallTime now);

/// The HTTP body of a watch response. An injected fault can truncate it.
class WatchBody final : public detail::BodyStream {
 public:
  struct Callbacks {
    std::function<void()> wake{};              ///< requests a Take; called from any thread
    std::function<void(TimePoint)> wake_at{};  ///< requests one at a time of the server's clock
  };

  /// Sends `prefix`, then the frames of `watch`. The connection is reset after `cut_after` bytes,
  /// if set. The store must outlive the body.
  WatchBody(Store& store, std::string prefix, std::unique_ptr<WatchResponse> watch,
            std::optional<std::size_t> cut_after, Callbacks callbacks);

  std::string Take() override;
  [[nodiscard]] bool ended() const override { return aborted_ || watch_->ended(); }
  [[nodiscard]] bool aborted() const override { return aborted_; }
  void OnDrained() override { callbacks_.wake_at(watch_->wake_time()); }

 private:
  const Callbacks callbacks_;
  std::string prefix_;  // emptied by the first Take
  std::unique_ptr<WatchResponse> watch_;
  std::optional<std::size_t> remaining_;  // bytes until the connection is reset
  bool aborted_ = false;
  std::atomic<bool> wake_requested_ = false;  // and Take was not called since
  Store::Listener listener_;                  // last: it uses the members above
};

}  // namespace kopp::apiserver
