#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <kopp/workqueue/metrics.hpp>

namespace kopp {

/// A function that computes a metric when it is collected. Thread-safe.
template <typename T>
class MetricCallback {
 public:
  explicit MetricCallback(std::function<T()> read) : read_(std::move(read)) {}

  /// Returns nullopt after Disable, and if the function throws.
  std::optional<T> Read() {
    const std::lock_guard guard{mutex_};
    if (!read_) return std::nullopt;
    try {
      return read_();
    } catch (...) {
      return std::nullopt;
    }
  }

  /// Blocks while the function runs; it is not called afterwards.
  void Disable() {
    const std::lock_guard guard{mutex_};
    read_ = nullptr;
  }

 private:
  // Held while the function runs, so the function must not wait for a thread that calls Disable.
  std::mutex mutex_;
  std::function<T()> read_;
};

/// Disables a callback when it is destroyed.
template <typename T>
class CallbackMetric final : public workqueue::Metric {
 public:
  explicit CallbackMetric(std::shared_ptr<MetricCallback<T>> callback)
      : callback_(std::move(callback)) {}
  ~CallbackMetric() override { callback_->Disable(); }

 private:
  std::shared_ptr<MetricCallback<T>> callback_;
};

}  // namespace kopp
