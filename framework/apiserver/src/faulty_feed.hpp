#pragma once

#include "exchange.hpp"
#include "fault_plan.hpp"
#include "store.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace kopp::apiserver {

/// A watch, with the faults that befall it and its events. The store and the plan outlive it.
class FaultyFeed final : public Feed {
 public:
  FaultyFeed(const Store& store, FaultPlan& plan, Ask ask, std::unique_ptr<Feed> feed)
      : store_(store), plan_(plan), ask_(std::move(ask)), feed_(std::move(feed)) {}

  std::string Take() override;
  [[nodiscard]] bool ended() const override { return ended_ || feed_->ended(); }
  [[nodiscard]] bool broken() const override { return broken_; }
  [[nodiscard]] TimePoint next() const override;
  [[nodiscard]] const std::string& resource() const override { return feed_->resource(); }

 private:
  [[nodiscard]] bool Met(testing::Fault::What what) const { return met_ && met_->what == what; }
  void Cut(std::string& frames);
  std::string Befallen(std::string_view frames);
  std::optional<testing::Fault> FaultOf(std::string_view frame);
  [[nodiscard]] std::string Gone() const;

  const Store& store_;
  FaultPlan& plan_;
  const Ask ask_;
  const std::unique_ptr<Feed> feed_;
  std::uint64_t considered_ = 0;       // the faults of watches until then
  std::optional<testing::Fault> met_;  // the one of them that has befallen this watch
  std::size_t left_ = 0;               // bytes until it is cut, if that is the one
  bool ended_ = false;
  bool broken_ = false;
};

/// Some of `text`, and then what is no JSON.
[[nodiscard]] std::string Malformed(std::string_view text);

}  // namespace kopp::apiserver
