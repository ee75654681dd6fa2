#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/field_manager_migration.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using nlohmann::json;

/// Returns an entry of managedFields. `fields` is FieldsV1 as JSON text.
json Entry(const std::string& manager, const std::string& operation, const std::string& fields,
           const std::string& version = "v1") {
  return {{"manager", manager},
          {"operation", operation},
          {"apiVersion", version},
          {"fieldsType", "FieldsV1"},
          {"fieldsV1", json::parse(fields)},
          {"time", "2026-01-01T00:00:00Z"}};
}

json OfStatus(json entry) {
  entry["subresource"] = "status";
  return entry;
}

json ObjectWith(const std::vector<json>& entries) {
  return {{"metadata", {{"name", "a"}, {"resourceVersion", "7"}, {"managedFields", entries}}}};
}

const std::string data = R"({"f:data":{".":{},"f:key":{},"f:legacy":{}}})";

// The cases are those of csaupgrade's tests, and those of a manager that has applied.
struct MigrationCase {
  std::string name;
  std::vector<json> before;
  FieldManagerMigration migration;
  std::vector<json> after;

  friend void PrintTo(const MigrationCase& c, std::ostream* out) { *out << c.name; }
};

const MigrationCase migration_cases[] = {
    {"UpdatesBecomeAnApplyEntry",
     {Entry("cli", "Update", data)},
     {.from = {"cli"}, .to = "shop"},
     {Entry("shop", "Apply", data)}},
    {"UpdatesUnderTheSameNameBecomeAnApplyEntry",
     {Entry("shop", "Update", data)},
     {.from = {"shop"}, .to = "shop"},
     {Entry("shop", "Apply", data)}},
    {"EqualFieldsAreMerged",
     {Entry("shop", "Apply", data), Entry("cli", "Update", data)},
     {.from = {"cli"}, .to = "shop"},
     {Entry("shop", "Apply", data)}},
    {"FurtherFieldsAreAddedToTheApplyEntry",
     {Entry("shop", "Apply", R"({"f:data":{"f:key":{}}})"), Entry("cli", "Update", data)},
     {.from = {"cli"}, .to = "shop"},
     {Entry("shop", "Apply", data)}},
    {"AFieldAndFieldsBelowItAreBothKept",
     {Entry("shop", "Apply", R"({"f:data":{}})"),
      Entry("cli", "Update", R"({"f:data":{"f:key":{}}})")},
     {.from = {"cli"}, .to = "shop"},
     {Entry("shop", "Apply", R"({"f:data":{".":{},"f:key":{}}})")}},
    {"FieldsOfOtherVersionsAreDropped",
     {Entry("shop", "Apply", data, "v5"), Entry("cli", "Update", R"({"f:data":{"f:a":{}}})", "v1"),
      Entry("cli", "Update", R"({"f:data":{"f:b":{}}})", "v2")},
     {.from = {"cli"}, .to = "shop"},
     {Entry("shop", "Apply", data, "v5")}},
    {"OneOfSeveralVersionsFits",
     {Entry("shop", "Apply", R"({"f:data":{".":{},"f:key":{}}})", "v5"),
      Entry("cli", "Update", R"({"f:data":{"f:legacy":{}}})", "v5"),
      Entry("cli", "Update", R"({"f:data":{"f:b":{}}})", "v2")},
     {.from = {"cli"}, .to = "shop"},
     {Entry("shop", "Apply", data, "v5")}},
    {"WithoutAFormerManagerNothingChanges",
     {Entry("other", "Apply", data)},
     {.from = {"cli"}, .to = "shop"},
     {Entry("other", "Apply", data)}},
    {"SeveralManagersAreAddedToAnApplyEntry",
     {Entry("shop", "Apply", R"({"f:data":{"f:key":{}}})"),
      Entry("painter", "Update", R"({"f:metadata":{"f:labels":{"f:color":{}}}})"),
      Entry("cli", "Update", data)},
     {.from = {"painter", "cli"}, .to = "shop"},
     {Entry("shop", "Apply",
            R"({"f:data":{".":{},"f:key":{},"f:legacy":{}},
                "f:metadata":{"f:labels":{"f:color":{}}}})")}},
    {"SeveralManagersBecomeANewApplyEntry",
     {Entry("other", "Apply", R"({"f:data":{"f:key":{}}})"),
      Entry("painter", "Update", R"({"f:metadata":{"f:labels":{"f:color":{}}}})"),
      Entry("cli", "Update", data)},
     {.from = {"cli", "painter"}, .to = "shop"},
     {Entry("other", "Apply", R"({"f:data":{"f:key":{}}})"),
      Entry("shop", "Apply",
            R"({"f:data":{".":{},"f:key":{},"f:legacy":{}},
                "f:metadata":{"f:labels":{"f:color":{}}}})")}},
    {"OnlyTheNamedSubresourceIsMigrated",
     {Entry("shop", "Update", data),
      OfStatus(Entry("shop", "Update", R"({"f:status":{"f:phase":{}}})"))},
     {.from = {"shop"}, .to = "shop", .subresource = "status"},
     {Entry("shop", "Update", data),
      OfStatus(Entry("shop", "Apply", R"({"f:status":{"f:phase":{}}})"))}},
    {"TheStatusStaysIfTheObjectIsMigrated",
     {OfStatus(Entry("cli", "Update", R"({"f:status":{"f:phase":{}}})"))},
     {.from = {"cli"}, .to = "shop"},
     {OfStatus(Entry("cli", "Update", R"({"f:status":{"f:phase":{}}})"))}},
    {"AppliedFieldsAreMovedToo",
     {Entry("old", "Apply", R"({"f:data":{".":{},"f:legacy":{}}})"),
      Entry("old", "Update", R"({"f:data":{"f:key":{}}})")},
     {.from = {"old"}, .to = "shop"},
     {Entry("shop", "Apply", data)}},
    {"TheEntryOfTheNewManagerIsNoFormerOne",
     {Entry("shop", "Apply", data)},
     {.from = {"shop"}, .to = "shop"},
     {Entry("shop", "Apply", data)}},
};

class MigrateFieldManagerTest : public ::testing::TestWithParam<MigrationCase> {};

TEST_P(MigrateFieldManagerTest, FieldsAreMovedAsInCsaupgrade) {
  const auto& [name, before, migration, after] = GetParam();
  json object = ObjectWith(before);
  const auto patch = FieldManagerMigrationPatch(object, migration);

  EXPECT_EQ(MigrateFieldManager(object, migration), before != after);

  EXPECT_EQ(object, ObjectWith(after));
  ASSERT_EQ(patch.has_value(), before != after);
  if (!patch) return;
  EXPECT_EQ(ObjectWith(before).patch(json::parse(patch->text)), ObjectWith(after));
}
INSTANTIATE_TEST_SUITE_P(, MigrateFieldManagerTest, ::testing::ValuesIn(migration_cases),
                         [](const auto& migration) { return migration.param.name; });

TEST(FieldManagerMigrationTest, AnObjectWithoutManagedFieldsIsNotChanged) {
  json object{{"metadata", {{"name", "a"}}}};

  EXPECT_FALSE(MigrateFieldManager(object, {.from = {"cli"}, .to = "shop"}));

  EXPECT_EQ(object, json({{"metadata", {{"name", "a"}}}}));
}

TEST(FieldManagerMigrationTest, WrongArgumentsAreRejected) {
  json object = ObjectWith({Entry("cli", "Update", data)});
  EXPECT_THROW(MigrateFieldManager(object, {.from = {"cli"}}), std::invalid_argument);

  object["metadata"].erase("resourceVersion");
  EXPECT_THROW(static_cast<void>(FieldManagerMigrationPatch(object, {.from = {"cli"}, .to = "x"})),
               std::invalid_argument);
}

class MigrateStoredObjectTest : public ::testing::Test {
 protected:
  static constexpr const char* kMap = "/api/v1/namespaces/shop/configmaps/a";
  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_, "shop"};
};

TEST_F(MigrateStoredObjectTest, TheObjectIsPatchedWithItsResourceVersion) {
  transport_.Respond("GET", kMap, 200, ObjectWith({Entry("cli", "Update", data)}).dump());
  transport_.Respond("PATCH", kMap, 200, "{}");

  EXPECT_TRUE(MigrateFieldManager<ConfigMap>(client_, {"shop", "a"}, {.from = {"cli"}}));

  const ApiRequest patch = transport_.Requests().back();
  EXPECT_EQ(patch.content_type, "application/json-patch+json");
  EXPECT_EQ(json::parse(patch.body),
            json({{{"op", "replace"},
                   {"path", "/metadata/managedFields"},
                   {"value", json::array({Entry("shop", "Apply", data)})}},
                  {{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", "7"}}}));
}

TEST_F(MigrateStoredObjectTest, NothingIsSentIfNothingHasToChange) {
  transport_.Respond("GET", kMap, 200, ObjectWith({Entry("shop", "Apply", data)}).dump());
  EXPECT_FALSE(MigrateFieldManager<ConfigMap>(client_, {"shop", "a"}, {.from = {"cli"}}));

  transport_.Respond("GET", kMap, 404,
                     R"({"kind":"Status","status":"Failure","reason":"NotFound","code":404})");
  EXPECT_FALSE(MigrateFieldManager<ConfigMap>(client_, {"shop", "a"}, {.from = {"cli"}}));

  EXPECT_EQ(transport_.Requests().size(), 2U);
}

}  // namespace
}  // namespace kopp
