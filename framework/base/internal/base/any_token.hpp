#pragma once

#include <stop_token>

namespace kopp::detail {

/// A stop token that is stopped when one of several others is.
class AnyToken {
 public:
  AnyToken(const std::stop_token& a, const std::stop_token& b, const std::stop_token& c = {})
      : on_a_(a, Request{&end_}), on_b_(b, Request{&end_}), on_c_(c, Request{&end_}) {}
  AnyToken(const AnyToken&) = delete;
  AnyToken& operator=(const AnyToken&) = delete;

  [[nodiscard]] std::stop_token get() const { return end_.get_token(); }

 private:
  struct Request {
    std::stop_source* end;
    void operator()() const { end->request_stop(); }
  };
  std::stop_source end_;
  std::stop_callback<Request> on_a_;
  std::stop_callback<Request> on_b_;
  std::stop_callback<Request> on_c_;
};

}  // namespace kopp::detail
