#include "audit_log.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::apiserver {
namespace {

class AuditLogTest : public ::testing::Test, protected Answerer {
 protected:
  Reply Answer(const Ask& /*ask*/) override { return {}; }

  static Ask Of(const std::string& target) {
    return {.method = "GET", .target = ParseTarget(target), .user_agent = std::string(1000, 'a')};
  }
  static std::string First(AuditLog& log) { return log.Entries().at(0)["requestURI"]; }

  testing::FakeClock clock_;
  World world_{clock_, 1, {.clock = clock_}};
  Answerer& server_ = *this;
};

TEST_F(AuditLogTest, TheOldestMakeRoomWhenTheBytesAreTooMany) {
  AuditLog log(world_, server_, {}, 4000);
  log.Answer(Of("/1"));
  log.Answer(Of("/2"));
  EXPECT_EQ(First(log), "/1");

  log.Answer(Of("/3"));

  EXPECT_EQ(First(log), "/2");
  EXPECT_EQ(log.Entries().size(), 2U);
}

}  // namespace
}  // namespace kopp::apiserver
