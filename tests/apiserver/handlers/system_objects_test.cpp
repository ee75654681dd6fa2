// The objects of a new cluster. The conformance suite compares single objects with a real server.
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/api_server.hpp>
#include <kopp/transport.hpp>

namespace kopp {
namespace {

using nlohmann::json;

json Get(testing::ApiServer& server, const std::string& target) {
  return json::parse(server.transport().Call({.target = target}).body);
}

/// Returns the names of the APIServices that the served group versions need. The API server does
/// not register the group of the APIServices themselves.
std::set<std::string> NamesOfServedGroupVersions(testing::ApiServer& server) {
  std::set<std::string> names{"v1."};
  const json groups = Get(server, "/apis");
  for (const json& group : groups.at("groups")) {
    const std::string name = group.at("name");
    if (name == "apiregistration.k8s.io") continue;
    for (const json& each : group.at("versions")) {
      names.insert(each.at("version").get<std::string>() + '.' + name);
    }
  }
  return names;
}

TEST(SystemObjectsTest, ExactlyTheServedGroupVersionsHaveAnApiService) {
  testing::ApiServer server;

  const json services = Get(server, "/apis/apiregistration.k8s.io/v1/apiservices");
  std::set<std::string> names;
  for (const json& service : services.at("items")) {
    names.insert(service.at("metadata").at("name").get<std::string>());
  }

  EXPECT_EQ(names, NamesOfServedGroupVersions(server));
}

}  // namespace
}  // namespace kopp
