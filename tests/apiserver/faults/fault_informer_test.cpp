// An informer's cache eventually equals the server's objects, whatever fault is injected.
#include "faulty_server.hpp"

#include <cctype>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include <gmock/gmock.h>

#include <kopp/http_source.hpp>
#include <kopp/informer/informer.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using Versions = std::map<std::string, std::string>;  // object name to resourceVersion

/// An informer of ConfigMaps with a user of its own: faults apply to this user only.
class FaultInformerTest : public FaultyServer {
 protected:
  explicit FaultInformerTest(bool use_watch_list = false, Duration audit_interval = {})
      : informer_{source_,
                  {.clock = clock_,
                   .seed = 1,
                   .use_watch_list = use_watch_list,
                   .audit_interval = audit_interval}} {
    const auto record = [this](const informer::AnyObject& object) {
      const ObjectMeta& metadata = object.metadata();
      (*handled_.Lock())[metadata.name] = metadata.resourceVersion;
    };
    informer_.AddHandler(
        {.on_add = [record](const informer::AnyObject& object, bool) { record(object); },
         .on_update = [record](const informer::AnyObject&,
                               const informer::AnyObject& after) { record(after); },
         .on_delete = [this](const informer::AnyObject& object,
                             bool) { handled_.Lock()->erase(object.metadata().name); }},
        {.delivery = informer::Delivery::kInformerThread});
    Create("a");
    Create("b");
    SetValue("b", "1");
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
    const json list = GetJson(kMaps);
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
  Versions Handled() { return *handled_.Lock(); }

  /// Advances the clock by up to an hour. The informer abandons a silent watch after eight minutes,
  /// and the next watch may be silent too.
  void ExpectEventuallyInSync() {
    const Versions served = Served();
    for (int second = 0; second < 3600 && (Cached() != served || Handled() != served); ++second) {
      clock_.AwaitSleepers(1);
      clock_.Advance(1s);
    }
    EXPECT_EQ(Cached(), served);
    EXPECT_EQ(Handled(), served);
  }

  std::unique_ptr<Transport> informer_transport_ = server_.TransportAs("informer");
  AnyHttpSource source_{*informer_transport_, ConfigMap::kKind, DecodeAny<ConfigMap>, "default"};
  informer::AnyInformer informer_;
  detail::Guarded<Versions> handled_;
  std::jthread runner_;
};

/// The parameters: a fault, and whether the informer lists with a watch.
class FaultInformerTextTest : public FaultInformerTest,
                              public ::testing::WithParamInterface<std::tuple<const char*, bool>> {
 protected:
  FaultInformerTextTest() : FaultInformerTest(std::get<bool>(GetParam())) {}
};

TEST_P(FaultInformerTextTest, CacheIsEventuallyInSync) {
  const char* const fault = std::get<const char*>(GetParam());
  Inject(fault);
  Start();
  ExpectEventuallyInSync();

  Inject(fault);  // while a watch is open
  SetValue("a", "2");
  client_.Delete<ConfigMap>({"default", "b"});
  Create("c");
  Create("b");

  ExpectEventuallyInSync();
}

INSTANTIATE_TEST_SUITE_P(
    Each, FaultInformerTextTest,
    ::testing::Combine(
        ::testing::Values(
            "too-many-requests,times=3,retry-after=5s", "server-error,times=3",
            "server-error,times=3,status=502", "server-error,verb=watch,times=3,status=504",
            "refuse,times=3", "latency,times=3,delay=20s", "latency,times=3,delay=40s",
            "reset,times=3", "stale-list,versions=1,times=1", "stale-list,versions=3,times=2",
            "backwards-version,versions=3,times=2", "truncated-body,bytes=100,times=2",
            "gone,verb=list,times=2", "gone,verb=watch,times=1", "gone,times=4",
            "malformed-body,verb=list,times=2", "malformed-body,verb=watch,times=1",
            "malformed-body,verb=watch,times=5", "silent-watch,times=1", "silent-watch,times=2",
            "drop-watch,times=2", "drop-watch,bytes=200,times=2", "drop-watch,bytes=800,share=0.5",
            "duplicate-event", "duplicate-event,share=0.5", "no-bookmarks"),
        ::testing::Bool()),
    [](const auto& each) {
      std::string name = std::get<bool>(each.param) ? "WatchList_" : "List_";
      for (const char c : std::string(std::get<const char*>(each.param)))
        name += std::isalnum(c) != 0 ? c : '_';
      return name;
    });

TEST_F(FaultInformerTest, ALostEventIsCorrectedByTheNextEventOfTheObject) {
  Start();
  ExpectEventuallyInSync();
  Inject("lost-event,times=1");
  SetValue("a", "2");
  Create("c");

  SetValue("a", "3");

  ExpectEventuallyInSync();
}

class AuditedInformerTest : public FaultInformerTest {
 protected:
  AuditedInformerTest() : FaultInformerTest(/*use_watch_list=*/false, /*audit_interval=*/10min) {}
};

TEST_F(AuditedInformerTest, LostEventsAreCorrectedByAnAudit) {
  Start();
  ExpectEventuallyInSync();
  Inject("lost-event,times=3");

  SetValue("a", "2");
  client_.Delete<ConfigMap>({"default", "b"});
  Create("c");

  ExpectEventuallyInSync();
}

TEST_F(FaultInformerTest, CacheIsEventuallyInSyncAfterAServerRestart) {
  Start();
  ExpectEventuallyInSync();

  Create("c");
  server_.Restart(10s);
  clock_.AwaitSleepers(1);
  clock_.Advance(10s);
  SetValue("c", "1");

  ExpectEventuallyInSync();
}

TEST_F(FaultInformerTest, CacheIsEventuallyInSyncAfterCompactionDuringADisconnect) {
  Start();
  ExpectEventuallyInSync();
  Inject("drop-watch,times=1");
  Inject("refuse,times=2");
  Create("c");
  client_.Delete<ConfigMap>({"default", "b"});

  server_.Compact();

  ExpectEventuallyInSync();
}

}  // namespace
}  // namespace kopp
