#include "conformance.hpp"

namespace kopp::conformance {
namespace {

class NamespacesTest : public ConformanceTest {
 protected:
  std::string Self() { return "/api/v1/namespaces/" + ns(); }
  Answer Finalize() {
    return Put(Self() + "/finalize",
               {{"metadata", {{"name", ns()}}}, {"spec", {{"finalizers", json::array()}}}});
  }
};

TEST_F(NamespacesTest, ANewOneIsActiveAndHasItsNameAsALabel) {
  const Answer one = Get(Self());

  EXPECT_EQ(one.at("/metadata/labels"), json({{"kubernetes.io/metadata.name", ns()}}));
  EXPECT_EQ(one.at("/spec"), json({{"finalizers", {"kubernetes"}}}));
  EXPECT_EQ(one.at("/status"), json({{"phase", "Active"}}));
}

TEST_F(NamespacesTest, TheLabelWithItsNameComesBack) {
  const Answer patched =
      MergePatch(Self(), {{"metadata", {{"labels", {{"kubernetes.io/metadata.name", nullptr}}}}}});

  EXPECT_EQ(patched.at("/metadata/labels"), json({{"kubernetes.io/metadata.name", ns()}}));
}

TEST_F(NamespacesTest, OwnFinalizersInTheSpecAreKeptBesideTheServers) {
  const Answer made = Post("/api/v1/namespaces", {{"metadata", {{"name", Unique("conformance")}}},
                                                  {"spec", {{"finalizers", {"example.com/x"}}}}});

  EXPECT_EQ(made.at("/spec/finalizers"), json({"example.com/x", "kubernetes"}));
}

TEST_F(NamespacesTest, AnUpdateChangesNeitherFinalizersOfTheSpecNorPhase) {
  const Answer patched =
      MergePatch(Self(), {{"spec", {{"finalizers", nullptr}}}, {"status", {{"phase", "Gone"}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/spec/finalizers"), json({"kubernetes"}));
  EXPECT_EQ(patched.str("/status/phase"), "Active");
}

TEST_F(NamespacesTest, DeletedItIsTerminating) {
  // Something in it keeps a namespace controller from ending it, where there is one.
  Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"finalizers", {"example.com/x"}}}}});
  const Answer deleted = Delete(Self());

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.str("/kind"), "Namespace");
  EXPECT_NE(deleted.str("/metadata/deletionTimestamp"), "");
  EXPECT_EQ(deleted.at("/metadata/deletionGracePeriodSeconds"), nullptr);
  EXPECT_EQ(deleted.str("/status/phase"), "Terminating");
  EXPECT_EQ(Get(Self()).str("/status/phase"), "Terminating");
}

/// A namespace on its way, with a ConfigMap "a" that keeps it.
class TerminatingTest : public NamespacesTest {
 protected:
  TerminatingTest() {
    Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"finalizers", {"example.com/x"}}}}});
    Delete(Self());
  }
};

TEST_F(TerminatingTest, NothingNewMayBeCreated) {
  const Answer made = Post(Path("configmaps"), AConfigMap("b"));

  EXPECT_EQ(made.status, 403);
  EXPECT_EQ(made.reason(), "Forbidden");
  EXPECT_EQ(made.message(),
            "configmaps \"b\" is forbidden: unable to create new content in namespace " + ns() +
                " because it is being terminated");
  EXPECT_EQ(
      made.at("/details"),
      json({{"name", "b"},
            {"kind", "configmaps"},
            {"causes", json::array({{{"reason", "NamespaceTerminating"},
                                     {"message", "namespace " + ns() + " is being terminated"},
                                     {"field", "metadata.namespace"}}})}}));
}

TEST_F(TerminatingTest, ApplyMayNotCreateEither) {
  const Answer applied =
      Apply(Path("configmaps") + "/b",
            {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "b"}}}}, "boss");

  EXPECT_EQ(applied.status, 403);
  EXPECT_EQ(applied.reason(), "Forbidden");
}

TEST_F(TerminatingTest, WhatIsThereMayStillChange) {
  EXPECT_EQ(MergePatch(Path("configmaps") + "/a", {{"data", {{"k", "v"}}}}).status, 200);
}

TEST_F(TerminatingTest, ItsNameIsStillTaken) {
  const Answer made = Post("/api/v1/namespaces", {{"metadata", {{"name", ns()}}}});

  EXPECT_EQ(made.status, 409);
  EXPECT_EQ(made.message(), "object is being deleted: namespaces \"" + ns() + "\" already exists");
}

TEST_F(NamespacesTest, ItsFinalizersAreOnlyWritten) {
  EXPECT_EQ(Get(Self() + "/finalize").status, 405);
  EXPECT_EQ(MergePatch(Self() + "/finalize", json::object()).status, 405);
}

TEST_F(TerminatingTest, WithoutFinalizersInItsSpecItIsGone) {
  Delete(Path("configmaps") + "/a");
  MergePatch(Path("configmaps") + "/a", {{"metadata", {{"finalizers", nullptr}}}});
  Finalize();

  EXPECT_EQ(Get(Self()).status, 404);
}

class ProtectedTest : public ConformanceTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(ProtectedTest, MayNotBeDeleted) {
  const Answer deleted = Delete("/api/v1/namespaces/" + GetParam());

  EXPECT_EQ(deleted.status, 403);
  EXPECT_EQ(deleted.reason(), "Forbidden");
  EXPECT_EQ(deleted.message(),
            "namespaces \"" + GetParam() + "\" is forbidden: this namespace may not be deleted");
}

INSTANTIATE_TEST_SUITE_P(, ProtectedTest,
                         ::testing::Values("default", "kube-system", "kube-public"),
                         [](const auto& name) {
                           return name.param == "default" ? std::string("Default")
                                                          : "Kube" + name.param.substr(5);
                         });

TEST_F(NamespacesTest, AnotherUidIsAConflict) {
  const Answer deleted = Delete(Self(), {{"preconditions", {{"uid", "x"}}}});

  EXPECT_EQ(deleted.status, 409);
  EXPECT_EQ(deleted.message(), "Operation cannot be fulfilled on namespaces \"" + ns() +
                                   "\": Precondition failed: UID in precondition: x, UID in "
                                   "object meta: " +
                                   Get(Self()).str("/metadata/uid"));
}

}  // namespace
}  // namespace kopp::conformance
