#pragma once

#include "api/request.hpp"
#include "api/response.hpp"
#include "faults/fault_plan.hpp"
#include "storage/store.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace kopp::apiserver {

/// Injects faults into a watch and its events. Owns the inner watch. `store` and `plan` must
/// outlive it. Not thread-safe, as every WatchResponse.
class FaultyWatch final : public WatchResponse {
 public:
  FaultyWatch(const Store& store, FaultPlan& plan, ServerRequest request,
              std::unique_ptr<WatchResponse> watch)
      : store_(store), plan_(plan), request_(std::move(request)), watch_(std::move(watch)) {}

  std::string ReadFrames() override;
  [[nodiscard]] bool ended() const override { return ended_ || watch_->ended(); }
  [[nodiscard]] bool aborted() const override { return aborted_; }
  [[nodiscard]] TimePoint wake_time() const override;
  [[nodiscard]] const std::string& storage_resource() const override {
    return watch_->storage_resource();
  }

 private:
  [[nodiscard]] bool HasFault(testing::Fault::Type type) const {
    return fault_ && fault_->type == type;
  }
  void Truncate(std::string& frames);
  std::string ApplyEventFaults(std::string_view frames);
  std::optional<testing::Fault> MatchEvent(std::string_view frame);
  /// Returns an ERROR event with code 410.
  [[nodiscard]] std::string GoneEvent() const;

  const Store& store_;
  FaultPlan& plan_;
  const ServerRequest request_;
  const std::unique_ptr<WatchResponse> watch_;
  std::uint64_t last_fault_number_ = 0;  // number of the last fault that was checked
  std::optional<testing::Fault> fault_;  // the fault of this watch, if one has applied
  std::size_t bytes_left_ = 0;           // until a kDropWatch fault resets the connection
  bool ended_ = false;
  bool aborted_ = false;
};

/// Returns the first half of `text`, followed by text that is not JSON.
[[nodiscard]] std::string MakeMalformed(std::string_view text);

}  // namespace kopp::apiserver
