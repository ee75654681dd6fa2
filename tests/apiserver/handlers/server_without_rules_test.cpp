// The library apiserver_server alone, without the rules of built-in kinds.
#include "handlers/api_handler.hpp"
#include "storage/server_context.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::apiserver {
namespace {

class ServerWithoutRulesTest : public ::testing::Test {
 protected:
  int StatusOfCreate(std::string storage_class) {
    return api_
        .Handle({.method = "POST",
                 .target = ParseRequestInfo("/apis/storage.k8s.io/v1/storageclasses"),
                 .body = std::move(storage_class)})
        .status;
  }

  testing::FakeClock clock_;
  ServerContext context_{clock_, 1, {.clock = clock_}};
  ApiHandler api_{context_};
};

TEST_F(ServerWithoutRulesTest, AnObjectIsValidatedByItsSchemaOnly) {
  EXPECT_EQ(StatusOfCreate(R"({"metadata":{"name":"a"}})"), 201) << "kube requires a provisioner";
  EXPECT_EQ(StatusOfCreate(R"({"metadata":{"name":"b"},"provisioner":1})"), 400);
}

}  // namespace
}  // namespace kopp::apiserver
