#include "kube_catalog.hpp"

#include "handlers/api_handler.hpp"
#include "storage/server_context.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::apiserver {
namespace {

class KubeCatalogTest : public ::testing::Test {
 protected:
  int Send(std::string method, std::string_view path, std::string body = {}) {
    return api_
        .Handle({.method = std::move(method),
                 .target = ParseRequestInfo(path),
                 .body = std::move(body)})
        .status;
  }

  testing::FakeClock clock_;
  ServerContext context_{clock_, 1, {.clock = clock_}, {}, {.catalog = KubeCatalog()}};
  ApiHandler api_{context_};
};

TEST_F(KubeCatalogTest, AnObjectIsValidatedByTheRulesOfItsKind) {
  constexpr const char* kPath = "/apis/storage.k8s.io/v1/storageclasses";
  EXPECT_EQ(Send("POST", kPath, R"({"metadata":{"name":"a"}})"), 422) << "a provisioner is missing";
  EXPECT_EQ(Send("POST", kPath, R"({"metadata":{"name":"a"},"provisioner":"p"})"), 201);
}

TEST_F(KubeCatalogTest, ASystemPriorityClassCannotBeDeleted) {
  constexpr const char* kPath = "/apis/scheduling.k8s.io/v1/priorityclasses";
  ASSERT_EQ(Send("POST", kPath, R"({"metadata":{"name":"low"},"value":1})"), 201);
  EXPECT_EQ(Send("DELETE", std::string(kPath) + "/low"), 200);
  EXPECT_EQ(Send("DELETE", std::string(kPath) + "/system-node-critical"), 403);
}

}  // namespace
}  // namespace kopp::apiserver
