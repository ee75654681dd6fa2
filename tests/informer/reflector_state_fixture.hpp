#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <kopp/informer/api_error.hpp>
#include <kopp/informer/detail/reflector_state.hpp>
#include <kopp/informer/fields.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp::informer {

inline std::exception_ptr ApiFailure(int code, std::string reason = {}) {
  return std::make_exception_ptr(
      ApiError("LIST /api/v1/pods", {.reason = std::move(reason), .code = code}));
}
inline std::exception_ptr ConnectionReset() {
  return std::make_exception_ptr(std::runtime_error("connection reset"));
}
inline std::exception_ptr MalformedFrame() {
  return std::make_exception_ptr(DecodeError(DecodeError::Kind::kMalformed, "", "not JSON"));
}

/// A ReflectorState with a FakeClock, and its last watch.
class ReflectorStateTest : public ::testing::Test {
 protected:
  void List(const std::string& version) { state_.OnListPage({.resource_version = version}); }
  void ListAndWatch(const std::string& version) {
    List(version);
    watch_ = state_.StartWatch();
  }
  /// Resets the connection of the open watch.
  ReflectorState::NextStep Cut() {
    state_.OnWatchCut();
    return state_.OnFailure(ConnectionReset());
  }

  kopp::testing::FakeClock clock_;
  ReflectorState state_{{.clock = clock_, .seed = 1}};
  WatchRequest watch_;
};

}  // namespace kopp::informer
