#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <kopp/metrics.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp {

/// Tests of the text of a Metrics.
class MetricsTest : public ::testing::Test {
 protected:
  using Queue = workqueue::RateLimitingQueue<std::string>;

  std::unique_ptr<Queue> NewQueue(const std::string& name, workqueue::Order order = {}) {
    return std::make_unique<Queue>(workqueue::QueueOptions{
        .name = name, .clock = clock_, .metrics = &metrics_, .order = std::move(order)});
  }

  /// Returns the value of `series` in Text(), or "not found".
  std::string Value(const std::string& series) const {
    const std::string text = '\n' + metrics_.Text();
    const auto at = text.find('\n' + series + ' ');
    if (at == std::string::npos) return "not found";
    const auto value = at + series.size() + 2;
    return text.substr(value, text.find('\n', value) - value);
  }

  testing::FakeClock clock_;
  Metrics metrics_;
};

inline constexpr const char* kFooQueue = R"({controller="foo",name="foo"})";

/// Returns the series of the queue "foo".
inline std::string OfFoo(const std::string& metric) { return metric + kFooQueue; }

}  // namespace kopp
