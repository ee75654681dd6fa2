#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <utility>

#include <kopp/transport.hpp>

namespace kopp::apiserver {

/// The transport `inner`, and calls `told` after each write that was answered.
class TellingTransport final : public Transport {
 public:
  TellingTransport(std::unique_ptr<Transport> inner, std::function<void()> told)
      : inner_(std::move(inner)), told_(std::move(told)) {}

  Response Call(const Request& request, std::stop_token stop) override {
    Response response = inner_->Call(request, std::move(stop));
    if (request.method != "GET") told_();
    return response;
  }
  std::unique_ptr<Stream> Open(const Request& request, std::stop_token stop) override {
    return inner_->Open(request, std::move(stop));
  }

 private:
  std::unique_ptr<Transport> inner_;
  std::function<void()> told_;
};

}  // namespace kopp::apiserver
