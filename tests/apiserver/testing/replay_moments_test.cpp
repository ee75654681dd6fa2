#include "support/scratch_folder.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/testing/recording.hpp>

// A recording does not say when an event reached the cache. These recordings have events beside the
// reads of a reconcile; the calls of the reconcile show what it has read.

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kPath = "/api/v1/namespaces/default/";

/// Writes the number of ConfigMaps to the ConfigMap of the reconcile, `calls` times.
auto CountMaps(int calls) {
  return [calls](const ConfigMap&, Context& context) -> Result {
    for (int i = 0; i < calls; ++i) {
      const json size = std::to_string(context.cache.List<ConfigMap>().size());
      context.client.Patch<ConfigMap>(context.key, Patch::Merge({{"data", {{"maps", size}}}}));
    }
    return {};
  };
}

class ReplayMomentsTest : public ::testing::Test {
 protected:
  /// The operator has read the ConfigMap "a" and no Secret, and watches ConfigMaps.
  ReplayMomentsTest() {
    Write({{"recording", 1}, {"program", "copier"}, {"started", "2026-01-01T00:00:00.000000Z"}});
    Open(1, "configmaps");
    Read(1, List({Object("a", 5)}));
    Write({{"stream", 1}, {"end", true}});
    Open(2, "secrets");
    Read(2, List({}));
    Write({{"stream", 2}, {"end", true}});
    Open(3, "configmaps?watch=true");
  }

  void Write(json entry) {
    entry["at"] = lines_++;
    text_ += entry.dump() + '\n';
  }
  void Open(int stream, const std::string& resource) {
    Write({{"stream", stream},
           {"open", {{"method", "GET"}, {"target", kPath + resource}}},
           {"response", {{"status", 200}, {"body", ""}}}});
  }
  void Read(int stream, const std::string& bytes) { Write({{"stream", stream}, {"bytes", bytes}}); }
  void Start(int trace) {
    Write({{"reconcile", TraceOf(trace)},
           {"controller", "configmap"},
           {"namespace", "default"},
           {"name", "a"}});
  }
  void End(int trace) { Write({{"reconciled", TraceOf(trace)}}); }
  void Call(int trace, const std::string& method, const std::string& resource, const json& body,
            const json& response) {
    Write({{"call",
            {{"method", method},
             {"target", kPath + resource + "?fieldManager=copier"},
             {"traceparent", "00-" + TraceOf(trace) + "-0000000000000001-01"},
             {"body", body.dump()}}},
           {"response", {{"status", 200}, {"body", response.dump()}}}});
  }
  /// Records that the reconcile has found so many ConfigMaps.
  void Count(int trace, int maps) {
    Call(trace, "PATCH", "configmaps/a", {{"data", {{"maps", std::to_string(maps)}}}},
         Object("a", 5));
  }

  static std::string TraceOf(int trace) { return std::string(31, '0') + std::to_string(trace); }
  static json Object(const std::string& name, int version) {
    return {{"metadata",
             {{"name", name},
              {"namespace", "default"},
              {"uid", name},
              {"resourceVersion", std::to_string(version)}}}};
  }
  static std::string List(const json::array_t& items) {
    return json{{"kind", "List"}, {"metadata", {{"resourceVersion", "5"}}}, {"items", items}}
        .dump();
  }
  static std::string Added(const std::string& name, int version) {
    return json{{"type", "ADDED"}, {"object", Object(name, version)}}.dump() + '\n';
  }

  template <typename F>
  [[nodiscard]] testing::WaitResult Replay(const F& reconcile) const {
    folder_.Write("recording.jsonl", text_);
    testing::ReplayOptions options;
    options.cache.namespaces = ParseNamespaces("default");
    const testing::Recording recording(folder_ / "recording.jsonl");
    return recording.Replay<ConfigMap, Secret>(reconcile, options);
  }

  const testing::ScratchFolder folder_;
  std::string text_;
  int lines_ = 0;
};

TEST_F(ReplayMomentsTest, AnEventBeforeTheStartMayReachTheCacheAfterTheRead) {
  Read(3, Added("b", 6));
  Start(1);
  Count(1, 1);
  End(1);
  EXPECT_TRUE(Replay(CountMaps(1)));
}

TEST_F(ReplayMomentsTest, AnEventAfterTheStartMayReachTheCacheBeforeTheRead) {
  Start(1);
  Read(3, Added("b", 6));
  Count(1, 2);
  End(1);
  EXPECT_TRUE(Replay(CountMaps(1)));
}

TEST_F(ReplayMomentsTest, AReadMaySeeAPartOfTheEventsThatArriveTogether) {
  Read(3, Added("b", 6) + Added("c", 7) + Added("d", 8));
  Start(1);
  Count(1, 3);
  End(1);
  EXPECT_TRUE(Replay(CountMaps(1)));
}

TEST_F(ReplayMomentsTest, AReconcileWithoutCallsMayReadUntilItsEnd) {
  Start(1);
  Read(3, Added("b", 6));
  End(1);
  const auto count_if_alone = [](const ConfigMap& map, Context& context) -> Result {
    if (context.cache.List<ConfigMap>().size() == 2) return {};
    return CountMaps(1)(map, context);
  };
  EXPECT_TRUE(Replay(count_if_alone));
}

TEST_F(ReplayMomentsTest, AReadAfterACallSeesTheEventsBeforeThatCall) {
  Start(1);
  Count(1, 1);
  Read(3, Added("b", 6));
  Count(1, 1);
  Count(1, 2);
  End(1);
  EXPECT_TRUE(Replay(CountMaps(3)));
}

TEST_F(ReplayMomentsTest, ADifferenceAtEachMomentIsShownAsItIsAtTheStart) {
  Read(3, Added("b", 6));
  Start(1);
  Read(3, Added("c", 7));
  Count(1, 4);
  End(1);
  EXPECT_THAT(Replay(CountMaps(1)).message(), HasSubstr("body/data/maps: \"4\", now \"2\""));
}

TEST_F(ReplayMomentsTest, AnEventLongBeforeTheStartIsInTheCache) {
  Read(3, Added("b", 6));
  for (int version = 7; version < 50; ++version) Read(3, Added("b", version));
  Start(1);
  Count(1, 1);
  End(1);
  EXPECT_FALSE(Replay(CountMaps(1)));
}

TEST_F(ReplayMomentsTest, AnOwnWriteIsReadBeforeItsEventIsRecorded) {
  const auto create_secret = [](const ConfigMap&, Context& context) -> Result {
    if (context.cache.Get<Secret>(context.key)) return {};
    context.client.Create<Secret>({{"metadata", {{"name", "a"}, {"namespace", "default"}}}});
    return {};
  };
  const json request{{"apiVersion", "v1"},
                     {"kind", "Secret"},
                     {"metadata", {{"name", "a"}, {"namespace", "default"}}}};
  Start(1);
  Call(1, "POST", "secrets", request, Object("a", 6));
  End(1);
  Start(2);
  Open(4, "secrets?watch=true");
  Read(4, Added("a", 6));
  End(2);
  EXPECT_TRUE(Replay(create_secret));
}

TEST_F(ReplayMomentsTest, AReadMayPrecedeTheWaitForAWriteThatWasRecordedBefore) {
  Start(1);
  Start(2);
  Call(1, "PATCH", "configmaps/a", {{"data", {{"maps", "1"}}}}, Object("a", 7));
  End(1);
  Start(3);
  Count(3, 1);
  End(3);
  Read(3, Added("b", 6) + Added("a", 7));
  Count(2, 1);
  End(2);
  EXPECT_TRUE(Replay(CountMaps(1)));
}

TEST_F(ReplayMomentsTest, AnEventThatAReadHasAwaitedIsNotAppliedAgain) {
  const auto count_after_two_calls = [](const ConfigMap& map, Context& context) -> Result {
    for (int i = 0; i < 2; ++i) {
      context.client.Patch<ConfigMap>(context.key, Patch::Merge({{"data", {{"maps", "0"}}}}));
    }
    return CountMaps(1)(map, context);
  };
  Start(1);
  Count(1, 0);
  Count(1, 0);
  const json data{{"maps", "1"}};
  Call(1, "PATCH", "configmaps/a", {{"data", data}}, Object("a", 9));
  End(1);
  Start(2);
  Count(2, 0);
  Read(3, Added("b", 7));
  Count(2, 0);
  Read(3, json{{"type", "DELETED"}, {"object", Object("b", 8)}}.dump() + '\n' + Added("a", 9));
  Count(2, 1);
  End(2);
  EXPECT_TRUE(Replay(count_after_two_calls));
}

}  // namespace
}  // namespace kopp
