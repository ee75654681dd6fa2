#include "door.hpp"

#include <chrono>
#include <string>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace kopp::detail {
namespace {

using namespace std::chrono_literals;

TEST(DoorTest, ItTriesInPeaceToOpenWhereAnotherProgramListens) {
  boost::asio::io_context io;
  Door<int> door(io, "127.0.0.1:0", 1, {});
  door.Begin();
  door.Close();
  const auto another = ListenAt(io, "127.0.0.1:" + std::to_string(door.endpoint().port()));

  door.Open();
  door.Close();
  door.Open();

  EXPECT_LE(io.run_for(150ms), 5);  // a try each 100 ms, and what was cancelled
}

}  // namespace
}  // namespace kopp::detail
