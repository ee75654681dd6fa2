// An informer is right in the end, whatever befalls what it asks.
#include "faulty_server.hpp"

#include <cctype>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>

#include <kopp/http_source.hpp>
#include <kopp/informer/informer.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using Versions = std::map<std::string, std::string>;  // by the object's name

/// An informer of ConfigMaps, which is asked for by a user of its own: faults are for that one.
class FaultInformerTest : public FaultyServer {
 protected:
  FaultInformerTest() {
    const auto keep = [this](const informer::AnyObject& object) {
      const ObjectMeta& metadata = object.metadata();
      (*told_.Lock())[metadata.name] = metadata.resourceVersion;
    };
    informer_.AddHandler(
        {.on_add = [keep](const informer::AnyObject& object, bool) { keep(object); },
         .on_update = [keep](const informer::AnyObject&,
                             const informer::AnyObject& after) { keep(after); },
         .on_delete = [this](const informer::AnyObject& object,
                             bool) { told_.Lock()->erase(object.metadata().name); }});
    Make("a");
    Make("b");
    Change("b", "1");
  }

  void Inject(const std::string& text) {
    Fault fault = testing::ParseFault(text);
    fault.user = "informer";
    server_.Inject(std::move(fault));
  }
  void Start() {
    runner_ = std::jthread([this](const std::stop_token& stop) { informer_.Run(stop); });
  }

  Versions Served() {
    Versions versions;
    const json list = AskJson(kMaps);
    for (const json& item : list["items"]) {
      versions[item["metadata"]["name"]] = item["metadata"]["resourceVersion"];
    }
    return versions;
  }
  Versions Cached() {
    Versions versions;
    for (const auto& object : informer_.store().List()) {
      versions[object.metadata().name] = object.metadata().resourceVersion;
    }
    return versions;
  }
  Versions Told() { return *told_.Lock(); }

  /// Within an hour: a watch that says nothing is given up after eight minutes, and the next one
  /// may say nothing too.
  void ExpectRightInTheEnd() {
    const Versions served = Served();
    for (int second = 0; second < 3600 && (Cached() != served || Told() != served); ++second) {
      clock_.AwaitSleepers(1);
      clock_.Advance(1s);
    }
    EXPECT_EQ(Cached(), served);
    EXPECT_EQ(Told(), served);
  }

  std::unique_ptr<Transport> own_ = server_.TransportAs("informer");
  AnyHttpSource source_{*own_, ConfigMap::kKind, DecodeAny<ConfigMap>, "default"};
  informer::AnyInformer informer_{source_, {.clock = clock_, .seed = 1}};
  Guarded<Versions> told_;
  std::jthread runner_;
};

class FaultInformerTextTest : public FaultInformerTest,
                              public ::testing::WithParamInterface<const char*> {};

TEST_P(FaultInformerTextTest, AnInformerComesToKnowWhatThereIs) {
  Inject(GetParam());
  Start();
  ExpectRightInTheEnd();

  Inject(GetParam());  // upon a watch that is open
  Change("a", "2");
  client_.Delete(ConfigMap::kKind, {"default", "b"});
  Make("c");
  Make("b");

  ExpectRightInTheEnd();
}

INSTANTIATE_TEST_SUITE_P(
    Each, FaultInformerTextTest,
    ::testing::Values("too-many-requests,times=3,retry-after=5s", "server-error,times=3",
                      "server-error,times=3,status=502",
                      "server-error,verb=watch,times=3,status=504", "refuse,times=3",
                      "latency,times=3,delay=20s", "latency,times=3,delay=40s", "reset,times=3",
                      "stale-list,versions=1,times=1", "stale-list,versions=3,times=2",
                      "backwards-version,versions=3,times=2", "truncated-body,bytes=100,times=2",
                      "gone,verb=list,times=2", "gone,verb=watch,times=1", "gone,times=4",
                      "malformed-body,verb=list,times=2", "malformed-body,verb=watch,times=1",
                      "malformed-body,verb=watch,times=5", "silent-watch,times=1",
                      "silent-watch,times=2", "drop-watch,times=2", "drop-watch,bytes=200,times=2",
                      "drop-watch,bytes=800,share=0.5", "duplicate-event",
                      "duplicate-event,share=0.5", "no-bookmarks"),
    [](const auto& each) {
      std::string name;
      for (const char c : std::string(each.param)) name += std::isalnum(c) != 0 ? c : '_';
      return name;
    });

TEST_F(FaultInformerTest, AnEventThatWasLostIsMadeUpForByTheNextOfItsObject) {
  Start();
  ExpectRightInTheEnd();
  Inject("lost-event,times=1");
  Change("a", "2");
  Make("c");

  Change("a", "3");

  ExpectRightInTheEnd();
}

TEST_F(FaultInformerTest, AnInformerOutlivesTheServer) {
  Start();
  ExpectRightInTheEnd();

  Make("c");
  server_.Restart(10s);
  clock_.AwaitSleepers(1);
  clock_.Advance(10s);
  Change("c", "1");

  ExpectRightInTheEnd();
}

TEST_F(FaultInformerTest, AnInformerThatWasAwayForTooLongListsAnew) {
  Start();
  ExpectRightInTheEnd();
  Inject("drop-watch,times=1");
  Inject("refuse,times=2");
  Make("c");
  client_.Delete(ConfigMap::kKind, {"default", "b"});

  server_.Compact();

  ExpectRightInTheEnd();
}

}  // namespace
}  // namespace kopp
