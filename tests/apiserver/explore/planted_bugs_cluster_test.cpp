// Operators with a planted bug in how they use the API server. Explore finds each bug, and nothing
// in the corrected operator.
#include "widget.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <kopp/dynamic_client.hpp>

namespace kopp::testing {
namespace {

using nlohmann::json;

bool HasChild(const Widget& widget, const Context& context) {
  for (const auto& map : context.cache.List<ConfigMap>(widget.metadata.ns)) {
    if (IsControlledBy(*map, widget)) return true;
  }
  return false;
}

/// Creates the child if the cache does not have it. Throws if another owner has its name.
void EnsureChild(const Widget& widget, const std::string& name, const Context& context) {
  const auto existing = context.cache.Get<ConfigMap>({widget.metadata.ns, name});
  if (!existing) {
    context.client.Create(ChildOf(widget, name));
  } else if (!IsControlledBy(*existing, widget)) {
    throw std::runtime_error("another owner has the name " + name);
  }
}

void SetCreated(const Widget& widget, int created, const Context& context) {
  const json change{{"status", {{"created", created}, {"phase", "Creating"}}}};
  context.client.PatchStatus<Widget>(KeyOf(widget), Patch::Merge(change));
}

TEST(OperatorBugTest, TheStatusIsUsedAsTheTruthAboutChildren) {
  const auto buggy = [](const Widget& widget, Context& context) -> Result {
    if (widget.status.created >= widget.spec.size) return {};
    ConfigMap child = ChildOf(widget, "");
    child.metadata.generateName = "web-";
    context.client.Create(child);
    SetCreated(widget, widget.status.created + 1, context);
    return {};
  };
  const auto corrected = [](const Widget& widget, Context& context) -> Result {
    for (int i = 0; i < widget.spec.size; ++i) {
      EnsureChild(widget, "web-" + std::to_string(i), context);
    }
    if (widget.status.created != widget.spec.size) SetCreated(widget, widget.spec.size, context);
    return {};
  };
  ExpectFoundAndFixed({.steps = {CreateWidget("a", 2)}}, WidgetOperator(buggy),
                      WidgetOperator(corrected));
}

TEST(OperatorBugTest, AGeneratedNameGivesTwinsAfterAStaleRead) {
  const auto buggy = [](const Widget& widget, Context& context) -> Result {
    if (HasChild(widget, context)) return {};
    ConfigMap child = ChildOf(widget, "");
    child.metadata.generateName = "web-";
    context.client.Create(child);
    return {};
  };
  const auto corrected = [](const Widget& widget, Context& context) -> Result {
    EnsureChild(widget, "web-child", context);
    return {};
  };
  ExpectFoundAndFixed({.steps = {CreateWidget()}}, WidgetOperator(buggy),
                      WidgetOperator(corrected));
}

TEST(OperatorBugTest, AForeignObjectIsAdopted) {
  const auto buggy = [](const Widget& widget, Context& context) -> Result {
    const auto existing = context.cache.Get<ConfigMap>(KeyOf(widget));
    const ConfigMap desired = ChildOf(widget, widget.metadata.name);
    if (!existing || existing->data != desired.data) {
      context.client.Apply(desired, {.adopt = true});
    }
    return {};
  };
  const auto corrected = [](const Widget& widget, Context& context) -> Result {
    context.client.Apply(ChildOf(widget, widget.metadata.name));  // throws
    return {};
  };
  const auto text_of_foreign = [](const Client& client) -> std::string {
    const auto map = client.Get<ConfigMap>(widget_key);
    return map && map->data.at("text") == "precious" ? "" : "its text was changed";
  };
  ExpectFoundAndFixed({.start =
                           [](const Client& client) {
                             client.Create(ConfigMap{.metadata = {.name = "web", .ns = "default"},
                                                     .data = {{"text", "precious"}}});
                           },
                       .steps = {CreateWidget("mine")},
                       .invariants = {{"the ConfigMap of others is not changed", text_of_foreign}}},
                      WidgetOperator(buggy), WidgetOperator(corrected));
}

TEST(OperatorBugTest, AnErrorIsSwallowedAndNotRetried) {
  const auto corrected = [](const Widget& widget, Context& context) -> Result {
    EnsureChild(widget, "child", context);
    SetPhase(widget, "Ready", context);
    return {};
  };
  const auto buggy = [corrected](const Widget& widget, Context& context) -> Result {
    try {
      return corrected(widget, context);
    } catch (const std::exception& error) {
      context.log.Error(error.what());
      return {};
    }
  };
  ExpectFoundAndFixed({.steps = {CreateWidget()}}, WidgetOperator(buggy),
                      WidgetOperator(corrected));
}

TEST(OperatorBugTest, AnExistingChildIsAFailureForEver) {
  const auto buggy = [](const Widget& widget, Context& context) -> Result {
    if (widget.status.phase == "Ready") return {};
    context.client.Create(ChildOf(widget, "child"));
    SetPhase(widget, "Ready", context);
    return {};
  };
  const auto corrected = [](const Widget& widget, Context& context) -> Result {
    EnsureChild(widget, "child", context);
    SetPhase(widget, "Ready", context);
    return {};
  };
  ExpectFoundAndFixed({.steps = {CreateWidget()}}, WidgetOperator(buggy),
                      WidgetOperator(corrected));
}

/// Deletes the ConfigMap that spec.text names, if it has the label old=yes.
Result DeleteOld(const Widget& widget, Context& context, bool with_uid) {
  const auto old = context.cache.Get<ConfigMap>({"default", widget.spec.text});
  if (!old || !old->metadata.labels.contains("old")) return {};
  DeleteOptions options;
  if (with_uid) options.uid = old->metadata.uid;
  context.client.Delete<ConfigMap>(KeyOf(*old), options);
  return {};
}

TEST(OperatorBugTest, ADeletionByNameHitsTheNextObjectOfThatName) {
  const auto buggy = [](const Widget& widget, Context& context) {
    return DeleteOld(widget, context, /*with_uid=*/false);
  };
  const auto corrected = [](const Widget& widget, Context& context) {
    return DeleteOld(widget, context, /*with_uid=*/true);
  };
  const auto create_precious = [](const Client& client) {
    client.Delete<ConfigMap>({"default", "data"});
    client.Create(ConfigMap{.metadata = {.name = "data", .ns = "default"}});
  };
  const auto create_old = [](const Client& client) {
    client.Create(
        ConfigMap{.metadata = {.name = "data", .ns = "default", .labels = {{"old", "yes"}}}});
  };
  ExpectFoundAndFixed({.start = create_old,
                       .steps = {CreateWidget("data"), {"a user replaces data", create_precious}}},
                      WidgetOperator(buggy), WidgetOperator(corrected));
}

/// Writes spec.text into the ConfigMap "shared" of the user.
Result WriteText(const Widget& widget, Context& context, bool with_version) {
  const auto stored = context.client.Dynamic(ConfigMap::kKind).Get({"default", "shared"});
  if (!stored || stored->At("/data/text") == widget.spec.text) return {};
  json map = stored->Json();
  map["data"]["text"] = widget.spec.text;
  if (!with_version) map["metadata"].erase("resourceVersion");
  context.client.Update<ConfigMap>(map);
  return {};
}

TEST(OperatorBugTest, AnUpdateWithoutAResourceVersionOverwritesAConcurrentChange) {
  const auto buggy = [](const Widget& widget, Context& context) {
    return WriteText(widget, context, /*with_version=*/false);
  };
  const auto corrected = [](const Widget& widget, Context& context) {
    return WriteText(widget, context, /*with_version=*/true);
  };
  const auto create = [](const Client& client) {
    client.Create(
        ConfigMap{.metadata = {.name = "shared", .ns = "default"}, .data = {{"color", "red"}}});
  };
  const auto change = [](const Client& client) {
    const json blue{{"data", {{"color", "blue"}}}};
    client.Patch<ConfigMap>({"default", "shared"}, Patch::Merge(blue));
  };
  ExpectFoundAndFixed(
      {.start = create, .steps = {CreateWidget("a"), {"a user sets the color to blue", change}}},
      WidgetOperator(buggy), WidgetOperator(corrected));
}

TEST(OperatorBugTest, TheConditionIsSetBeforeTheEffect) {
  const auto buggy = [](const Widget& widget, Context& context) -> Result {
    if (widget.status.phase == "Ready") return {};
    SetPhase(widget, "Ready", context);
    EnsureChild(widget, "child", context);
    return {};
  };
  const auto corrected = [](const Widget& widget, Context& context) -> Result {
    EnsureChild(widget, "child", context);
    SetPhase(widget, "Ready", context);
    return {};
  };
  ExpectFoundAndFixed({.steps = {CreateWidget()}}, WidgetOperator(buggy),
                      WidgetOperator(corrected));
}

/// Replaces the child when the text has changed: creates the child `name`, then deletes the others.
void ReplaceChildren(const Widget& widget, const std::string& name, const Context& context) {
  EnsureChild(widget, name, context);
  for (const auto& map : context.cache.List<ConfigMap>(widget.metadata.ns)) {
    if (!IsControlledBy(*map, widget) || map->metadata.name == name) continue;
    DeleteOptions options;
    options.uid = map->metadata.uid;
    context.client.Delete<ConfigMap>(KeyOf(*map), options);
  }
}

bool HasChildWithText(const Widget& widget, const Context& context) {
  const auto maps = context.cache.List<ConfigMap>(widget.metadata.ns);
  return std::ranges::any_of(maps, [&](const auto& map) {
    return IsControlledBy(*map, widget) && map->data == ChildOf(widget, "").data;
  });
}

TEST(OperatorBugTest, TheNameOfAChildComesFromACounter) {
  const OperatorSetup buggy = [](Manager& manager) {
    const auto counter = std::make_shared<int>(0);
    manager.AddController<Widget>().Owns<ConfigMap>().Cached().Reconcile(
        [counter](const Widget& widget, Context& context) -> Result {
          if (HasChildWithText(widget, context)) return {};
          ReplaceChildren(widget, "web-" + std::to_string(++*counter), context);
          return {};
        });
  };
  const auto corrected = [](const Widget& widget, Context& context) -> Result {
    ReplaceChildren(widget, "web-" + widget.spec.text, context);
    return {};
  };
  ExpectFoundAndFixed({.steps = {CreateWidget("a"), ChangeText("b")}}, buggy,
                      WidgetOperator(corrected));
}

// A cloud that is not ready for a minute. Each of its errors has another request id, which the
// operator writes to the status.
TEST(OperatorBugTest, AnErrorTextThatDiffersEachTimeDefeatsTheBackoff) {
  const auto reconcile = [](const Client& client, const Widget& widget, Context& context) {
    if (widget.status.phase == "Ready") return;
    if (context.clock.Now() > TimePoint{} + std::chrono::minutes(1)) {
      return SetPhase(widget, "Ready", context);
    }
    const std::string error = "request id " + std::to_string(context.retries);
    const json change{{"status", {{"phase", error}}}};
    client.PatchStatus<Widget>(KeyOf(widget), Patch::Merge(change));
    throw std::runtime_error(error);
  };
  const OperatorSetup buggy = [reconcile](Manager& manager) {
    manager.AddController<Widget>().Reconcile(
        [reconcile, &manager](const Widget& widget, Context& context) -> Result {
          reconcile(manager.client(), widget, context);  // its writes are not known as own ones
          return {};
        });
  };
  const OperatorSetup corrected =
      WidgetOperator([reconcile](const Widget& widget, Context& context) -> Result {
        reconcile(context.client, widget, context);
        return {};
      });
  const Scenario scenario{.steps = {CreateWidget()}};

  const ExploreResult found = Explore(scenario, buggy, {.max_findings = 1});
  ASSERT_FALSE(found.findings.empty());
  EXPECT_THAT(found.findings.front().problem,
              ::testing::HasSubstr("The back-off of widget default/web is defeated"));
  EXPECT_TRUE(Explore(scenario, corrected, {.pairs = 20, .time_limit = kNoTimeLimit}));
}

}  // namespace
}  // namespace kopp::testing
