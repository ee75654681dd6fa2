#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAreArray;

/// A percent-encoded selector and the names of the objects that it selects.
struct SelectorCase {
  std::string test_name{};
  std::string selector{};
  std::vector<std::string> selected{};

  friend void PrintTo(const SelectorCase& test_case, std::ostream* out) {
    *out << test_case.selector;
  }
};

class LabelSelectorTest : public ConformanceTest,
                          public ::testing::WithParamInterface<SelectorCase> {};

TEST_P(LabelSelectorTest, LabelSelectorReturnsTheMatchingObjects) {
  const auto create = [&](const std::string& name, const json& labels) {
    Post(Path("configmaps"), {{"metadata", {{"name", name}, {"labels", labels}}}});
  };
  create("one", {{"app", "a"}, {"n", "1"}});
  create("two", {{"app", "b"}, {"n", "2"}});
  create("three", {{"app", ""}, {"n", "x"}});
  create("none", nullptr);

  const JsonResponse list = Get(Path("configmaps") + "?labelSelector=" + GetParam().selector);

  EXPECT_THAT(ItemNames(list), ElementsAreArray(GetParam().selected));
}

const SelectorCase label_selectors[] = {
    {"Everything", "", {"none", "one", "three", "two"}},
    {"Equal", "app%3Da", {"one"}},
    {"EqualWithUnescapedSign", "app=a", {"one"}},
    {"EqualWithTwoSigns", "app%3D%3Da", {"one"}},
    {"EqualToTheEmptyValue", "app%3D", {"three"}},
    {"NotEqualOrMissing", "app!%3Da", {"none", "three", "two"}},
    {"In", "app+in+(a,b)", {"one", "two"}},
    {"InWithAnEmptyValue", "app+in+(a,)", {"one", "three"}},
    {"NotInOrMissing", "app+notin+(a,b)", {"none", "three"}},
    {"Exists", "app", {"one", "three", "two"}},
    {"DoesNotExist", "!app", {"none"}},
    {"Greater", "n%3E1", {"two"}},
    {"Less", "n%3C2", {"one"}},
    {"SeveralRequirements", "app,n!%3D1,n!%3Dx", {"two"}},
    {"SpacesAreIgnored", "+app+%3D+a+,+n+", {"one"}},
};
INSTANTIATE_TEST_SUITE_P(, LabelSelectorTest, ::testing::ValuesIn(label_selectors),
                         [](const auto& selector) { return selector.param.test_name; });

/// Fixture of tests of field selectors. The derived fixtures use the fields of one kind each.
class FieldSelectorTest : public ConformanceTest {};

TEST_F(FieldSelectorTest, SelectsByNamespaceInAListOfAllNamespaces) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse list = Get("/api/v1/configmaps?fieldSelector=metadata.namespace=" + ns());

  EXPECT_THAT(ItemNames(list), ElementsAreArray({"a"}));
}

class MetadataFieldSelectorTest : public FieldSelectorTest,
                                  public ::testing::WithParamInterface<SelectorCase> {};

TEST_P(MetadataFieldSelectorTest, MetadataFieldSelectorReturnsTheMatchingObjects) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  Post(Path("configmaps"), MakeConfigMap("b"));
  Post(Path("configmaps"), MakeConfigMap("c"));

  const JsonResponse list = Get(Path("configmaps") + "?fieldSelector=" + GetParam().selector);

  EXPECT_THAT(ItemNames(list), ElementsAreArray(GetParam().selected));
}

const SelectorCase metadata_selectors[] = {
    {"Name", "metadata.name%3Da", {"a"}},
    {"NameWithTwoSigns", "metadata.name%3D%3Da", {"a"}},
    {"NotName", "metadata.name!%3Da", {"b", "c"}},
    {"NotTwoNames", "metadata.name!%3Da,metadata.name!%3Db", {"c"}},
    {"ContradictoryNames", "metadata.name%3Da,metadata.name%3Db", {}},
    {"AnotherNamespace", "metadata.namespace%3Dx", {}},
    {"EmptyRequirementsAreIgnored", ",metadata.name%3Da,", {"a"}},
};
INSTANTIATE_TEST_SUITE_P(, MetadataFieldSelectorTest, ::testing::ValuesIn(metadata_selectors),
                         [](const auto& selector) { return selector.param.test_name; });

class PodFieldSelectorTest : public FieldSelectorTest,
                             public ::testing::WithParamInterface<SelectorCase> {};

TEST_P(PodFieldSelectorTest, PodFieldSelectorReturnsTheMatchingPods) {
  Post(PodsPath(), MakePod("waiting"));
  json pod = MakePod("placed");
  pod["spec"].update({{"nodeName", "n1"}, {"restartPolicy", "Never"}});
  Post(PodsPath(), pod);
  MergePatch(Path("pods") + "/placed/status",
             R"({"status": {"phase": "Running", "podIP": "10.1.1.1",
                            "podIPs": [{"ip": "10.1.1.1"}]}})"_json);

  const JsonResponse list = Get(Path("pods") + "?fieldSelector=" + GetParam().selector);

  EXPECT_THAT(ItemNames(list), ElementsAreArray(GetParam().selected));
}

const SelectorCase pod_selectors[] = {
    {"Phase", "status.phase%3DRunning", {"placed"}},
    {"PhaseOfANewPod", "status.phase%3DPending", {"waiting"}},
    {"Node", "spec.nodeName%3Dn1", {"placed"}},
    {"EmptyNode", "spec.nodeName%3D", {"waiting"}},
    {"NotNode", "spec.nodeName!%3Dn1", {"waiting"}},
    {"RestartPolicy", "spec.restartPolicy%3DNever", {"placed"}},
    {"SchedulerName", "spec.schedulerName%3Ddefault-scheduler", {"placed", "waiting"}},
    {"ServiceAccount", "spec.serviceAccountName%3Ddefault", {"placed", "waiting"}},
    {"Ip", "status.podIP%3D10.1.1.1", {"placed"}},
    {"PhaseAndAnotherNode", "status.phase%3DRunning,spec.nodeName%3Dn2", {}},
};
INSTANTIATE_TEST_SUITE_P(, PodFieldSelectorTest, ::testing::ValuesIn(pod_selectors),
                         [](const auto& selector) { return selector.param.test_name; });

TEST_F(FieldSelectorTest, SelectsSecretsByType) {
  Post(Path("secrets"), MakeObjectWithName("plain"));
  Post(Path("secrets"), {{"metadata", {{"name", "typed"}}}, {"type", "example.com/x"}});

  EXPECT_THAT(ItemNames(Get(Path("secrets") + "?fieldSelector=type%3Dexample.com/x")),
              ElementsAreArray({"typed"}));
}

TEST_F(FieldSelectorTest, SelectsNamespacesByPhase) {
  const JsonResponse list =
      Get("/api/v1/namespaces?fieldSelector=status.phase%3DActive,metadata.name%3D" + ns());

  EXPECT_THAT(ItemNames(list), ElementsAreArray({ns()}));
}

TEST_F(FieldSelectorTest, SelectsServicesByType) {
  Post(Path("services"), {{"metadata", {{"name", "a"}}},
                          {"spec", {{"type", "ExternalName"}, {"externalName", "example.com"}}}});

  EXPECT_THAT(ItemNames(Get(Path("services") + "?fieldSelector=spec.type%3DExternalName")),
              ElementsAreArray({"a"}));
}

/// Fixture of tests of field selectors on two Events: "e1" regards Pod p1, "e2" regards Node n2.
class EventFieldSelectorTest : public FieldSelectorTest,
                               public ::testing::WithParamInterface<SelectorCase> {
 protected:
  EventFieldSelectorTest() {
    Create("e1", {{"kind", "Pod"}, {"name", "p1"}, {"uid", "u1"}, {"apiVersion", "v1"}}, "Started");
    Create("e2", {{"kind", "Node"}, {"name", "n2"}, {"fieldPath", "spec"}}, "Stopped");
  }

 private:
  void Create(const std::string& name, json involved_object, const std::string& reason) {
    involved_object["namespace"] = ns();
    Post(Path("events"), {{"metadata", {{"name", name}}},
                          {"involvedObject", involved_object},
                          {"reason", reason},
                          {"type", "Normal"},
                          {"source", {{"component", name + "-source"}}},
                          {"reportingComponent", name + "-reporter"}});
  }
};

TEST_P(EventFieldSelectorTest, EventFieldSelectorReturnsTheMatchingEvents) {
  const JsonResponse list = Get(Path("events") + "?fieldSelector=" + GetParam().selector);

  EXPECT_THAT(ItemNames(list), ElementsAreArray(GetParam().selected));
}

const SelectorCase event_selectors[] = {
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
INSTANTIATE_TEST_SUITE_P(, EventFieldSelectorTest, ::testing::ValuesIn(event_selectors),
                         [](const auto& selector) { return selector.param.test_name; });

TEST_F(EventFieldSelectorTest, EventsGroupSelectsByRegardingInsteadOfInvolvedObject) {
  const std::string events = Path("events.k8s.io/v1", "events");

  EXPECT_THAT(ItemNames(Get(events + "?fieldSelector=regarding.kind%3DPod")),
              ElementsAreArray({"e1"}));
}

/// A kind, a field that it does not support in selectors, and the expected message.
struct UnsupportedField {
  std::string test_name{};
  std::string group_version{};
  std::string plural{};
  std::string field{};
  std::string message{};

  friend void PrintTo(const UnsupportedField& unsupported, std::ostream* out) {
    *out << unsupported.plural;
  }
};

class UnsupportedFieldSelectorTest : public ConformanceTest,
                                     public ::testing::WithParamInterface<UnsupportedField> {};

TEST_P(UnsupportedFieldSelectorTest, UnsupportedFieldIsABadRequest) {
  const auto& [test, group_version, plural, field, message] = GetParam();
  const JsonResponse response =
      Get((group_version == "v1" ? Path(plural) : Path(group_version, plural)) +
          "?fieldSelector=" + field + "%3Dx");

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.reason(), "BadRequest");
  EXPECT_EQ(response.message(), message);
}

std::string OnlyMetadataFieldsSupported(const std::string& field) {
  return "\"" + field +
         "\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"";
}

const UnsupportedField unsupported_fields[] = {
    {"ConfigMap", "v1", "configmaps", "data.a", OnlyMetadataFieldsSupported("data.a")},
    {"MetadataUid", "v1", "configmaps", "metadata.uid",
     OnlyMetadataFieldsSupported("metadata.uid")},
    {"Deployment", "apps/v1", "deployments", "status.replicas",
     OnlyMetadataFieldsSupported("status.replicas")},
    {"ReplicaSet", "apps/v1", "replicasets", "status.replicas",
     OnlyMetadataFieldsSupported("status.replicas")},
    {"Pod", "v1", "pods", "spec.foo", "field label not supported: spec.foo"},
    {"Secret", "v1", "secrets", "foo", "field label not supported: foo"},
    {"Service", "v1", "services", "foo", "field label not supported: foo"},
    {"EventOfTheCoreGroup", "v1", "events", "regarding.kind",
     "field label not supported: regarding.kind"},
    {"EventOfTheEventsGroup", "events.k8s.io/v1", "events", "involvedObject.kind",
     "field label not supported: involvedObject.kind"},
    {"Job", "batch/v1", "jobs", "foo", "field label \"foo\" not supported for Job"},
};
INSTANTIATE_TEST_SUITE_P(, UnsupportedFieldSelectorTest, ::testing::ValuesIn(unsupported_fields),
                         [](const auto& unsupported) { return unsupported.param.test_name; });

}  // namespace
}  // namespace kopp::conformance
