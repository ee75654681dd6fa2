// Where kopp's server is meant to differ from the real one: framework/apiserver/DIFFERENCES.md.
#include "conformance.hpp"

namespace kopp::conformance {
namespace {

class DifferencesTest : public ConformanceTest {
 protected:
  /// `kopps` where kopp's server answers, `reals` where the real one does.
  template <typename T>
  static T Either(T kopps, T reals) {
    return IsReal() ? reals : kopps;
  }
};

TEST_F(DifferencesTest, NestingOfAThousandIsTooDeep) {
  const Answer made = Call({.method = "POST",
                            .target = Path("configmaps"),
                            .body = R"({"metadata":{"name":"a"},"x":)" + std::string(1000, '[') +
                                    std::string(1000, ']') + "}"});

  EXPECT_EQ(made.status, Either(400, 201));
}

TEST_F(DifferencesTest, WhatIsOwnedGoesWithItsOwner) {
  const Answer owner = Post(Path("configmaps"), AConfigMap("owner"));
  json child = AConfigMap("child");
  child["metadata"]["ownerReferences"] = {{{"apiVersion", "v1"},
                                           {"kind", "ConfigMap"},
                                           {"name", "owner"},
                                           {"uid", owner.str("/metadata/uid")}}};
  Post(Path("configmaps"), child);

  Delete(Path("configmaps") + "/owner");

  EXPECT_EQ(Get(Path("configmaps") + "/child").status, Either(404, 200));
}

TEST_F(DifferencesTest, AForegroundDeletionComesToItsEnd) {
  Post(Path("configmaps"), AConfigMap("a"));

  Delete(Path("configmaps") + "/a?propagationPolicy=Foreground");

  EXPECT_EQ(Get(Path("configmaps") + "/a").status, Either(404, 200));
}

TEST_F(DifferencesTest, ANamespaceEndsByItself) {
  const std::string self = "/api/v1/namespaces/" + ns();
  Post(Path("configmaps"), AConfigMap("a"));

  Delete(self);

  EXPECT_EQ(Get(self).status, Either(404, 200));
  EXPECT_EQ(Get(Path("configmaps") + "/a").status, Either(404, 200));
}

TEST_F(DifferencesTest, APodNeedsNoServiceAccount) {
  const Answer made = Post("/api/v1/namespaces/" + ns() + "/pods", APod("a"));

  EXPECT_EQ(made.status, Either(201, 403));
}

TEST_F(DifferencesTest, OpenApiIsNotServed) {
  EXPECT_EQ(Get("/openapi/v3").status, Either(404, 200));
}

}  // namespace
}  // namespace kopp::conformance
