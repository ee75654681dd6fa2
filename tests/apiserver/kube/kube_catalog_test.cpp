#include "kube_catalog.hpp"

#include "handlers/api_handler.hpp"
#include "storage/server_context.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::apiserver {
namespace {

class KubeCatalogTest : public ::testing::Test {
 protected:
  int Send(std::string method, std::string_view path, std::string body = {}) {
    ServerResponse response = api_.Handle(
        {.method = std::move(method), .target = ParseRequestInfo(path), .body = std::move(body)});
    body_ = response.body.ToValue();
    return response.status;
  }
  /// Creates the object "a" and deletes it. Returns the body of the response to the deletion.
  nlohmann::json BodyOfDeletion(const std::string& collection, const std::string& object) {
    EXPECT_EQ(Send("POST", collection, object), 201) << body_;
    EXPECT_EQ(Send("DELETE", collection + "/a"), 200) << body_;
    return body_;
  }

  testing::FakeClock clock_;
  ServerContext context_{clock_, 1, {.clock = clock_}, {}, {.catalog = KubeCatalog()}};
  ApiHandler api_{context_};
  nlohmann::json body_;  // of the last response
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

TEST_F(KubeCatalogTest, ASystemNamespaceCannotBeDeleted) {
  ASSERT_EQ(Send("POST", "/api/v1/namespaces", R"({"metadata":{"name":"a"}})"), 201);
  EXPECT_EQ(Send("DELETE", "/api/v1/namespaces/a"), 200);
  for (const char* name : {"default", "kube-system", "kube-public"}) {
    EXPECT_EQ(Send("DELETE", std::string("/api/v1/namespaces/") + name), 403) << name;
  }
}

TEST_F(KubeCatalogTest, ADeletionReturnsAStatusOrTheObjectDependingOnTheKind) {
  const auto status =
      BodyOfDeletion("/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(status.at("kind"), "Status");
  EXPECT_EQ(status.at("details").at("name"), "a");

  const auto account =
      BodyOfDeletion("/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(account.at("kind"), "ServiceAccount");

  const auto storage_class = BodyOfDeletion("/apis/storage.k8s.io/v1/storageclasses",
                                            R"({"metadata":{"name":"a"},"provisioner":"p"})");
  EXPECT_EQ(storage_class.at("kind"), "StorageClass");
  EXPECT_FALSE(storage_class.at("metadata").contains("deletionTimestamp"));
}

}  // namespace
}  // namespace kopp::apiserver
