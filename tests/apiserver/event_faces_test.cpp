#include "event_faces.hpp"

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

TEST(EventFacesTest, WhatIsShownCanBeKept) {
  const Resource events = Events("events.k8s.io");
  const json shown = R"({"regarding": {"name": "p"}, "note": "N", "deprecatedCount": 2,
                         "reportingController": "c", "type": "Normal"})"_json;
  const json kept = ToKept(events, shown);

  EXPECT_EQ(kept, R"({"involvedObject": {"name": "p"}, "message": "N", "count": 2,
                      "reportingComponent": "c", "type": "Normal"})"_json);
  EXPECT_EQ(FromKept(events, kept), shown);
}

TEST(EventFacesTest, TheNewGroupLeavesOutAReporterThatThereIsNot) {
  EXPECT_EQ(FromKept(Events("events.k8s.io"), {{"reportingComponent", ""}}), json::object());
}

TEST(EventFacesTest, OthersAreKeptAsTheyAre) {
  const json event{{"involvedObject", {{"name", "p"}}}};

  EXPECT_EQ(ToKept(Events(""), event), event);
  EXPECT_EQ(FromKept(Events(""), event), event);
}

}  // namespace
}  // namespace kopp::apiserver
