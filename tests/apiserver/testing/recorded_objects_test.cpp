#include "recordings/recorded_objects.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

class RecordedObjectsTest : public ::testing::Test {
 protected:
  /// Records a response of status 200 with these bytes, and its end.
  void Read(const std::string& query, const std::string& bytes) {
    const int number = Open(query);
    objects_.Apply({{"stream", number}, {"bytes", bytes}});
    objects_.Apply({{"stream", number}, {"end", true}});
  }
  int Open(const std::string& query) {
    objects_.Apply({{"stream", ++streams_},
                    {"open", {{"method", "GET"}, {"target", "/api/v1/pods" + query}}},
                    {"response", {{"status", 200}, {"body", ""}}}});
    return streams_;
  }
  static std::string List(const std::vector<std::string>& names, const std::string& next) {
    json list{{"kind", "PodList"}, {"apiVersion", "v1"}, {"metadata", json::object()}};
    if (!next.empty()) list["metadata"]["continue"] = next;
    list["items"] = json::array();
    for (const std::string& name : names) list["items"].push_back({{"metadata", {{"name", name}}}});
    return list.dump();
  }
  static std::string Event(const std::string& type, const std::string& name) {
    return json{{"type", type}, {"object", {{"metadata", {{"name", name}}}}}}.dump() + "\n";
  }
  [[nodiscard]] std::vector<std::string> Names() const {
    const json list = objects_.List({.target = "/api/v1/pods"});
    std::vector<std::string> names;
    for (const json& item : list.at("items")) {
      names.push_back(item.at("metadata").at("name"));
    }
    return names;
  }

  RecordedObjects objects_;
  int streams_ = 0;
};

TEST_F(RecordedObjectsTest, AListReplacesTheObjectsWhenItsLastPageHasArrived) {
  Read("", List({"old"}, ""));
  Read("?limit=2", List({"a", "b"}, "token"));
  EXPECT_THAT(Names(), ElementsAre("old"));
  Read("?limit=2&continue=token", List({"c"}, ""));
  EXPECT_THAT(Names(), ElementsAre("a", "b", "c"));
}

TEST_F(RecordedObjectsTest, InitialEventsReplaceTheObjectsAtTheirEnd) {
  Read("", List({"old"}, ""));
  const int watch = Open("?watch=true&sendInitialEvents=true");
  objects_.Apply({{"stream", watch}, {"bytes", Event("ADDED", "a")}});
  EXPECT_THAT(Names(), ElementsAre("old"));
  const json bookmark{
      {"type", "BOOKMARK"},
      {"object", {{"metadata", {{"annotations", {{"k8s.io/initial-events-end", "true"}}}}}}}};
  objects_.Apply({{"stream", watch}, {"bytes", bookmark.dump() + "\n" + Event("ADDED", "b")}});
  EXPECT_THAT(Names(), ElementsAre("a", "b"));
}

TEST_F(RecordedObjectsTest, EventsAreAppliedAndThoseThatAreNotValidAreSkipped) {
  Read("", List({"a", "b"}, ""));
  Read("?watch=true", Event("ADDED", "c") + "{\"type\": 5\n" + Event("DELETED", "a") + "[]\n");
  EXPECT_THAT(Names(), ElementsAre("b", "c"));
}

}  // namespace
}  // namespace kopp::apiserver
