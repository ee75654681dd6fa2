#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <utility>

#include <kopp/transport.hpp>

namespace kopp::apiserver {

/// Forwards requests to `inner`, which it owns, and calls `on_write` after each response to a
/// request that is not a GET. `on_write` runs in the thread of the caller. Thread-safe if `inner`
/// and `on_write` are.
class NotifyingTransport final : public Transport {
 public:
  NotifyingTransport(std::unique_ptr<Transport> inner, std::function<void()> on_write)
      : inner_(std::move(inner)), on_write_(std::move(on_write)) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    ApiResponse response = inner_->Call(request, std::move(stop));
    if (request.method != "GET") on_write_();
    return response;
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    return inner_->Open(request, std::move(stop));
  }

 private:
  std::unique_ptr<Transport> inner_;
  std::function<void()> on_write_;
};

}  // namespace kopp::apiserver
