#include "client/write_listener.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Verb = ClientWrite::Verb;

constexpr const char* kListenedPods = "/api/v1/namespaces/shop/pods";
constexpr const char* kListenedPod = "/api/v1/namespaces/shop/pods/web";

/// An entry of metadata.managedFields.
json EntryOf(const std::string& manager, const std::string& operation, int second,
             const std::string& subresource = "") {
  json entry{{"manager", manager},
             {"operation", operation},
             {"time", "2026-11-29T14:00:0" + std::to_string(second) + "Z"}};
  if (!subresource.empty()) entry["subresource"] = subresource;
  return entry;
}

/// A Pod in version 7.
std::string ManagedPod(const json& managed_fields, json metadata = json::object()) {
  metadata.update({{"name", "web"},
                   {"namespace", "shop"},
                   {"uid", "u1"},
                   {"resourceVersion", "7"},
                   {"managedFields", managed_fields}});
  return json{{"kind", "Pod"}, {"apiVersion", "v1"}, {"metadata", metadata}}.dump();
}

/// Records the writes of a client to a scripted API server.
class WriteListenerTest : public ::testing::Test {
 protected:
  struct Listener final : WriteListener {
    std::uint64_t OnWriteStarted(ClientWrite&& write) override {
      log.push_back("start " + write.key.ToString());
      writes.push_back(std::move(write));
      return writes.size();
    }
    void OnWriteEnded(std::uint64_t id, bool created, std::string_view response) override {
      log.push_back("end " + std::to_string(id) + (created ? " created" : "") +
                    (response.empty() ? " failed" : ""));
      last_changes.clear();
      for (const ObjectChange& change : ProvenChanges(writes.at(id - 1), created, response)) {
        last_changes.push_back(TypeName(change.type) + " " + change.uid + " " +
                               change.resource_version);
      }
    }
    static std::string TypeName(ObjectChange::Type type) {
      const std::vector<std::string> names{"created", "updated", "status", "deletion", "removed"};
      return names.at(static_cast<std::size_t>(type));
    }

    std::vector<std::string> log;
    std::vector<ClientWrite> writes;
    std::vector<std::string> last_changes;
  };

  static json Body(const std::string& name = "web") {
    return {{"metadata", {{"name", name}, {"namespace", "shop"}}}};
  }
  /// Returns the changes of a patch that the API server answers with `response`.
  std::vector<std::string> ChangesOfPatch(const std::string& response,
                                          const std::string& subresource = "") {
    const std::string path =
        std::string(kListenedPod) + (subresource.empty() ? "" : "/" + subresource);
    transport_.Respond("PATCH", path, 200, response);
    client_.Patch<Pod>({"shop", "web"}, Patch::Merge(json::object()), {.subresource = subresource});
    return listener_->last_changes;
  }

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  std::shared_ptr<Listener> listener_ = std::make_shared<Listener>();
  Client client_ = WithWriteListener(Client(transport_, "me"), listener_);
};

TEST_F(WriteListenerTest, EachTypeOfWriteIsKnownFromBeforeItIsSentUntilItsResponse) {
  const std::string pod = ManagedPod(json::array());
  const auto respond = [&](int status) {
    return [this, pod, status](const ApiRequest&) {
      listener_->log.emplace_back("sent");
      return ApiResponse{.status = status, .body = pod};
    };
  };
  for (const char* const method : {"PUT", "PATCH", "DELETE"}) {
    transport_.On(method, kListenedPod, respond(200));
  }
  transport_.On("POST", kListenedPods, respond(201));

  client_.Create<Pod>(Body());
  client_.Update<Pod>(Body());
  client_.Patch<Pod>({"shop", "web"}, Patch::Merge({}));
  client_.Apply<Pod>(Body(), {.field_manager = "other"});
  client_.Delete<Pod>({"shop", "web"});

  EXPECT_THAT(listener_->log,
              ElementsAre("start shop/web", "sent", "end 1 created", "start shop/web", "sent",
                          "end 2", "start shop/web", "sent", "end 3", "start shop/web", "sent",
                          "end 4", "start shop/web", "sent", "end 5"));
  std::vector<std::pair<Verb, std::string>> writes;
  for (const ClientWrite& write : listener_->writes) {
    EXPECT_EQ(write.kind.plural, "pods");
    writes.emplace_back(write.verb, write.field_manager);
  }
  EXPECT_THAT(writes, ElementsAre(std::pair(Verb::kUpdate, "me"), std::pair(Verb::kUpdate, "me"),
                                  std::pair(Verb::kUpdate, "me"), std::pair(Verb::kApply, "other"),
                                  std::pair(Verb::kDelete, "")));
}

TEST_F(WriteListenerTest, AWriteWithoutAResponseEndsAsFailed) {
  transport_.Respond("PUT", kListenedPod, 409, R"({"reason":"Conflict"})");
  transport_.On("PATCH", kListenedPod, [](const ApiRequest&) -> ApiResponse {
    throw TransportError(TransportError::Kind::kBroken, "reset");
  });

  EXPECT_THROW(client_.Update<Pod>(Body()), ApiError);
  EXPECT_THROW(client_.Apply<Pod>(Body()), TransportError);
  EXPECT_FALSE(client_.Delete<Pod>({"shop", "web"}));

  EXPECT_THAT(listener_->log, ElementsAre("start shop/web", "end 1 failed", "start shop/web",
                                          "end 2 failed", "start shop/web", "end 3 failed"));
}

TEST_F(WriteListenerTest, DryRunsAndReadsAreNoWrites) {
  transport_.Respond("GET", kListenedPod, 200, ManagedPod(json::array()));
  transport_.Respond("PUT", kListenedPod, 200, ManagedPod(json::array()));

  EXPECT_TRUE(client_.Get<Pod>({"shop", "web"}));
  client_.Update<Pod>(Body(), {.dry_run = true});
  client_.WithDryRun().Update<Pod>(Body());

  EXPECT_THAT(listener_->log, IsEmpty());
}

TEST_F(WriteListenerTest, TheNameOfAnObjectThatTheServerChoosesIsEmpty) {
  transport_.Respond("POST", kListenedPods, 201, ManagedPod(json::array()));
  client_.Create<Pod>({{"metadata", {{"generateName", "web-"}, {"namespace", "shop"}}}});
  EXPECT_EQ(listener_->writes.at(0).key, (ObjectKey{"shop", ""}));
  EXPECT_THAT(listener_->last_changes, ElementsAre("created u1 7"));
}

TEST_F(WriteListenerTest, AnUpdateIsProvenIfNoOtherManagerHasWrittenLater) {
  const json mine = EntryOf("me", "Update", 2);
  EXPECT_THAT(ChangesOfPatch(ManagedPod(json::array({EntryOf("other", "Update", 1), mine}))),
              ElementsAre("updated u1 7"));
  EXPECT_THAT(ChangesOfPatch(ManagedPod(json::array({mine, EntryOf("other", "Update", 2)}))),
              ElementsAre("updated u1 7"))
      << "times are in seconds";
  EXPECT_THAT(ChangesOfPatch(ManagedPod(json::array({mine, EntryOf("other", "Update", 3)}))),
              IsEmpty())
      << "the patch has changed nothing, and version 7 is that of another client";
  EXPECT_THAT(ChangesOfPatch(ManagedPod(json::array({mine, EntryOf("me", "Update", 3, "status")}))),
              IsEmpty())
      << "another subresource";
  EXPECT_THAT(ChangesOfPatch(ManagedPod(json::array({EntryOf("me", "Apply", 2)}))), IsEmpty())
      << "another operation";
  EXPECT_THAT(ChangesOfPatch(ManagedPod(json::array({EntryOf("other", "Update", 1)}))), IsEmpty());
  EXPECT_THAT(ChangesOfPatch(ManagedPod(json::array())), IsEmpty());
}

TEST_F(WriteListenerTest, AnUpdateWithAVersionIsProvenIfItReturnsAnotherOne) {
  transport_.Respond("PUT", kListenedPod, 200, ManagedPod(json::array()));
  json body = Body();
  const auto changes_of_version = [&](const std::string& version) {
    body["metadata"]["resourceVersion"] = version;
    client_.Update<Pod>(body);
    return listener_->last_changes;
  };
  EXPECT_THAT(changes_of_version("6"), ElementsAre("updated u1 7"));
  EXPECT_THAT(changes_of_version("7"), IsEmpty()) << "it has changed nothing";
  EXPECT_THAT(changes_of_version("0"), IsEmpty()) << "any version";
  EXPECT_THAT(changes_of_version(""), IsEmpty());
}

TEST_F(WriteListenerTest, TheVersionInTheBodyOfEachTypeOfWriteIsItsPrecondition) {
  transport_.Respond("PUT", kListenedPod, 200, ManagedPod(json::array()));
  transport_.Respond("PATCH", kListenedPod, 200, ManagedPod(json::array()));
  json body = Body();
  body["metadata"]["resourceVersion"] = "6";
  const Pod pod{.metadata = {.name = "web", .ns = "shop", .resourceVersion = "6"}};

  client_.Update<Pod>(body);
  client_.Replace(pod);
  client_.Apply<Pod>(body);
  client_.Apply(pod);
  client_.Patch<Pod>({"shop", "web"}, Patch::Merge({{"metadata", {{"resourceVersion", "6"}}}}));

  ASSERT_EQ(listener_->writes.size(), 5);
  for (const ClientWrite& write : listener_->writes) EXPECT_EQ(write.precondition, "6");
}

TEST_F(WriteListenerTest, AnUpdateOfTheStatusIsProvenByTheEntryOfTheSubresource) {
  EXPECT_THAT(
      ChangesOfPatch(ManagedPod(json::array({EntryOf("me", "Update", 2, "status")})), "status"),
      ElementsAre("status u1 7"));
  EXPECT_THAT(ChangesOfPatch(ManagedPod(json::array({EntryOf("me", "Update", 2)})), "status"),
              IsEmpty());
  EXPECT_THAT(
      ChangesOfPatch(ManagedPod(json::array({EntryOf("me", "Update", 2)})), "ephemeralcontainers"),
      IsEmpty())
      << "what other subresources change is not known";
}

TEST_F(WriteListenerTest, ADeletionIsRemovedOrOnlyRequestedIfTheObjectHasFinalizers) {
  const json marked{{"deletionTimestamp", "2026-11-29T14:00:00Z"}, {"finalizers", {"a.b/c"}}};
  transport_.Respond("DELETE", kListenedPod, 200, ManagedPod(json::array(), marked));
  client_.Delete<Pod>({"shop", "web"});
  EXPECT_THAT(listener_->last_changes, ElementsAre("deletion u1 "));

  transport_.Respond("DELETE", kListenedPod, 200,
                     R"({"kind":"Status","details":{"name":"web","uid":"u1"}})");
  client_.Delete<Pod>({"shop", "web"});
  EXPECT_THAT(listener_->last_changes, ElementsAre("removed u1 "));

  json last_finalizer = marked;
  last_finalizer.erase("finalizers");
  EXPECT_THAT(ChangesOfPatch(ManagedPod(json::array(), last_finalizer)),
              ElementsAre("removed u1 "));
}

TEST_F(WriteListenerTest, EachObjectOfADeletedCollectionChanges) {
  transport_.Respond("DELETE", kListenedPods, 200,
                     R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)" +
                         ManagedPod(json::array()) + "]}");
  client_.DeleteAllOf<Pod>({.ns = "shop"});
  EXPECT_THAT(listener_->last_changes, ElementsAre("deletion u1 "));
}

TEST_F(WriteListenerTest, AResponseThatCannotBeDecodedProvesNothing) {
  EXPECT_THAT(ProvenChanges({.kind = Pod::kKind}, true, R"({"metadata":7})"), IsEmpty());
  EXPECT_THAT(ProvenChanges({.kind = Pod::kKind}, true, "no JSON"), IsEmpty());
}

}  // namespace
}  // namespace kopp
