#include "conformance.hpp"

namespace kopp::conformance {
namespace {

class NamespaceTest : public ConformanceTest {
 protected:
  std::string NamespacePath() { return "/api/v1/namespaces/" + ns(); }
  JsonResponse RemoveSpecFinalizers() {
    return Put(NamespacePath() + "/finalize",
               {{"metadata", {{"name", ns()}}}, {"spec", {{"finalizers", json::array()}}}});
  }
};

TEST_F(NamespaceTest, NewNamespaceIsActiveAndHasItsNameAsALabel) {
  const JsonResponse response = Get(NamespacePath());

  EXPECT_EQ(response.at("/metadata/labels"), json({{"kubernetes.io/metadata.name", ns()}}));
  EXPECT_EQ(response.at("/spec"), json({{"finalizers", {"kubernetes"}}}));
  EXPECT_EQ(response.at("/status"), json({{"phase", "Active"}}));
}

TEST_F(NamespaceTest, RemovedNameLabelIsRestored) {
  const JsonResponse patched = MergePatch(
      NamespacePath(), {{"metadata", {{"labels", {{"kubernetes.io/metadata.name", nullptr}}}}}});

  EXPECT_EQ(patched.at("/metadata/labels"), json({{"kubernetes.io/metadata.name", ns()}}));
}

TEST_F(NamespaceTest, SpecFinalizersOfTheClientAreKeptNextToTheDefaultOne) {
  const JsonResponse created =
      Post("/api/v1/namespaces", {{"metadata", {{"name", UniqueName("conformance")}}},
                                  {"spec", {{"finalizers", {"example.com/x"}}}}});

  EXPECT_EQ(created.at("/spec/finalizers"), json({"example.com/x", "kubernetes"}));
}

TEST_F(NamespaceTest, PatchChangesNeitherSpecFinalizersNorPhase) {
  const JsonResponse patched = MergePatch(
      NamespacePath(), {{"spec", {{"finalizers", nullptr}}}, {"status", {{"phase", "Gone"}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/spec/finalizers"), json({"kubernetes"}));
  EXPECT_EQ(patched.str("/status/phase"), "Active");
}

TEST_F(NamespaceTest, DeletedNamespaceWithContentIsTerminating) {
  // The finalizer of this ConfigMap keeps any namespace controller from completing the deletion.
  Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"finalizers", {"example.com/x"}}}}});
  const JsonResponse deleted = Delete(NamespacePath());

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.str("/kind"), "Namespace");
  EXPECT_NE(deleted.str("/metadata/deletionTimestamp"), "");
  EXPECT_EQ(deleted.at("/metadata/deletionGracePeriodSeconds"), nullptr);
  EXPECT_EQ(deleted.str("/status/phase"), "Terminating");
  EXPECT_EQ(Get(NamespacePath()).str("/status/phase"), "Terminating");
}

/// Fixture of tests of a terminating namespace. It still exists because the ConfigMap "a" in it has
/// a finalizer.
class TerminatingNamespaceTest : public NamespaceTest {
 protected:
  TerminatingNamespaceTest() {
    Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"finalizers", {"example.com/x"}}}}});
    Delete(NamespacePath());
  }
};

TEST_F(TerminatingNamespaceTest, CreateIsForbidden) {
  const JsonResponse response = Post(Path("configmaps"), MakeConfigMap("b"));

  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(response.reason(), "Forbidden");
  EXPECT_EQ(response.message(),
            "configmaps \"b\" is forbidden: unable to create new content in namespace " + ns() +
                " because it is being terminated");
  EXPECT_EQ(
      response.at("/details"),
      json({{"name", "b"},
            {"kind", "configmaps"},
            {"causes", json::array({{{"reason", "NamespaceTerminating"},
                                     {"message", "namespace " + ns() + " is being terminated"},
                                     {"field", "metadata.namespace"}}})}}));
}

TEST_F(TerminatingNamespaceTest, ApplyOfAMissingObjectIsForbidden) {
  const JsonResponse applied = Apply(
      Path("configmaps") + "/b",
      {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "b"}}}}, "manager-1");

  EXPECT_EQ(applied.status, 403);
  EXPECT_EQ(applied.reason(), "Forbidden");
}

TEST_F(TerminatingNamespaceTest, ExistingObjectCanBePatched) {
  EXPECT_EQ(MergePatch(Path("configmaps") + "/a", {{"data", {{"k", "v"}}}}).status, 200);
}

TEST_F(TerminatingNamespaceTest,
       CreateWithTheNameOfATerminatingNamespaceIsRejectedWithAlreadyExists) {
  const JsonResponse response = Post("/api/v1/namespaces", {{"metadata", {{"name", ns()}}}});

  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.reason(), "AlreadyExists");
  EXPECT_EQ(response.message(),
            "object is being deleted: namespaces \"" + ns() + "\" already exists");
}

TEST_F(NamespaceTest, FinalizeSubresourceAllowsNeitherGetNorPatch) {
  EXPECT_EQ(Get(NamespacePath() + "/finalize").status, 405);
  EXPECT_EQ(MergePatch(NamespacePath() + "/finalize", json::object()).status, 405);
}

TEST_F(TerminatingNamespaceTest, NamespaceIsDeletedOnceItsSpecFinalizersAreRemoved) {
  Delete(Path("configmaps") + "/a");
  MergePatch(Path("configmaps") + "/a", {{"metadata", {{"finalizers", nullptr}}}});
  RemoveSpecFinalizers();

  EXPECT_EQ(Get(NamespacePath()).status, 404);
}

class SystemNamespaceTest : public ConformanceTest,
                            public ::testing::WithParamInterface<std::string> {};

TEST_P(SystemNamespaceTest, DeleteIsForbidden) {
  const JsonResponse deleted = Delete("/api/v1/namespaces/" + GetParam());

  EXPECT_EQ(deleted.status, 403);
  EXPECT_EQ(deleted.reason(), "Forbidden");
  EXPECT_EQ(deleted.message(),
            "namespaces \"" + GetParam() + "\" is forbidden: this namespace may not be deleted");
}

INSTANTIATE_TEST_SUITE_P(, SystemNamespaceTest,
                         ::testing::Values("default", "kube-system", "kube-public"),
                         [](const auto& name) {
                           return name.param == "default" ? std::string("Default")
                                                          : "Kube" + name.param.substr(5);
                         });

TEST_F(NamespaceTest, DeleteWithAPreconditionOnAnotherUidIsAConflict) {
  const JsonResponse deleted = Delete(NamespacePath(), {{"preconditions", {{"uid", "x"}}}});

  EXPECT_EQ(deleted.status, 409);
  EXPECT_EQ(deleted.message(), "Operation cannot be fulfilled on namespaces \"" + ns() +
                                   "\": Precondition failed: UID in precondition: x, UID in "
                                   "object meta: " +
                                   Get(NamespacePath()).str("/metadata/uid"));
}

}  // namespace
}  // namespace kopp::conformance
