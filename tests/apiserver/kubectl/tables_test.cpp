// Tables of an ApiServer in memory. The conformance suite tests their contents.
#include "all_extensions.hpp"
#include "environment/extended_api_server.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/fault.hpp>
#include <kopp/transport.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using testing::Fault;

const std::string config_maps = "/api/v1/namespaces/default/configmaps";
const std::string table_type = "application/json;as=Table;v=v1;g=meta.k8s.io";

class TablesTest : public ::testing::Test {
 protected:
  ApiResponse Create(const std::string& collection, const json& object) {
    return server_.transport().Call(
        {.method = "POST", .target = collection, .body = object.dump()});
  }

  testing::ExtendedApiServer server_{AllExtensions()};
};

TEST_F(TablesTest, TheNameOfAFaultMatchesTheObjectOfAnEventInATable) {
  const json list = json::parse(server_.transport().Call({.target = config_maps}).body);
  const auto watch =
      server_.transport().Open({.target = config_maps + "?watch=true&resourceVersion=" +
                                          list["metadata"]["resourceVersion"].get<std::string>(),
                                .accept = table_type});
  server_.Inject({.type = Fault::Type::kLostEvent, .name = "a"});

  Create(config_maps, {{"metadata", {{"name", "a"}}}});

  EXPECT_EQ(watch->Read({}).state, Stream::State::kSilent);
}

TEST_F(TablesTest, APrinterColumnWithDeeplyNestedFiltersDoesNotBreakTheTable) {
  std::string path = ".a";
  for (int i = 0; i < 20'000; ++i) path += "[?(@";
  const json schema{{"openAPIV3Schema", {{"type", "object"}}}};
  const json column{{"name", "A"}, {"type", "string"}, {"jsonPath", path}};
  const json version{{"name", "v1"},
                     {"served", true},
                     {"storage", true},
                     {"schema", schema},
                     {"additionalPrinterColumns", {column}}};
  Create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
         {{"metadata", {{"name", "bars.b.io"}}},
          {"spec",
           {{"group", "b.io"},
            {"scope", "Cluster"},
            {"names", {{"kind", "Bar"}, {"plural", "bars"}}},
            {"versions", {version}}}}});
  Create("/apis/b.io/v1/bars",
         {{"apiVersion", "b.io/v1"}, {"kind", "Bar"}, {"metadata", {{"name", "a"}}}});

  const ApiResponse table =
      server_.transport().Call({.target = "/apis/b.io/v1/bars", .accept = table_type});

  EXPECT_EQ(table.status, 200);
}

}  // namespace
}  // namespace kopp::apiserver
