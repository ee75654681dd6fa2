#pragma once

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

namespace kopp::apiserver {

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
