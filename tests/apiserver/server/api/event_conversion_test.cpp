#include "api/event_conversion.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

Resource Events(const char* group) {
  Resource resource;
  resource.group = group;
  resource.kind = "Event";
  return resource;
}

TEST(EventConversionTest, ConversionToTheStoredFormAndBackIsLossless) {
  const Resource events = Events("events.k8s.io");
  const json served = R"({"regarding": {"name": "p"}, "note": "N", "deprecatedCount": 2,
                         "reportingController": "c", "type": "Normal"})"_json;
  const json stored = ToStorageVersion(events, served);

  EXPECT_EQ(stored, R"({"involvedObject": {"name": "p"}, "message": "N", "count": 2,
                      "reportingComponent": "c", "type": "Normal"})"_json);
  EXPECT_EQ(FromStorageVersion(events, stored), served);
}

TEST(EventConversionTest, EventsGroupOmitsAnEmptyReportingController) {
  EXPECT_EQ(FromStorageVersion(Events("events.k8s.io"), {{"reportingComponent", ""}}),
            json::object());
}

TEST(EventConversionTest, CoreEventsAreNotConverted) {
  const json event{{"involvedObject", {{"name", "p"}}}};

  EXPECT_EQ(ToStorageVersion(Events(""), event), event);
  EXPECT_EQ(FromStorageVersion(Events(""), event), event);
}

}  // namespace
}  // namespace kopp::apiserver
