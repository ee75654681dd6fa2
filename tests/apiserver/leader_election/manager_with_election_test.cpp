// Tests of whole programs that elect a leader on one API server.
#include "base/timestamp.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/leader_election/write_fence.hpp>
#include <kopp/manager.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using OnLost = LeaderElectionOptions::OnLost;

constexpr Kind kLeases{"coordination.k8s.io/v1", "Lease", "leases"};
constexpr Kind kEvents{"v1", "Event", "events"};

void BlockUntilStop(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any cv;
  std::unique_lock lock{mutex};
  cv.wait(lock, stop, [] { return false; });
}

/// A program with a controller of ConfigMaps, and its log.
class ElectedProgram {
 public:
  using Work = std::function<void(const ConfigMap&, Context&)>;

  ElectedProgram(testing::ApiServer& server, Clock& clock, const std::string& identity,
                 OnLost on_lost = OnLost::kExit, Work work = {})
      : manager_(OptionsOf(server, clock, identity, on_lost)) {
    manager_.AddController<ConfigMap>().Reconcile(
        [this, work = std::move(work)](const ConfigMap& map, Context& context) -> Result {
          reconciled_.Lock()->insert(map.metadata.name);
          if (work) work(map, context);
          return {};
        });
  }

  void Start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { code_ = manager_.Run(stop); });
  }
  /// Stops the program, and returns its exit code.
  int Stop() {
    thread_.request_stop();
    thread_.join();
    return code_;
  }
  [[nodiscard]] bool HasReconciled(const std::string& name) {
    return reconciled_.Lock()->contains(name);
  }
  [[nodiscard]] bool HasEnded() const { return code_ != -1; }
  [[nodiscard]] std::string Log() { return *log_.Lock(); }
  [[nodiscard]] Manager& manager() { return manager_; }

 private:
  Options OptionsOf(testing::ApiServer& server, Clock& clock, const std::string& identity,
                    OnLost on_lost) {
    Options options{.name = "web",
                    .watch_namespace = "default",
                    .log = Logger({.write = [this](auto line) { *log_.Lock() += line; }}),
                    .transport = {std::shared_ptr<void>(), &server.transport()},
                    .clock = clock};
    options.leader_election = {
        .enabled = true, .ns = "default", .identity = identity, .on_lost = on_lost};
    return options;
  }

  detail::Guarded<std::string> log_;
  detail::Guarded<std::set<std::string>> reconciled_;
  std::atomic<int> code_ = -1;
  Manager manager_;
  std::jthread thread_;
};

class ManagerWithElectionTest : public ::testing::Test {
 protected:
  void CreateMap(const std::string& name) {
    client_.Create<ConfigMap>({{"metadata", {{"name", name}, {"namespace", "default"}}}});
  }
  void SetHolder(const std::string& identity) {
    client_.Dynamic(kLeases).Patch({"default", "web"},
                                   Patch::Merge({{"spec", {{"holderIdentity", identity}}}}));
  }
  static void Await(const std::function<bool()>& condition) {
    while (!condition()) std::this_thread::yield();
  }
  /// Returns whether a program holds the lease and has to renew it before more time passes. The
  /// renew deadline is 10 s, a failed request for the Lease is repeated after at most 8.4 s.
  bool IsRenewalDue() {
    const auto lease = client_.Dynamic(kLeases).Get({"default", "web"});
    if (!lease) return false;
    const json spec = lease->At("/spec");
    const std::string holder = spec.value("holderIdentity", "");
    return (holder == "a" || holder == "b") &&
           spec.value("renewTime", "") < detail::FormatMicroTime(clock_.WallNow() - 9s);
  }
  /// Lets time pass until `condition` is true. A leader loses its lease only to another holder: the
  /// time stops until it has renewed the lease.
  void AdvanceUntil(const std::function<bool()>& condition) {
    while (!condition()) {
      if (!IsRenewalDue()) clock_.Advance(100ms);
      const TimePoint next_step = Clock::Real().Now() + 20ms;
      while (!condition() && Clock::Real().Now() < next_step) std::this_thread::yield();
    }
  }
  std::vector<json> EventsWithReason(const std::string& reason) {
    std::vector<json> events;
    for (const Unstructured& event : client_.Dynamic(kEvents).List(
             {.ns = "default", .fields = FieldSelector("reason=" + reason)})) {
      events.push_back(event.Json());
    }
    return events;
  }
  static bool HasLost(ElectedProgram& program) {
    return program.Log().find("Leader election lost") != std::string::npos;
  }

  testing::FakeClock clock_;
  testing::ApiServer server_;
  Client client_{server_.transport()};
};

TEST_F(ManagerWithElectionTest, OnlyTheLeaderReconcilesAndAnotherTakesOverAfterItsStop) {
  ElectedProgram a(server_, clock_, "a");
  ElectedProgram b(server_, clock_, "b");
  CreateMap("one");
  a.Start();
  Await([&] { return a.HasReconciled("one"); });
  EXPECT_TRUE(a.manager().Elected().stop_requested());
  b.Start();
  Await([&] { return b.Log().find("Attempting to acquire leader lease") != std::string::npos; });
  EXPECT_TRUE(b.manager().cache().Get<ConfigMap>({"default", "one"})) << "a cold cache";

  EXPECT_FALSE(b.manager().Elected().stop_requested());
  EXPECT_FALSE(b.HasReconciled("one"));
  EXPECT_EQ(a.Stop(), 0);

  AdvanceUntil([&] { return b.HasReconciled("one"); });
  EXPECT_EQ(b.Stop(), 0);
}

TEST_F(ManagerWithElectionTest, ALostLeaseEndsTheProgramWithCode1) {
  ElectedProgram a(server_, clock_, "a");
  CreateMap("one");
  a.Start();
  Await([&] { return a.HasReconciled("one"); });

  SetHolder("thief");

  AdvanceUntil([&] { return HasLost(a); });
  Await([&] { return a.HasEnded(); });
  EXPECT_EQ(a.Stop(), 1);
  EXPECT_THAT(a.Log(), HasSubstr("leader election lost"));
}

TEST_F(ManagerWithElectionTest, AProgramThatCampaignsAgainReconcilesWhatItMissed) {
  ElectedProgram a(server_, clock_, "a", OnLost::kCampaign);
  CreateMap("one");
  a.Start();
  Await([&] { return a.HasReconciled("one"); });
  SetHolder("thief");
  AdvanceUntil([&] { return a.Log().find("campaigning again") != std::string::npos; });
  CreateMap("two");
  Await([&] { return a.manager().cache().Get<ConfigMap>({"default", "two"}) != nullptr; });
  EXPECT_FALSE(a.HasReconciled("two"));

  client_.Dynamic(kLeases).Delete({"default", "web"});

  AdvanceUntil([&] { return a.HasReconciled("two"); });
  EXPECT_EQ(a.Stop(), 0);
}

TEST_F(ManagerWithElectionTest, AReconcileOfTheSecondTermRecordsEvents) {
  ElectedProgram a(server_, clock_, "a", OnLost::kCampaign,
                   [](const ConfigMap& map, Context& context) {
                     context.events.Normal(map, "Synced", "of " + map.metadata.name);
                   });
  CreateMap("one");
  a.Start();
  Await([&] { return EventsWithReason("Synced").size() == 1; });
  SetHolder("thief");
  AdvanceUntil([&] { return a.Log().find("campaigning again") != std::string::npos; });
  CreateMap("two");

  client_.Dynamic(kLeases).Delete({"default", "web"});

  AdvanceUntil([&] { return EventsWithReason("Synced").size() >= 2; });
  EXPECT_EQ(a.Stop(), 0);
}

TEST_F(ManagerWithElectionTest, AReconcileThatHasLostTheLeaseCannotWrite) {
  std::atomic<bool> refused = false;
  ElectedProgram a(server_, clock_, "a", OnLost::kExit, [&](const ConfigMap&, Context& context) {
    BlockUntilStop(context.stop);
    try {
      context.client.Create<ConfigMap>(
          {{"metadata", {{"name", "late"}, {"namespace", "default"}}}});
    } catch (const NotLeaderError&) {
      refused = true;
    }
  });
  CreateMap("one");
  a.Start();
  Await([&] { return a.HasReconciled("one"); });

  SetHolder("thief");

  AdvanceUntil([&] { return HasLost(a); });
  Await([&] { return a.HasEnded(); });
  EXPECT_TRUE(refused);
  EXPECT_FALSE(client_.Get<ConfigMap>({"default", "late"}));
}

TEST_F(ManagerWithElectionTest, AnEventOfAReconcileThatHasLostTheLeaseIsNotWritten) {
  CreateMap("one");
  for (const OnLost on_lost : {OnLost::kExit, OnLost::kCampaign}) {
    SCOPED_TRACE(static_cast<int>(on_lost));
    const bool exits = on_lost == OnLost::kExit;
    const std::size_t events = EventsWithReason("LeaderElection").size();
    ElectedProgram a(server_, clock_, "a", on_lost, [&](const ConfigMap& map, Context& context) {
      BlockUntilStop(context.stop);
      context.events.Normal(map, "TooLate", "recorded after the lease was lost");
    });
    a.Start();
    Await([&] { return a.HasReconciled("one"); });

    SetHolder("thief");

    AdvanceUntil([&] { return HasLost(a); });
    const char* const last_line = exits ? "leader election lost" : "campaigning again";
    Await([&] { return a.Log().find(last_line) != std::string::npos; });
    EXPECT_EQ(a.Stop(), exits ? 1 : 0);
    EXPECT_THAT(EventsWithReason("TooLate"), IsEmpty());
    EXPECT_GT(EventsWithReason("LeaderElection").size(), events) << "not of a reconcile";
    client_.Dynamic(kLeases).Delete({"default", "web"});
  }
}

TEST_F(ManagerWithElectionTest, TheLossOfTheLeaseIsNoErrorLineIfTheProgramCampaignsAgain) {
  ElectedProgram a(server_, clock_, "a", OnLost::kCampaign, [](const ConfigMap& map, Context& ctx) {
    BlockUntilStop(ctx.stop);
    ctx.events.Normal(map, "TooLate", "recorded after the lease was lost");
    ctx.client.Create<ConfigMap>({{"metadata", {{"name", "late"}, {"namespace", "default"}}}});
  });
  CreateMap("one");
  a.Start();
  Await([&] { return a.HasReconciled("one"); });

  SetHolder("thief");

  AdvanceUntil([&] { return a.Log().find("campaigning again") != std::string::npos; });
  EXPECT_EQ(a.Stop(), 0);
  // The renewal may time out, because the clock runs.
  const std::regex renewal("E[^\n]*Failed to acquire or renew lease[^\n]*\n");
  EXPECT_THAT(std::regex_replace(a.Log(), renewal, ""), Not(ContainsRegex("(^|\n)E[0-9]")));
}

TEST_F(ManagerWithElectionTest, TheLastEventsOfTheLeaderAreWrittenBeforeTheLeaseIsReleased) {
  ElectedProgram a(server_, clock_, "a", OnLost::kExit, [](const ConfigMap& map, Context& context) {
    BlockUntilStop(context.stop);
    context.events.Normal(map, "Last", "recorded after the stop");
  });
  CreateMap("one");
  a.Start();
  Await([&] { return a.HasReconciled("one"); });

  EXPECT_EQ(a.Stop(), 0);

  const auto version = [](const json& object) {
    return std::stoull(object.at("metadata").at("resourceVersion").get<std::string>());
  };
  const json last = EventsWithReason("Last").at(0);
  EXPECT_LT(version(last),
            version(client_.Dynamic(kLeases).Get({"default", "web"}).value().Json()));
}

TEST_F(ManagerWithElectionTest, TheLeaderClientWritesOnlyInTheLeader) {
  ElectedProgram a(server_, clock_, "a");
  ElectedProgram b(server_, clock_, "b");
  CreateMap("one");
  a.Start();
  Await([&] { return a.HasReconciled("one"); });
  b.Start();
  Await([&] { return b.Log().find("Attempting to acquire leader lease") != std::string::npos; });
  const auto create = [](const Client& client, const std::string& name) {
    client.Create<ConfigMap>({{"metadata", {{"name", name}, {"namespace", "default"}}}});
  };

  EXPECT_THROW(create(b.manager().leader_client(), "by-standby"), NotLeaderError);
  EXPECT_TRUE(b.manager().leader_client().Get<ConfigMap>({"default", "one"}));
  create(b.manager().client(), "by-client");
  create(a.manager().leader_client(), "by-leader");

  EXPECT_FALSE(client_.Get<ConfigMap>({"default", "by-standby"}));
  EXPECT_TRUE(client_.Get<ConfigMap>({"default", "by-client"}));
  EXPECT_TRUE(client_.Get<ConfigMap>({"default", "by-leader"}));
  EXPECT_EQ(b.Stop(), 0);
  EXPECT_EQ(a.Stop(), 0);
}

TEST_F(ManagerWithElectionTest, AProgramThatStopsReleasesItsLeaseAfterTheWorkersAndBeforeTheRest) {
  using enum RunnableGroup;
  detail::Guarded<std::vector<std::string>> ended;
  const auto end = [&](const std::string& name) {
    const auto lease = client_.Dynamic(kLeases).Get({"default", "web"});
    const bool held = lease->At("/spec/holderIdentity") == "a";
    ended.Lock()->push_back(name + (held ? " with the lease" : " without"));
  };
  ElectedProgram a(server_, clock_, "a", OnLost::kExit, [&](const ConfigMap&, Context& context) {
    BlockUntilStop(context.stop);
    context.client.Create<ConfigMap>({{"metadata", {{"name", "last"}, {"namespace", "default"}}}});
    end("worker");
  });
  const auto runnable = [&](const std::string& name) {
    return [&, name](const std::stop_token& stop) {
      BlockUntilStop(stop);
      end(name);
    };
  };
  for (const auto& [name, group] : std::map<std::string, RunnableGroup>{
           {"servers", kServers}, {"caches", kCaches}, {"others", kOthers}}) {
    a.manager().Add({.name = name, .group = group}, runnable(name));
  }
  a.manager().Add({.name = "elected", .group = kLeaderElected}, [&](const std::stop_token& stop) {
    BlockUntilStop(stop);
    Await([&] { return !ended.Lock()->empty(); });  // the worker
    end("elected");
  });
  CreateMap("one");
  a.Start();
  Await([&] { return a.HasReconciled("one"); });

  EXPECT_EQ(a.Stop(), 0);

  EXPECT_THAT(*ended.Lock(), ElementsAre("worker with the lease", "elected with the lease",
                                         "others without", "caches without", "servers without"));
  EXPECT_TRUE(client_.Get<ConfigMap>({"default", "last"}));
}

/// Adds a controller that records the ConfigMaps that it has reconciled, while `program` runs.
void AddLaterController(ElectedProgram& program,
                        detail::Guarded<std::set<std::string>>& reconciled) {
  program.manager()
      .AddController<ConfigMap>({.name = "later"})
      .Reconcile([&](const ConfigMap& map, Context&) {
        reconciled.Lock()->insert(map.metadata.name);
        return Result{};
      });
}

TEST_F(ManagerWithElectionTest, AControllerThatIsAddedToAStandbyStartsWhenItLeads) {
  detail::Guarded<std::set<std::string>> reconciled;
  ElectedProgram a(server_, clock_, "a");
  ElectedProgram b(server_, clock_, "b");
  CreateMap("one");
  a.Start();
  Await([&] { return a.HasReconciled("one"); });
  b.Start();
  Await([&] { return b.Log().find("Attempting to acquire leader lease") != std::string::npos; });

  AddLaterController(b, reconciled);
  EXPECT_EQ(a.Stop(), 0);
  EXPECT_THAT(*reconciled.Lock(), IsEmpty());

  AdvanceUntil([&] { return reconciled.Lock()->contains("one"); });
  EXPECT_EQ(b.Stop(), 0);
}

TEST_F(ManagerWithElectionTest, AControllerThatWasAddedLaterRunsAgainInTheNextTermAsLeader) {
  detail::Guarded<std::set<std::string>> reconciled;
  ElectedProgram a(server_, clock_, "a", OnLost::kCampaign);
  CreateMap("one");
  a.Start();
  Await([&] { return a.HasReconciled("one"); });
  AddLaterController(a, reconciled);
  Await([&] { return reconciled.Lock()->contains("one"); });
  SetHolder("thief");
  AdvanceUntil([&] { return a.Log().find("campaigning again") != std::string::npos; });
  CreateMap("two");
  Await([&] { return a.manager().cache().Get<ConfigMap>({"default", "two"}) != nullptr; });
  EXPECT_FALSE(reconciled.Lock()->contains("two"));

  client_.Dynamic(kLeases).Delete({"default", "web"});

  AdvanceUntil([&] { return reconciled.Lock()->contains("two"); });
  EXPECT_EQ(a.Stop(), 0);
}

TEST_F(ManagerWithElectionTest, AnInvalidDurationIsOneLineAndCode1) {
  Options options{.name = "web", .transport = {std::shared_ptr<void>(), &server_.transport()}};
  std::string log;
  options.log = Logger({.write = [&](auto line) { log += line; }});
  options.leader_election = {.enabled = true, .ns = "default", .lease_duration = 1s};
  Manager manager(std::move(options));

  EXPECT_EQ(manager.Run({}), 1);
  EXPECT_THAT(log, HasSubstr("--leader-election-lease-duration"));
}

}  // namespace
}  // namespace kopp
