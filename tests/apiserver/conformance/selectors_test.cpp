#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAreArray;

/// A selector, percent-encoded, and the names of what it selects.
struct Selector {
  std::string test{};
  std::string selector{};
  std::vector<std::string> selected{};

  friend void PrintTo(const Selector& each, std::ostream* out) { *out << each.selector; }
};

class LabelSelectorTest : public ConformanceTest, public ::testing::WithParamInterface<Selector> {};

TEST_P(LabelSelectorTest, Selects) {
  const auto create = [&](const std::string& name, const json& labels) {
    Post(Path("configmaps"), {{"metadata", {{"name", name}, {"labels", labels}}}});
  };
  create("one", {{"app", "a"}, {"n", "1"}});
  create("two", {{"app", "b"}, {"n", "2"}});
  create("three", {{"app", ""}, {"n", "x"}});
  create("none", nullptr);

  const Answer list = Get(Path("configmaps") + "?labelSelector=" + GetParam().selector);

  EXPECT_THAT(Names(list), ElementsAreArray(GetParam().selected));
}

const Selector label_selectors[] = {
    {"Everything", "", {"none", "one", "three", "two"}},
    {"Equal", "app%3Da", {"one"}},
    {"EqualInQueryAsItIs", "app=a", {"one"}},
    {"EqualByTwoSigns", "app%3D%3Da", {"one"}},
    {"EqualToNothing", "app%3D", {"three"}},
    {"NotEqualOrNotThere", "app!%3Da", {"none", "three", "two"}},
    {"In", "app+in+(a,b)", {"one", "two"}},
    {"InNothingAmongOthers", "app+in+(a,)", {"one", "three"}},
    {"NotInOrNotThere", "app+notin+(a,b)", {"none", "three"}},
    {"There", "app", {"one", "three", "two"}},
    {"NotThere", "!app", {"none"}},
    {"Greater", "n%3E1", {"two"}},
    {"Less", "n%3C2", {"one"}},
    {"AllOfSeveral", "app,n!%3D1,n!%3Dx", {"two"}},
    {"SpacesDoNotCount", "+app+%3D+a+,+n+", {"one"}},
};
INSTANTIATE_TEST_SUITE_P(, LabelSelectorTest, ::testing::ValuesIn(label_selectors),
                         [](const auto& selector) { return selector.param.test; });

class FieldSelectorTest : public ConformanceTest {};

TEST_F(FieldSelectorTest, SelectsTheNamespaceInAListOfAll) {
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer list = Get("/api/v1/configmaps?fieldSelector=metadata.namespace=" + ns());

  EXPECT_THAT(Names(list), ElementsAreArray({"a"}));
}

class MetadataSelectorTest : public FieldSelectorTest,
                             public ::testing::WithParamInterface<Selector> {};

TEST_P(MetadataSelectorTest, Selects) {
  Post(Path("configmaps"), AConfigMap("a"));
  Post(Path("configmaps"), AConfigMap("b"));
  Post(Path("configmaps"), AConfigMap("c"));

  const Answer list = Get(Path("configmaps") + "?fieldSelector=" + GetParam().selector);

  EXPECT_THAT(Names(list), ElementsAreArray(GetParam().selected));
}

const Selector metadata_selectors[] = {
    {"TheName", "metadata.name%3Da", {"a"}},
    {"TheNameByTwoSigns", "metadata.name%3D%3Da", {"a"}},
    {"AllOtherNames", "metadata.name!%3Da", {"b", "c"}},
    {"AllButTwo", "metadata.name!%3Da,metadata.name!%3Db", {"c"}},
    {"TwoNamesAtOnce", "metadata.name%3Da,metadata.name%3Db", {}},
    {"ANamespaceOfOthers", "metadata.namespace%3Dx", {}},
    {"EmptyParts", ",metadata.name%3Da,", {"a"}},
};
INSTANTIATE_TEST_SUITE_P(, MetadataSelectorTest, ::testing::ValuesIn(metadata_selectors),
                         [](const auto& selector) { return selector.param.test; });

class PodSelectorTest : public FieldSelectorTest, public ::testing::WithParamInterface<Selector> {};

TEST_P(PodSelectorTest, Selects) {
  Post(Pods(), APod("waiting"));
  json pod = APod("placed");
  pod["spec"].update({{"nodeName", "n1"}, {"restartPolicy", "Never"}});
  Post(Pods(), pod);
  MergePatch(Path("pods") + "/placed/status",
             R"({"status": {"phase": "Running", "podIP": "10.1.1.1",
                            "podIPs": [{"ip": "10.1.1.1"}]}})"_json);

  const Answer list = Get(Path("pods") + "?fieldSelector=" + GetParam().selector);

  EXPECT_THAT(Names(list), ElementsAreArray(GetParam().selected));
}

const Selector pod_selectors[] = {
    {"Phase", "status.phase%3DRunning", {"placed"}},
    {"PhaseOfANewPod", "status.phase%3DPending", {"waiting"}},
    {"Node", "spec.nodeName%3Dn1", {"placed"}},
    {"NoNode", "spec.nodeName%3D", {"waiting"}},
    {"AllOtherNodes", "spec.nodeName!%3Dn1", {"waiting"}},
    {"RestartPolicy", "spec.restartPolicy%3DNever", {"placed"}},
    {"SchedulerName", "spec.schedulerName%3Ddefault-scheduler", {"placed", "waiting"}},
    {"ServiceAccount", "spec.serviceAccountName%3Ddefault", {"placed", "waiting"}},
    {"Ip", "status.podIP%3D10.1.1.1", {"placed"}},
    {"PhaseAndNode", "status.phase%3DRunning,spec.nodeName%3Dn2", {}},
};
INSTANTIATE_TEST_SUITE_P(, PodSelectorTest, ::testing::ValuesIn(pod_selectors),
                         [](const auto& selector) { return selector.param.test; });

TEST_F(FieldSelectorTest, SelectsSecretsByType) {
  Post(Path("secrets"), AConfigMap("plain"));
  Post(Path("secrets"), {{"metadata", {{"name", "typed"}}}, {"type", "example.com/x"}});

  EXPECT_THAT(Names(Get(Path("secrets") + "?fieldSelector=type%3Dexample.com/x")),
              ElementsAreArray({"typed"}));
}

TEST_F(FieldSelectorTest, SelectsNamespacesByPhase) {
  const Answer list =
      Get("/api/v1/namespaces?fieldSelector=status.phase%3DActive,metadata.name%3D" + ns());

  EXPECT_THAT(Names(list), ElementsAreArray({ns()}));
}

TEST_F(FieldSelectorTest, SelectsServicesByType) {
  Post(Path("services"), {{"metadata", {{"name", "a"}}},
                          {"spec", {{"type", "ExternalName"}, {"externalName", "example.com"}}}});

  EXPECT_THAT(Names(Get(Path("services") + "?fieldSelector=spec.type%3DExternalName")),
              ElementsAreArray({"a"}));
}

/// Two Events: "e1" of Pod p1, "e2" of Node n2.
class EventSelectorTest : public FieldSelectorTest, public ::testing::WithParamInterface<Selector> {
 protected:
  EventSelectorTest() {
    Create("e1", {{"kind", "Pod"}, {"name", "p1"}, {"uid", "u1"}, {"apiVersion", "v1"}}, "Started");
    Create("e2", {{"kind", "Node"}, {"name", "n2"}, {"fieldPath", "spec"}}, "Stopped");
  }

 private:
  void Create(const std::string& name, json about, const std::string& reason) {
    about["namespace"] = ns();
    Post(Path("events"), {{"metadata", {{"name", name}}},
                          {"involvedObject", about},
                          {"reason", reason},
                          {"type", "Normal"},
                          {"source", {{"component", name + "-source"}}},
                          {"reportingComponent", name + "-reporter"}});
  }
};

TEST_P(EventSelectorTest, Selects) {
  const Answer list = Get(Path("events") + "?fieldSelector=" + GetParam().selector);

  EXPECT_THAT(Names(list), ElementsAreArray(GetParam().selected));
}

const Selector event_selectors[] = {
    {"Kind", "involvedObject.kind%3DPod", {"e1"}},
    {"Name", "involvedObject.name%3Dn2", {"e2"}},
    {"Uid", "involvedObject.uid%3Du1", {"e1"}},
    {"ApiVersion", "involvedObject.apiVersion%3Dv1", {"e1"}},
    {"FieldPath", "involvedObject.fieldPath%3Dspec", {"e2"}},
    {"Namespace", "involvedObject.namespace%3Dnone", {}},
    {"Reason", "reason%3DStopped", {"e2"}},
    {"Type", "type%3DNormal", {"e1", "e2"}},
    {"Source", "source%3De1-source", {"e1"}},
    {"ReportingComponent", "reportingComponent%3De2-reporter", {"e2"}},
};
INSTANTIATE_TEST_SUITE_P(, EventSelectorTest, ::testing::ValuesIn(event_selectors),
                         [](const auto& selector) { return selector.param.test; });

TEST_F(EventSelectorTest, TheNewGroupCallsTheFieldsOtherwise) {
  const std::string events = Path("events.k8s.io/v1", "events");

  EXPECT_THAT(Names(Get(events + "?fieldSelector=regarding.kind%3DPod")), ElementsAreArray({"e1"}));
}

/// A kind, and what it says of a field that it does not know.
struct NoField {
  std::string test{};
  std::string group_version{};
  std::string plural{};
  std::string field{};
  std::string message{};

  friend void PrintTo(const NoField& no, std::ostream* out) { *out << no.plural; }
};

class NoFieldTest : public ConformanceTest, public ::testing::WithParamInterface<NoField> {};

TEST_P(NoFieldTest, IsABadRequest) {
  const auto& [test, group_version, plural, field, message] = GetParam();
  const Answer answer = Get((group_version == "v1" ? Path(plural) : Path(group_version, plural)) +
                            "?fieldSelector=" + field + "%3Dx");

  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.reason(), "BadRequest");
  EXPECT_EQ(answer.message(), message);
}

std::string OnlyMetadata(const std::string& field) {
  return "\"" + field +
         "\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"";
}

const NoField no_fields[] = {
    {"ConfigMap", "v1", "configmaps", "data.a", OnlyMetadata("data.a")},
    {"MetadataThatMayNotBeSelected", "v1", "configmaps", "metadata.uid",
     OnlyMetadata("metadata.uid")},
    {"Deployment", "apps/v1", "deployments", "status.replicas", OnlyMetadata("status.replicas")},
    {"ReplicaSet", "apps/v1", "replicasets", "status.replicas", OnlyMetadata("status.replicas")},
    {"Pod", "v1", "pods", "spec.foo", "field label not supported: spec.foo"},
    {"Secret", "v1", "secrets", "foo", "field label not supported: foo"},
    {"Service", "v1", "services", "foo", "field label not supported: foo"},
    {"CoreEvent", "v1", "events", "regarding.kind", "field label not supported: regarding.kind"},
    {"NewEvent", "events.k8s.io/v1", "events", "involvedObject.kind",
     "field label not supported: involvedObject.kind"},
    {"Job", "batch/v1", "jobs", "foo", "field label \"foo\" not supported for Job"},
};
INSTANTIATE_TEST_SUITE_P(, NoFieldTest, ::testing::ValuesIn(no_fields),
                         [](const auto& no) { return no.param.test; });

}  // namespace
}  // namespace kopp::conformance
