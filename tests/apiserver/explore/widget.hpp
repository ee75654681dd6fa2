#pragma once

#include <chrono>
#include <iostream>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <kopp/framework.hpp>
#include <kopp/json.hpp>
#include <kopp/testing/explore.hpp>

namespace kopp::testing {

/// The custom resource of the small operators that these tests explore.
struct Widget {
  static constexpr Kind kKind{"explore.example.com/v1", "Widget", "widgets"};
  struct Spec {
    int size = 0;
    std::string text = {};
  };
  struct Status {
    int created = 0;
    std::string phase = {};
  };
  ObjectMeta metadata = {};
  Spec spec = {};
  Status status = {};
};
KOPP_FIELDS(Widget::Spec, KOPP_FIELD(size, Optional()), KOPP_FIELD(text, Optional()))
KOPP_FIELDS(Widget::Status, KOPP_FIELD(created, Optional()), phase)
KOPP_FIELDS(Widget, metadata, KOPP_FIELD(spec, Optional()), KOPP_FIELD(status, Optional()))
KOPP_CRD(Widget, StatusSubresource())

inline const ObjectKey widget_key{"default", "web"};

inline Widget NewWidget(const std::string& text = "", int size = 0) {
  return {.metadata = {.name = widget_key.name, .ns = widget_key.ns},
          .spec = {.size = size, .text = text}};
}

inline ScenarioStep CreateWidget(const std::string& text = "", int size = 0) {
  return {"the user creates the Widget web",
          [=](const Client& client) { client.Create(NewWidget(text, size)); }};
}

inline ScenarioStep DeleteWidget() {
  return {"the user deletes the Widget web",
          [](const Client& client) { client.Delete<Widget>(widget_key); }};
}

inline ScenarioStep ChangeText(const std::string& text) {
  return {"the user changes the text to " + text, [=](const Client& client) {
            const nlohmann::json change{{"spec", {{"text", text}}}};
            client.Patch<Widget>(widget_key, Patch::Merge(change));
          }};
}

/// Writes the phase, unless the Widget has it.
inline void SetPhase(const Widget& widget, const std::string& phase, const Context& context) {
  if (widget.status.phase == phase) return;
  const nlohmann::json change{{"status", {{"phase", phase}}}};
  context.client.PatchStatus<Widget>(KeyOf(widget), Patch::Merge(change));
}

/// Returns a ConfigMap that the Widget owns.
inline ConfigMap ChildOf(const Widget& widget, const std::string& name) {
  return {.metadata = OwnedBy(widget, name), .data = {{"text", widget.spec.text}}};
}

/// Returns a function that adds a controller of Widgets that owns ConfigMaps.
template <typename F>
OperatorSetup WidgetOperator(F reconcile) {
  return [reconcile](Manager& manager) {
    manager.AddController<Widget>().template Owns<ConfigMap>().Cached().Reconcile(reconcile);
  };
}

/// Longer than any test: the runs end an exploration, not the speed of the machine.
inline constexpr std::chrono::hours kNoTimeLimit{1};

/// Checks that Explore finds a bug of one operator, and none of the corrected one. Prints how long
/// the first finding took.
inline void ExpectFoundAndFixed(const Scenario& scenario, const OperatorSetup& buggy,
                                const OperatorSetup& corrected) {
  const ExploreResult found =
      Explore(scenario, buggy, {.time_limit = kNoTimeLimit, .max_findings = 1});
  ASSERT_FALSE(found.findings.empty()) << "the planted bug was not found";
  EXPECT_LE(found.runs, 100U) << "the disturbances are in a bad order";
  const Finding& finding = found.findings.front();
  std::cout << "found with \"" << finding.schedule << "\" after " << found.runs << " runs, "
            << std::chrono::duration_cast<std::chrono::milliseconds>(found.time).count()
            << " ms: " << finding.problem << '\n';
  EXPECT_FALSE(Replay(scenario, buggy, finding.schedule).findings.empty());
  const ExploreResult none =
      Explore(scenario, corrected, {.pairs = 20, .time_limit = kNoTimeLimit});
  EXPECT_TRUE(none);
  std::cout << "corrected: " << none;
}

}  // namespace kopp::testing
