#include "custom_resources.hpp"
#include "tables.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;

const std::string metadata_type = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const std::string metadata_list_type =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const std::string accepted_types_message =
    "only the following media types are accepted: application/json, application/yaml, "
    "application/vnd.kubernetes.protobuf";

/// Fixture of tests of the representations of one ConfigMap, "a", and of its list: Table and
/// PartialObjectMetadata.
class TableTest : public ConformanceTest {
 protected:
  void SetUp() override {
    created_ = Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"labels", {{"x", "1"}}}}},
                                         {"data", {{"k", "v"}, {"l", "w"}}}});
  }
  JsonResponse ListAs(const std::string& accept, const std::string& query = "") {
    return Call({.target = Path("configmaps") + query, .accept = accept});
  }
  JsonResponse GetAs(const std::string& accept, const std::string& query = "") {
    return Call({.target = Path("configmaps") + "/a" + query, .accept = accept});
  }
  json ExpectedMetadata() {
    return {{"kind", "PartialObjectMetadata"},
            {"apiVersion", "meta.k8s.io/v1"},
            {"metadata", created_.at("/metadata")}};
  }

  JsonResponse created_{};
};

TEST_F(TableTest, ListTableHasARowForEachObject) {
  Post(Path("configmaps"), MakeConfigMap("b"));

  const JsonResponse table = ListAs(table_type);

  EXPECT_EQ(table.status, 200);
  EXPECT_EQ(table.str("/kind"), "Table");
  EXPECT_EQ(table.str("/apiVersion"), "meta.k8s.io/v1");
  EXPECT_THAT(ColumnSummaries(table.body), ElementsAre("Name (name)", "Data", "Age"));
  EXPECT_EQ(table.at("/rows").size(), 2U);
  EXPECT_EQ(RowCells(table.body, 0), json({"a", 2, "AGE"}));
  EXPECT_EQ(RowCells(table.body, 1), json({"b", 0, "AGE"}));
}

TEST_F(TableTest, ListTableHasTheMetadataOfTheList) {
  const JsonResponse table = ListAs(table_type);

  EXPECT_NE(table.resource_version(), "");
  EXPECT_EQ(table.at("/metadata"), json({{"resourceVersion", table.resource_version()}}));
}

TEST_F(TableTest, TableOfAPageHasItsContinueToken) {
  Post(Path("configmaps"), MakeConfigMap("b"));

  const JsonResponse table = ListAs(table_type, "?limit=1");

  EXPECT_EQ(table.at("/rows").size(), 1U);
  EXPECT_NE(table.str("/metadata/continue"), "");
  EXPECT_EQ(table.at("/metadata/remainingItemCount"), 1);
}

TEST_F(TableTest, TableOfAnEmptyListHasColumnsAndNoRows) {
  const JsonResponse table = ListAs(table_type, "?labelSelector=x%3Dnone");

  EXPECT_THAT(ColumnSummaries(table.body), ElementsAre("Name (name)", "Data", "Age"));
  EXPECT_EQ(table.at("/rows"), json::array());
}

TEST_F(TableTest, TableOfOneObjectHasOneRow) {
  const JsonResponse table = GetAs(table_type);

  EXPECT_EQ(table.str("/kind"), "Table");
  EXPECT_EQ(table.at("/metadata"), json({{"resourceVersion", created_.resource_version()}}));
  EXPECT_EQ(table.at("/rows").size(), 1U);
  EXPECT_EQ(RowCells(table.body), json({"a", 2, "AGE"}));
}

TEST_F(TableTest, RowsIncludeTheMetadataByDefault) {
  EXPECT_EQ(ListAs(table_type).at("/rows/0/object"), ExpectedMetadata());
  EXPECT_EQ(ListAs(table_type, "?includeObject=Metadata").at("/rows/0/object"), ExpectedMetadata());
}

TEST_F(TableTest, RowsIncludeTheObjectWithIncludeObjectObject) {
  EXPECT_EQ(ListAs(table_type, "?includeObject=Object").at("/rows/0/object"), created_.body);
}

TEST_F(TableTest, RowsHaveANullObjectWithIncludeObjectNone) {
  const JsonResponse table = ListAs(table_type, "?includeObject=None");

  ASSERT_TRUE(table.at("/rows/0").contains("object")) << table.text;
  EXPECT_EQ(table.at("/rows/0/object"), nullptr);
}

TEST_F(TableTest, UnknownIncludeObjectIsABadRequest) {
  const JsonResponse response = ListAs(table_type, "?includeObject=Nope");

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.message(),
            "Unable to convert to Table as requested: includeObject: Invalid value: \"Nope\": must "
            "be 'Metadata', 'Object', 'None', or empty");
}

TEST_F(TableTest, CreateCanReturnATable) {
  const JsonResponse table = Call({.method = "POST",
                                   .target = Path("configmaps"),
                                   .body = MakeConfigMap("b").dump(),
                                   .accept = table_type});

  EXPECT_EQ(table.status, 201);
  EXPECT_EQ(RowCells(table.body), json({"b", 0, "AGE"}));
}

TEST_F(TableTest, ErrorIsAStatusEvenIfATableIsAccepted) {
  const JsonResponse response =
      Call({.target = Path("configmaps") + "/none", .accept = table_type});

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.str("/kind"), "Status");
}

TEST_F(TableTest, FirstSupportedAcceptTypeIsUsed) {
  EXPECT_EQ(ListAs(table_type + ",application/json").str("/kind"), "Table");
  EXPECT_EQ(ListAs("application/json," + table_type).str("/kind"), "ConfigMapList");
  EXPECT_EQ(ListAs("application/json;as=Table;v=v9;g=meta.k8s.io,application/json").str("/kind"),
            "ConfigMapList");
}

TEST_F(TableTest, UnsupportedTableVersionIsNotAcceptable) {
  const JsonResponse response = ListAs("application/json;as=Table;v=v9;g=meta.k8s.io");

  EXPECT_EQ(response.status, 406);
  EXPECT_EQ(response.reason(), "NotAcceptable");
  EXPECT_EQ(response.message(), accepted_types_message);
}

TEST_F(TableTest, OnlyTheFirstTableEventOfAWatchHasColumnDefinitions) {
  const JsonResponse b = Post(Path("configmaps"), MakeConfigMap("b"));
  const std::string version = b.resource_version();
  MergePatch(Path("configmaps") + "/b", {{"data", {{"k", "v"}}}});
  Delete(Path("configmaps") + "/b");

  Watch watch(ServerTransport().Open(
      {.target = Path("configmaps") + "?watch=true&resourceVersion=" + version,
       .accept = table_type}));

  const json changed = watch.NextEvent();
  EXPECT_EQ(changed["type"], "MODIFIED");
  EXPECT_EQ(changed["object"]["kind"], "Table");
  EXPECT_THAT(ColumnSummaries(changed["object"]), ElementsAre("Name (name)", "Data", "Age"));
  EXPECT_EQ(RowCells(changed["object"]), json({"b", 1, "AGE"}));
  EXPECT_EQ(changed["object"]["rows"][0]["object"]["kind"], "PartialObjectMetadata");
  const json deleted = watch.NextEvent();
  EXPECT_EQ(deleted["type"], "DELETED");
  EXPECT_EQ(deleted["object"]["columnDefinitions"], nullptr);
  EXPECT_EQ(deleted["object"]["rows"][0]["cells"][0], "b");
}

TEST_F(TableTest, BookmarkOfATableWatchIsATable) {
  Watch watch(
      ServerTransport().Open({.target = Path("configmaps") + "?watch=true&allowWatchBookmarks=true",
                              .accept = table_type}));
  watch.NextEvent();

  const json bookmark = watch.NextEvent();

  EXPECT_EQ(bookmark["type"], "BOOKMARK");
  EXPECT_EQ(bookmark["object"]["kind"], "Table");
  EXPECT_EQ(bookmark["object"]["rows"][0]["object"]["metadata"]["annotations"],
            json({{"k8s.io/initial-events-end", "true"}}));
}

TEST_F(TableTest, UnsupportedAcceptTypeOfAWatchIsNotAcceptable) {
  const JsonResponse response =
      Call({.target = Path("configmaps") + "?watch=true&timeoutSeconds=1", .accept = "text/html"});

  EXPECT_EQ(response.status, 406);
  EXPECT_THAT(response.message(), EndsWith("application/json;stream=watch, "
                                           "application/vnd.kubernetes.protobuf;stream=watch"));
}

TEST_F(TableTest, ObjectIsReturnedAsPartialObjectMetadata) {
  EXPECT_EQ(GetAs(metadata_type).body, ExpectedMetadata());
}

TEST_F(TableTest, ListIsReturnedAsPartialObjectMetadataList) {
  const JsonResponse list = ListAs(metadata_list_type);

  EXPECT_NE(list.resource_version(), "");
  EXPECT_EQ(list.body, json({{"kind", "PartialObjectMetadataList"},
                             {"apiVersion", "meta.k8s.io/v1"},
                             {"metadata", {{"resourceVersion", list.resource_version()}}},
                             {"items", {ExpectedMetadata()}}}));
}

TEST_F(TableTest, WatchSendsPartialObjectMetadata) {
  Watch watch(ServerTransport().Open(
      {.target = Path("configmaps") + "?watch=true", .accept = metadata_type}));

  EXPECT_EQ(watch.NextEvent(), json({{"type", "ADDED"}, {"object", ExpectedMetadata()}}));
}

TEST_F(TableTest, PartialObjectMetadataOfAListIsNotAcceptable) {
  const JsonResponse response = ListAs(metadata_type);

  EXPECT_EQ(response.status, 406);
  EXPECT_EQ(response.message(),
            "you requested PartialObjectMetadata, but the requested object is a list "
            "(*core.ConfigMapList)");
}

TEST_F(TableTest, PartialObjectMetadataListOfAnObjectIsNotAcceptable) {
  const JsonResponse response = GetAs(metadata_list_type);

  EXPECT_EQ(response.status, 406);
  EXPECT_EQ(response.message(),
            "you requested PartialObjectMetadataList, but the requested object is not a list "
            "(*core.ConfigMap)");
}

/// Fixture of tests of Tables of custom resources.
class CustomResourceTableTest : public CrdPerTest {};

TEST_F(CustomResourceTableTest, TableWithoutPrinterColumnsShowsNameAndAge) {
  CreateCrd(AnyObjectSchema());
  Post(Widgets(), MakeWidget("w"));

  const JsonResponse table = Call({.target = Widgets(), .accept = table_type});

  EXPECT_THAT(ColumnSummaries(table.body), ElementsAre("Name (name)", "Age date"));
  EXPECT_EQ(RowCells(table.body), json({"w", "AGE"}));
}

TEST_F(CustomResourceTableTest, AdditionalPrinterColumnsAreReadByJsonPath) {
  CreateCrd(AnyObjectSchema(), json::parse(R"({"additionalPrinterColumns": [
      {"name": "Text", "type": "string", "jsonPath": ".spec.text", "description": "what it says"},
      {"name": "Count", "type": "integer", "jsonPath": ".spec.count", "format": "int32",
       "priority": 1},
      {"name": "Ratio", "type": "number", "jsonPath": ".spec.ratio"},
      {"name": "On", "type": "boolean", "jsonPath": ".spec.on"},
      {"name": "Each", "type": "string", "jsonPath": ".spec.list[*].x"},
      {"name": "Second", "type": "string", "jsonPath": ".spec.list[1].x"},
      {"name": "Chosen", "type": "string", "jsonPath": ".spec.list[?(@.x==\"b\")].x"},
      {"name": "Object", "type": "string", "jsonPath": ".spec.object"},
      {"name": "Label", "type": "string", "jsonPath": ".metadata.labels.example\\.com/l"},
      {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]})"));
  json widget = MakeWidget("w", json::parse(R"({"text": "t", "count": 5, "ratio": 1.5, "on": true,
                                             "list": [{"x": "a"}, {"x": "b"}],
                                             "object": {"y": "z"}})"));
  widget["metadata"]["labels"]["example.com/l"] = "L";
  Post(Widgets(), widget);
  Post(Widgets(), MakeWidget("none"));

  const JsonResponse table = Call({.target = Widgets(), .accept = table_type});

  EXPECT_THAT(ColumnSummaries(table.body),
              ElementsAre("Name (name)", "Text", "Count integer (int32) wide", "Ratio number",
                          "On boolean", "Each", "Second", "Chosen", "Object", "Label", "Age date"));
  EXPECT_EQ(table.at("/columnDefinitions/1/description"), "what it says");
  EXPECT_EQ(table.at("/columnDefinitions/3/description"),
            "Custom resource definition column (in JSONPath format): .spec.ratio");
  EXPECT_EQ(RowCells(table.body, 0), json({"none", nullptr, nullptr, nullptr, nullptr, nullptr,
                                           nullptr, nullptr, nullptr, nullptr, "AGE"}));
  EXPECT_EQ(RowCells(table.body, 1),
            json({"w", "t", 5, 1.5, true, "a", "b", "b", R"({"y":"z"})", "L", "AGE"}));
}

TEST_F(CustomResourceTableTest, ColumnValueOfTheWrongTypeIsNull) {
  CreateCrd(AnyObjectSchema(), json::parse(R"({"additionalPrinterColumns": [
      {"name": "Count", "type": "integer", "jsonPath": ".spec.text"}]})"));
  Post(Widgets(), MakeWidget("w", {{"text", "t"}}));

  const JsonResponse table = Call({.target = Widgets(), .accept = table_type});

  EXPECT_THAT(ColumnSummaries(table.body), ElementsAre("Name (name)", "Count integer"));
  EXPECT_EQ(RowCells(table.body), json({"w", nullptr}));
}

}  // namespace
}  // namespace kopp::conformance
