#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp {
namespace {

using nlohmann::json;

json Create(Transport& transport, const json& metadata) {
  json object{{"metadata", metadata}};
  object["metadata"]["namespace"] = "default";
  return Client(transport).Dynamic(ConfigMap::kKind).Create(object).Json();
}

std::string CreateWithGeneratedName(Transport& transport) {
  return Create(transport, {{"generateName", "a-"}})["metadata"]["name"];
}

TEST(GeneratedNamesTest, AGeneratedNameThatExistsIsNotUsed) {
  testing::ApiServer one;
  testing::ApiServer other;  // generates the same names, because it has the same seed
  Create(one.transport(), {{"name", "a"}});
  const std::string generated = CreateWithGeneratedName(one.transport());
  Create(other.transport(), {{"name", generated}});

  EXPECT_NE(CreateWithGeneratedName(other.transport()), generated);
}

}  // namespace
}  // namespace kopp
