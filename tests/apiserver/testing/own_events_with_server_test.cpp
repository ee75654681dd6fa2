// Tests which events shorten the delay of a key that fails, against an API server.
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/controller/with_finalizer.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/informer/predicates.hpp>
#include <kopp/kinds.hpp>
#include <kopp/owner.hpp>
#include <kopp/testing/environment.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::StartsWith;

struct Disk {
  static constexpr Kind kKind{"example.com/v1", "Disk", "disks"};
  struct Spec {
    std::string region = {};
  };
  struct Status {
    std::string message = {};
    std::string usage = {};
  };
  ObjectMeta metadata = {};
  Spec spec = {};
  Status status = {};
};
KOPP_FIELDS(Disk::Spec, region)
KOPP_FIELDS(Disk::Status, message, usage)
KOPP_FIELDS(Disk, metadata, spec, status)

json DiskCrd() {
  const json text{{"type", "string"}};
  const json schema{
      {"type", "object"},
      {"properties",
       {{"spec", {{"type", "object"}, {"properties", {{"region", text}}}}},
        {"status", {{"type", "object"}, {"properties", {{"message", text}, {"usage", text}}}}}}}};
  const json version{{"name", "v1"},
                     {"served", true},
                     {"storage", true},
                     {"subresources", {{"status", json::object()}}},
                     {"schema", {{"openAPIV3Schema", schema}}}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "disks.example.com"}}},
          {"spec",
           {{"group", "example.com"},
            {"names", {{"kind", "Disk"}, {"plural", "disks"}}},
            {"scope", "Namespaced"},
            {"versions", json::array({version})}}}};
}

/// A controller of Disks whose delays after failures are hours: what reconciles the Disk again is
/// an event. Each reconcile writes, then fails. The tests see the reasons of each reconcile.
class OwnEventsServerTest : public ::testing::Test {
 protected:
  using Act = std::function<void(const Disk& disk, Context& context, std::size_t call)>;

  OwnEventsServerTest() {
    env_.InstallObject(DiskCrd());
    env_.client().Create<Disk>(
        {{"metadata", {{"name", "a"}, {"namespace", "default"}}}, {"spec", {{"region", "north"}}}});
  }

  /// Starts a controller whose reconcile calls `act` and then throws.
  void Start(Act act, ControllerOptions options = {}) {
    StartController(
        [act = std::move(act)](const Disk& disk, Context& context, std::size_t call) -> Result {
          act(disk, context, call);
          throw std::runtime_error("request id " + std::to_string(call));
        },
        std::move(options));
  }
  template <typename F>
  void StartController(F reconcile, ControllerOptions options) {
    options.limiter = std::make_unique<workqueue::ItemExponentialFailureRateLimiter<ObjectKey>>(
        1h, 1h, Clock::Real());
    options.reasons = true;
    env_.manager()
        .AddController<Disk>(std::move(options))
        .Where(Predicate<Disk>{.on_update =
                                   [this](const Disk&, const Disk&) {
                                     watch_is_late_.wait(true);
                                     return true;
                                   }})
        .Owns<ConfigMap>()
        .Reconcile([this, reconcile](const Disk& disk, Context& context) -> Result {
          return reconcile(disk, context, Record(context.reasons.ToString()));
        });
    env_.Start();
  }
  std::size_t Record(const std::string& reasons) {
    const std::lock_guard guard{mutex_};
    reasons_.push_back(reasons);
    return reasons_.size();
  }
  /// Blocks until there were `count` reconciles. Returns the reasons of all of them.
  std::vector<std::string> AwaitReconciles(std::size_t count) {
    const auto reasons = [this] {
      const std::lock_guard guard{mutex_};
      return reasons_;
    };
    EXPECT_TRUE(env_.Eventually([&] { return reasons().size() >= count; }));
    return reasons();
  }
  /// Blocks until `count` reconciles and their hooks have ended.
  void AwaitFailures(std::size_t count) {
    AwaitReconciles(count);
    EXPECT_TRUE(env_.Eventually([&] { return failures_.load() >= count; }));
  }
  /// Options that count failures after `on_error`.
  ControllerOptions Counting(const ErrorHook& on_error = nullptr) {
    return {.on_error = [this, on_error](const ReconcileError& error, Context& context) {
      if (on_error) on_error(error, context);
      ++failures_;
    }};
  }
  static void WriteStatus(const Client& client, const Disk& disk, const std::string& message) {
    client.ApplyStatus(disk, Disk::Status{.message = message});
  }
  /// Lets a user write a label of the Disk. Returns the reason that it gives.
  std::string Label(const std::string& value) {
    return Change({{"metadata", {{"labels", {{"user", value}}}}}});
  }
  /// Lets a user patch the Disk. Returns the reason that it gives.
  std::string Change(const json& patch, const WriteOptions& options = {}) {
    const auto before = user_.Get<Disk>(key_);
    const auto after = user_.Patch<Disk>(key_, Patch::Merge(patch), options);
    return "Disk default/a updated (" + before->metadata.resourceVersion + " -> " +
           after.metadata.resourceVersion + ")";
  }

  static ConfigMap ChildOf(const Disk& disk, const std::string& data) {
    return {.metadata = OwnedBy(disk, "child"), .data = {{"data", data}}};
  }

  const ObjectKey key_{"default", "a"};
  std::atomic<bool> watch_is_late_ = false;  // updates of Disks wait
  std::mutex mutex_;
  std::vector<std::string> reasons_;
  std::atomic<std::size_t> failures_{0};
  testing::Environment env_;  // its reconciles use all members above
  const Client user_ = env_.client();
};

TEST_F(OwnEventsServerTest, AStatusWrittenByOnErrorDoesNotReconcileButAUsersChangeDoes) {
  Start([](const Disk&, Context&, std::size_t) {},
        Counting([](const ReconcileError& error, Context& context) {
          WriteStatus(context.client, *context.cache.Get<Disk>(context.key), error.message);
        }));
  for (std::size_t call = 1; call <= 3; ++call) {
    AwaitFailures(call);
    const std::string reason = Label(std::to_string(call));
    EXPECT_EQ(AwaitReconciles(call + 1).at(call), reason) << "an own write would be a reason, too";
  }
}

TEST_F(OwnEventsServerTest, AfterATerminalErrorAnOwnStatusReconcilesNothingAndAUserDoes) {
  StartController(
      [](const Disk&, Context&, std::size_t) -> Result { throw TerminalError("invalid"); },
      Counting([](const ReconcileError& error, Context& context) {
        WriteStatus(context.client, *context.cache.Get<Disk>(context.key), error.message);
      }));
  AwaitFailures(1);
  const std::string reason = Label("x");

  EXPECT_EQ(AwaitReconciles(2).at(1), reason);
}

TEST_F(OwnEventsServerTest, OwnWritesOfAStatusByEachVerbReconcileNothing) {
  Start(
      [this](const Disk& disk, Context& context, std::size_t call) {
        const std::string text = std::to_string(call);
        WriteStatus(context.client, disk, "applied " + text);
        context.client.PatchStatus<Disk>(key_, Patch::Merge({{"status", {{"usage", text}}}}));
        json object = context.client.Dynamic(Disk::kKind).Get(key_).value().Json();
        object["status"]["usage"] = "updated " + text;
        context.client.UpdateStatus<Disk>(object);
        Client copy = context.client;
        std::async(std::launch::async, [copy, disk, text] {
          WriteStatus(copy, disk, "thread " + text);
        }).get();
      },
      Counting());
  for (std::size_t call = 1; call <= 2; ++call) {
    AwaitFailures(call);
    const std::string reason = Label(std::to_string(call));
    EXPECT_EQ(AwaitReconciles(call + 1).at(call), reason);
  }
}

TEST_F(OwnEventsServerTest, AFinalizerThatAReconcileAddsReconcilesNothing) {
  const auto reconcile = WithFinalizer<Disk>(
      "example.com/disk",
      [](const Disk&, Context&) -> Result { throw std::runtime_error("not ready"); },
      [](const Disk&, Context&) {});
  StartController([reconcile](const Disk& disk, Context& context,
                              std::size_t) { return reconcile(disk, context); },
                  Counting());
  AwaitFailures(1);
  const std::string reason = Label("x");

  EXPECT_EQ(AwaitReconciles(2).at(1), reason);
}

TEST_F(OwnEventsServerTest, AnOwnWriteOfAChildReconcilesNothingAndThatOfAUserDoes) {
  Start([](const Disk& disk, Context& context,
           std::size_t call) { context.client.Apply(ChildOf(disk, std::to_string(call))); },
        Counting());
  for (std::size_t call = 1; call <= 2; ++call) {
    AwaitFailures(call);
    env_.client().Patch<ConfigMap>({"default", "child"},
                                   Patch::Merge({{"data", {{"user", std::to_string(call)}}}}));
    EXPECT_THAT(AwaitReconciles(call + 1).at(call), StartsWith("ConfigMap default/child updated ("))
        << "without the own creation, and only once";
  }
}

TEST_F(OwnEventsServerTest, AChildThatIsDeletedAndCreatedAgainInEachReconcileReconcilesNothing) {
  Start(
      [](const Disk& disk, Context& context, std::size_t) {
        context.client.Delete<ConfigMap>({"default", "child"});
        context.client.Create(ChildOf(disk, "x"));
      },
      Counting());
  for (std::size_t call = 1; call <= 2; ++call) {
    AwaitFailures(call);
    const std::string reason = Label(std::to_string(call));
    EXPECT_EQ(AwaitReconciles(call + 1).at(call), reason);
  }
  AwaitFailures(3);
  env_.client().Delete<ConfigMap>({"default", "child"});
  EXPECT_EQ(AwaitReconciles(4).at(3), "ConfigMap default/child deleted");
}

// The response to a write that changes nothing has the version of the user.
TEST_F(OwnEventsServerTest, AUsersChangeReconcilesAlsoIfAnOwnWriteWithoutEffectReturnsItsVersion) {
  const std::vector<std::function<void(const Disk& disk, Context& context)>> writes{
      [](const Disk& disk, Context& context) { WriteStatus(context.client, disk, "constant"); },
      [this](const Disk&, Context& context) {
        context.client.Patch<Disk>(key_, Patch::Merge(json::object()));
      },
      [this](const Disk&, Context& context) {
        context.client.PatchStatus<Disk>(key_, Patch::Merge(json::object()));
      }};
  std::atomic<std::size_t> write = 0;
  std::string changed;  // the reason of the user's last change during a reconcile
  Start(
      [&](const Disk& disk, Context& context, std::size_t call) {
        if (call % 2 == 0) {  // the user writes while the Disk is reconciled
          watch_is_late_ = true;
          const std::string value = std::to_string(call);
          switch (call / 2 % 3) {
            case 0:
              changed = Label(value);
              break;
            case 1:
              changed = Change({{"spec", {{"region", value}}}});
              break;
            default:
              changed = Change({{"status", {{"usage", value}}}}, {.subresource = "status"});
          }
        }
        writes.at(write)(disk, context);
        watch_is_late_ = false;  // the event of the user arrives after the response
        watch_is_late_.notify_all();
      },
      Counting());
  std::size_t reconciles = 1;
  for (; write < writes.size(); ++write) {
    for (int users = 0; users < 3 && !HasFailure(); ++users) {
      AwaitFailures(reconciles);
      Label("next-" + std::to_string(reconciles));
      const std::string reason = AwaitReconciles(reconciles + 2).at(reconciles + 1);
      EXPECT_EQ(reason, changed);  // of the change during the reconcile before
      reconciles += 2;
    }
  }
  env_.Stop();
}

TEST_F(OwnEventsServerTest, AWriteWhoseResponseIsLostCountsAsForeign) {
  env_.server().Inject(
      {.type = testing::Fault::Type::kReset, .verb = "patch", .resource = "disks", .times = 1});
  Start([](const Disk& disk, Context& context,
           std::size_t) { WriteStatus(context.client, disk, "x"); },
        Counting());

  EXPECT_THAT(AwaitReconciles(2).at(1), StartsWith("Disk default/a updated ("));
}

}  // namespace
}  // namespace kopp
