#include "net/connection_limiter.hpp"

#include "net/listener.hpp"

#include <chrono>
#include <string>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace kopp::detail {
namespace {

using namespace std::chrono_literals;

TEST(ConnectionLimiterTest, ResumeListeningRetriesAtIntervalsWhileAnotherProgramListens) {
  boost::asio::io_context io;
  ConnectionLimiter limiter(io, "127.0.0.1:0", 1, {});
  limiter.Start();
  limiter.StopListening();
  const auto other = ListenAt(io, "127.0.0.1:" + std::to_string(limiter.endpoint().port()));

  limiter.ResumeListening();
  limiter.StopListening();
  limiter.ResumeListening();

  EXPECT_LE(io.run_for(150ms), 5);  // one retry each 100 ms, and the cancelled operations
}

}  // namespace
}  // namespace kopp::detail
