#include "faults/audit_log.hpp"

#include "crd/server_catalog.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::apiserver {
namespace {

class AuditLogTest : public ::testing::Test, protected RequestHandler {
 protected:
  ServerResponse Handle(const ServerRequest& /*request*/) override { return {}; }

  static ServerRequest Of(const std::string& target) {
    return {
        .method = "GET", .target = ParseRequestInfo(target), .user_agent = std::string(1000, 'a')};
  }
  static std::string First(AuditLog& log) { return log.Entries().at(0)["requestURI"]; }

  testing::FakeClock clock_;
  ServerContext context_{clock_, 1, {.clock = clock_}, {}, {.catalog = ServerCatalog()}};
  RequestHandler& server_ = *this;
};

TEST_F(AuditLogTest, OldestEntryIsDroppedWhenTheLogExceedsMaxBytes) {
  AuditLog log(context_, server_, {}, 4000);
  log.Handle(Of("/1"));
  log.Handle(Of("/2"));
  EXPECT_EQ(First(log), "/1");

  log.Handle(Of("/3"));

  EXPECT_EQ(First(log), "/2");
  EXPECT_EQ(log.Entries().size(), 2U);
}

}  // namespace
}  // namespace kopp::apiserver
