// Tests writes of objects that an owner controls, with an API server: no takeover of foreign
// objects.
#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/create_or_update.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/owner.hpp>
#include <kopp/testing/environment.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const ObjectKey parent_key{"default", "parent"};
const ObjectKey child_key{"default", "settings"};

Result ApplyChild(const Secret& secret, Context& context) {
  context.client.Apply(
      ConfigMap{.metadata = OwnedBy(secret, "settings"),
                .data = {{"color", secret.data.contains("red") ? "red" : "blue"}}});
  return {};
}

class OwnedWritesWithServerTest : public ::testing::Test {
 protected:
  Secret CreateParent() {
    return env_.client().Create(Secret{.metadata = {.name = "parent", .ns = "default"}});
  }
  ConfigMap CreateForeign(const StringMap& labels = {}) {
    return env_.client().Create(
        ConfigMap{.metadata = {.name = "settings", .ns = "default", .labels = labels},
                  .data = {{"color", "green"}, {"shape", "round"}}});
  }
  /// Returns ApplyChild, which is counted in applies_.
  std::function<Result(const Secret&, Context&)> CountedApply() {
    return [this](const Secret& secret, Context& context) {
      ++applies_;
      return ApplyChild(secret, context);
    };
  }
  void Start() {
    env_.manager().AddController<Secret>().Owns<ConfigMap>().Reconcile(CountedApply());
    env_.Start();
  }
  /// Makes the operator reconcile the parent, and waits until the child has the color red.
  void ChangeToRed() {
    env_.client().Patch<Secret>(parent_key, Patch::Merge({{"data", {{"red", ""}}}}));
    ASSERT_TRUE(env_.Eventually<ConfigMap>(
        child_key, [](const ConfigMap& child) { return child.data.at("color") == "red"; }));
  }
  ConfigMap Child() { return env_.client().Get<ConfigMap>(child_key).value(); }
  /// Returns the operator's requests for the child: "patch 201".
  std::vector<std::string> Requests() {
    std::vector<std::string> requests;
    for (const json& entry : env_.server().Requests()) {
      const json object = entry.value("objectRef", json::object());
      if (object.value("resource", "") != "configmaps" || object.value("name", "").empty())
        continue;
      requests.push_back(entry.at("verb").get<std::string>() + ' ' +
                         std::to_string(entry.at("responseStatus").at("code").get<int>()));
    }
    return requests;
  }
  /// Returns Requests() when the log has one for each apply.
  std::vector<std::string> RequestsOfApplies() {
    while (Requests().size() < applies_) std::this_thread::yield();
    return Requests();
  }
  void ExpectForeign(const std::string& problem) {
    EXPECT_TRUE(env_.Eventually([&] { return !env_.Events().empty(); }));
    EXPECT_THAT(env_.Events(), Contains(AllOf(HasSubstr("Warning ErrResourceExists: ConfigMap "
                                                        "default/settings already exists"),
                                              HasSubstr(problem))));
    EXPECT_THAT(Child().data, ElementsAre(Pair("color", "green"), Pair("shape", "round")));
  }

  std::atomic<std::size_t> applies_ = 0;
  testing::Environment env_;  // its reconciles use applies_
};

TEST_F(OwnedWritesWithServerTest, AnOperatorSendsOneRequestForEachApply) {
  CreateParent();
  Start();
  ASSERT_TRUE(env_.Eventually<ConfigMap>(child_key));
  ChangeToRed();
  env_.Stop();

  const auto requests = RequestsOfApplies();
  EXPECT_EQ(requests.size(), applies_);
  EXPECT_THAT(requests, Each(AnyOf("patch 201", "patch 200")));
  const json fields = env_.client()
                          .Dynamic(ConfigMap::kKind)
                          .Get(child_key)
                          ->Json()
                          .at("metadata")
                          .at("managedFields");
  EXPECT_EQ(fields.size(), 1U);
  EXPECT_EQ(fields[0]["operation"], "Apply") << "so that a later apply can remove fields";
}

TEST_F(OwnedWritesWithServerTest, AnOperatorThatStartsAgainSendsOneRequest) {
  CreateParent();
  env_.Reconcile<Secret>(parent_key, ApplyChild);
  while (Requests().empty() || Requests().back() != "patch 201") std::this_thread::yield();
  const std::size_t before = Requests().size();
  Start();
  ChangeToRed();
  env_.Stop();

  // The first apply takes over what Environment::Reconcile has applied, with a second request.
  const auto requests = Requests();
  EXPECT_THAT(std::vector(requests.begin() + static_cast<std::ptrdiff_t>(before), requests.end()),
              Each("patch 200"));
}

TEST_F(OwnedWritesWithServerTest, AnObjectOfAUserIsNeitherChangedNorDeletedWithTheParent) {
  CreateParent();
  CreateForeign();
  Start();
  ExpectForeign("is not controlled by Secret parent: delete it");

  env_.client().Delete<Secret>(parent_key);
  EXPECT_TRUE(Child().metadata.ownerReferences.empty());
}

TEST_F(OwnedWritesWithServerTest, AnObjectOfAnotherControllerIsNotChanged) {
  CreateParent();
  ConfigMap child{.metadata = {.name = "settings", .ns = "default"},
                  .data = {{"color", "green"}, {"shape", "round"}}};
  const auto map = env_.client().Create(ConfigMap{.metadata = {.name = "owner", .ns = "default"}});
  SetControllerReference(map, child.metadata);
  env_.client().Create(child);
  Start();
  ExpectForeign("is controlled by ConfigMap owner, not by Secret parent");
}

TEST_F(OwnedWritesWithServerTest, TheOperatorContinuesWhenTheForeignObjectIsGone) {
  CreateParent();
  CreateForeign();
  Start();
  ExpectForeign("is not controlled");

  env_.client().Delete<ConfigMap>(child_key);

  EXPECT_TRUE(env_.Eventually<ConfigMap>(
      child_key, [](const ConfigMap& child) { return child.data.at("color") == "blue"; }));
}

TEST_F(OwnedWritesWithServerTest, ALabelThatAPersonSetsAllowsToTakeTheObjectOver) {
  const Secret parent = CreateParent();
  CreateForeign();
  Start();
  ExpectForeign("set the label kopp/adopt=true on it");

  env_.client().Patch<ConfigMap>(
      child_key, Patch::Merge({{"metadata", {{"labels", {{kAdoptLabel, "true"}}}}}}));

  EXPECT_TRUE(env_.Eventually<ConfigMap>(child_key, [&](const ConfigMap& child) {
    return child.data.at("color") == "blue" && IsControlledBy(child, parent);
  }));
}

TEST_F(OwnedWritesWithServerTest, AnObjectThatAUserCreatesBetweenTwoReconcilesIsNotTakenOver) {
  CreateParent();
  // The client has written the child, and no cache tells it about the deletion.
  const Client& client = env_.manager().client();
  const Secret parent = env_.client().Get<Secret>(parent_key).value();
  const ConfigMap child{.metadata = OwnedBy(parent, "settings"), .data = {{"color", "blue"}}};
  client.Apply(child);
  env_.client().Delete<ConfigMap>(child_key);
  CreateForeign();

  EXPECT_THROW(client.Apply(child), ForeignObjectError);
  EXPECT_THROW(client.Replace(child), ForeignObjectError);
  EXPECT_EQ(Child().data.at("color"), "green");

  env_.client().Delete<ConfigMap>(child_key);
  EXPECT_EQ(client.Apply(child).data.at("color"), "blue");
}

TEST_F(OwnedWritesWithServerTest, TheChildOfAFormerParentIsWrittenAfterItsDeletion) {
  CreateParent();
  Start();
  ASSERT_TRUE(env_.Eventually<ConfigMap>(child_key));
  // The garbage collector waits for the finalizer.
  env_.client().Patch<ConfigMap>(
      child_key, Patch::Merge({{"metadata", {{"finalizers", {"example.com/slow"}}}}}));
  env_.client().Delete<Secret>(parent_key);
  const std::size_t applies = applies_;
  const Secret parent = CreateParent();
  while (applies_ < applies + 3) std::this_thread::yield();  // the first one may be a deletion's
  EXPECT_FALSE(IsControlledBy(Child(), parent));
  EXPECT_TRUE(env_.Events().empty()) << "it is normal for some seconds";

  env_.client().Patch<ConfigMap>(child_key,
                                 Patch::Merge({{"metadata", {{"finalizers", nullptr}}}}));

  EXPECT_TRUE(env_.Eventually<ConfigMap>(
      child_key, [&](const ConfigMap& child) { return IsControlledBy(child, parent); }));
}

TEST_F(OwnedWritesWithServerTest, AdoptTakesTheObjectOver) {
  const Secret parent = CreateParent();
  CreateForeign();

  env_.client().Apply(
      ConfigMap{.metadata = OwnedBy(parent, "settings"), .data = {{"color", "blue"}}},
      {.adopt = true});

  EXPECT_TRUE(IsControlledBy(Child(), parent));
  EXPECT_EQ(Child().data.at("color"), "blue");
}

TEST_F(OwnedWritesWithServerTest, AnObjectWithTwoOwnersBelongsToItsController) {
  const Secret parent = CreateParent();
  const auto other = env_.client().Create(Secret{.metadata = {.name = "other", .ns = "default"}});
  ConfigMap child{.metadata = OwnedBy(parent, "settings"), .data = {{"color", "green"}}};
  SetOwnerReference(other, child.metadata);
  env_.client().Create(child);
  const auto apply_for = [&](const Secret& owner) {
    env_.client().Apply(ConfigMap{.metadata = OwnedBy(owner, "settings")});
  };

  EXPECT_THROW(apply_for(other), ForeignObjectError) << "it owns the object, but not alone";
  EXPECT_NO_THROW(apply_for(parent));
  EXPECT_TRUE(IsControlledBy(Child(), parent));
}

TEST_F(OwnedWritesWithServerTest, AnOwnerWithoutAControllerBecomesTheController) {
  const Secret parent = CreateParent();
  ConfigMap child{.metadata = {.name = "settings", .ns = "default"}};
  SetOwnerReference(parent, child.metadata);
  env_.client().Create(child);

  env_.client().Apply(ConfigMap{.metadata = OwnedBy(parent, "settings")});

  EXPECT_TRUE(IsControlledBy(Child(), parent));
}

TEST_F(OwnedWritesWithServerTest, AClusterScopedOwnerIsComparedByItsUid) {
  const auto owner = env_.client().Create(Namespace{.metadata = {.name = "shop"}});
  const auto other = env_.client().Create(Namespace{.metadata = {.name = "web"}});
  const auto child_of = [](const Namespace& controller) {
    ConfigMap child{.metadata = OwnedBy(controller, "settings")};
    child.metadata.ns = "default";
    return child;
  };

  env_.client().Apply(child_of(owner));

  EXPECT_NO_THROW(env_.client().Apply(child_of(owner)));
  EXPECT_THROW(env_.client().Apply(child_of(other)), ForeignObjectError);
  EXPECT_TRUE(IsControlledBy(Child(), owner));
}

TEST_F(OwnedWritesWithServerTest, ADryRunReportsTheForeignObject) {
  const Secret parent = CreateParent();
  const ConfigMap child{.metadata = OwnedBy(parent, "settings")};
  const Client preview = env_.client().WithDryRun();
  EXPECT_NO_THROW(preview.Apply(child));
  EXPECT_NO_THROW(preview.Apply(child)) << "the first dry run has created nothing";
  CreateForeign();

  EXPECT_THROW(preview.Apply(child), ForeignObjectError);
}

TEST_F(OwnedWritesWithServerTest, TwoProcessesMayWriteTheChildOfOneOwner) {
  const Secret parent = CreateParent();
  const ConfigMap child{.metadata = OwnedBy(parent, "settings"), .data = {{"color", "blue"}}};
  const Client first(env_.server().transport());
  const Client second(env_.server().transport());

  first.Apply(child);
  second.Apply(child);
  EXPECT_TRUE(second.Delete<ConfigMap>(child_key));
  second.Apply(child);
  first.Apply(child);

  EXPECT_TRUE(IsControlledBy(Child(), parent));
}

// As in Go: the function of the program decides whether it takes the object over.
TEST_F(OwnedWritesWithServerTest, CreateOrUpdateAdoptsAnObjectWithoutAController) {
  const Secret parent = CreateParent();
  CreateForeign();

  CreateOrUpdate<ConfigMap>(env_.client(), child_key, [&](ConfigMap& object) {
    SetControllerReference(parent, object.metadata);
  });

  EXPECT_TRUE(IsControlledBy(Child(), parent));
}

TEST_F(OwnedWritesWithServerTest, TheFunctionOfCreateOrUpdateCanRejectAForeignObject) {
  const Secret parent = CreateParent();
  CreateForeign();
  const auto set_owner = [&](ConfigMap& object) {
    const bool exists = !object.metadata.uid.empty();
    if (exists && !IsControlledBy(object, parent)) throw std::runtime_error("not ours");
    SetControllerReference(parent, object.metadata);
  };

  EXPECT_THROW(CreateOrUpdate<ConfigMap>(env_.client(), child_key, set_owner), std::runtime_error);
  EXPECT_TRUE(Child().metadata.ownerReferences.empty());

  env_.client().Delete<ConfigMap>(child_key);
  CreateOrUpdate<ConfigMap>(env_.client(), child_key, set_owner);
  EXPECT_EQ(CreateOrUpdate<ConfigMap>(env_.client(), child_key, set_owner).result,
            OperationResult::kUnchanged);
}

}  // namespace
}  // namespace kopp
