#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/crd.hpp>
#include <kopp/or_null.hpp>

namespace or_null_test {

struct Window {
  std::int64_t days = 0;
};
KOPP_FIELDS(Window, days)

struct Backup {
  static constexpr kopp::Kind kKind{"example.com/v1", "Backup", "backups"};
  struct Spec {
    kopp::OrNull<std::int64_t> retention = {};
    kopp::OrNull<std::string> bucket = {};
    kopp::OrNull<Window> window = {};
    kopp::OrNull<std::vector<std::string>> hosts = {};
  };
  kopp::ObjectMeta metadata = {};
  Spec spec = {};
};
KOPP_FIELDS(Backup::Spec, KOPP_FIELD(retention, Nullable(), Minimum(1)),
            KOPP_FIELD(bucket, Nullable(), MaxLength(63)), window, hosts)
KOPP_FIELDS(Backup, metadata, spec)
KOPP_CRD(Backup)

}  // namespace or_null_test

namespace kopp {
namespace {

using nlohmann::json;
using or_null_test::Backup;
using or_null_test::Window;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(OrNullTest, AMemberWithoutAValueIsWrittenAsNull) {
  EXPECT_EQ(json::parse(Encode(Backup::Spec{})),
            json::parse(R"({"retention":null,"bucket":null,"window":null,"hosts":null})"));
}

TEST(OrNullTest, AMemberWithAValueIsWrittenAndReadAsThatValue) {
  const Backup::Spec spec{
      .retention = 3, .bucket = "", .window = Window{.days = 7}, .hosts = {{"a", "b"}}};
  const json text = json::parse(Encode(spec));
  EXPECT_EQ(text, json::parse(R"({"retention":3,"bucket":"","window":{"days":7},)"
                              R"("hosts":["a","b"]})"));
  const auto decoded = Decode<Backup::Spec>(text.dump());
  EXPECT_EQ(decoded.retention, 3);
  EXPECT_EQ(decoded.bucket, "");
  EXPECT_EQ(decoded.window->days, 7);
  EXPECT_EQ(json::parse(Encode(decoded)), text);
}

TEST(OrNullTest, NullIsReadAsNoValue) {
  EXPECT_FALSE(Decode<Backup::Spec>(R"({"retention":null})").retention.has_value());
}

TEST(OrNullTest, AnErrorHasThePathOfTheField) {
  const auto decode = [](const std::string& spec) {
    return [spec] { static_cast<void>(Decode<Backup>(R"({"spec":)" + spec + '}')); };
  };
  EXPECT_THAT(decode(R"({"window":{"days":"x"}})"),
              ThrowsMessage<DecodeError>(HasSubstr("spec.window.days: expected an integer")));
  EXPECT_THAT(decode(R"({"hosts":["a",1]})"),
              ThrowsMessage<DecodeError>(HasSubstr("spec.hosts[1]: expected a string")));
  EXPECT_THAT(decode(R"({"retention":"x"})"),
              ThrowsMessage<DecodeError>(HasSubstr("spec.retention: expected an integer")));
}

TEST(OrNullTest, TheSchemaRequiresTheFieldAndHasTheMarkersOfItsValue) {
  const json crd = CustomResourceDefinitionOf<Backup>().object();
  const json& spec = crd.at("spec")
                         .at("versions")
                         .at(0)
                         .at("/schema/openAPIV3Schema/properties/spec"_json_pointer);
  EXPECT_EQ(spec.at("required"), (json{"bucket", "hosts", "retention", "window"}));
  EXPECT_EQ(spec.at("/properties/retention"_json_pointer),
            (json{{"type", "integer"}, {"format", "int64"}, {"nullable", true}, {"minimum", 1}}));
}

}  // namespace
}  // namespace kopp
