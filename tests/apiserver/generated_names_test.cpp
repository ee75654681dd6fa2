#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp {
namespace {

using nlohmann::json;

json Make(Transport& transport, const json& metadata) {
  json object{{"metadata", metadata}};
  object["metadata"]["namespace"] = "default";
  return Client(transport).Create(ConfigMap::kKind, object);
}

std::string Generated(Transport& transport) {
  return Make(transport, {{"generateName", "a-"}})["metadata"]["name"];
}

TEST(GeneratedNamesTest, ANameThatIsTakenIsNotGivenAgain) {
  testing::ApiServer one;
  testing::ApiServer other;  // makes up the same names, of the same seed
  Make(one.transport(), {{"name", "a"}});
  const std::string next = Generated(one.transport());
  Make(other.transport(), {{"name", next}});

  EXPECT_NE(Generated(other.transport()), next);
}

}  // namespace
}  // namespace kopp
