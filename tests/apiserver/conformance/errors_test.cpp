#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::StartsWith;

/// A request that no handler takes. "NS" in the target stands for the test's namespace.
struct Stray {
  std::string test{};
  std::string method{};
  std::string target{};

  friend void PrintTo(const Stray& stray, std::ostream* out) {
    *out << stray.method << ' ' << stray.target;
  }
};

class StrayTest : public ConformanceTest, public ::testing::WithParamInterface<Stray> {
 protected:
  Answer Ask() {
    std::string target = GetParam().target;
    if (const auto at = target.find("NS"); at != std::string::npos) target.replace(at, 2, ns());
    const bool patch = GetParam().method == "PATCH";
    return Call({.method = GetParam().method,
                 .target = target,
                 .body = GetParam().method == "GET" ? "" : "{}",
                 .content_type = patch ? "application/merge-patch+json" : "application/json"});
  }
};

class NoSuchPathTest : public StrayTest {};

TEST_P(NoSuchPathTest, IsNotFoundWithoutDetails) {
  const Answer answer = Ask();

  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, R"({
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": "the server could not find the requested resource",
    "reason": "NotFound",
    "details": {},
    "code": 404
  })"_json);
}

const Stray no_such_paths[] = {
    {"ResourceOfTheCluster", "GET", "/api/v1/nothings"},
    {"ResourceInANamespace", "GET", "/api/v1/namespaces/NS/nothings"},
    {"ObjectOfAnUnknownResource", "GET", "/api/v1/namespaces/NS/nothings/x"},
    {"CreateOfAnUnknownResource", "POST", "/api/v1/namespaces/NS/nothings"},
    {"ResourceOfAnotherGroup", "GET", "/apis/apps/v1/namespaces/NS/configmaps"},
    {"VersionOfTheCoreGroup", "GET", "/api/v2/namespaces/NS/configmaps"},
    {"VersionOfAGroup", "GET", "/apis/apps/v9/deployments"},
    {"Subresource", "GET", "/api/v1/namespaces/NS/configmaps/a/nope"},
    {"StatusOfAKindThatHasNone", "GET", "/api/v1/namespaces/NS/configmaps/a/status"},
    {"ScaleOfAKindThatHasNone", "GET", "/apis/apps/v1/namespaces/NS/daemonsets/a/scale"},
    {"MorePartsThanAnySubresourceHas", "GET", "/api/v1/namespaces/NS/configmaps/a/x/y"},
    {"ClusterScopedKindInANamespace", "GET", "/api/v1/namespaces/NS/nodes"},
    {"NamespacedObjectWithoutANamespace", "GET", "/api/v1/configmaps/a"},
};
INSTANTIATE_TEST_SUITE_P(, NoSuchPathTest, ::testing::ValuesIn(no_such_paths),
                         [](const auto& stray) { return stray.param.test; });

class NoSuchVerbTest : public StrayTest {};

TEST_P(NoSuchVerbTest, IsNotAllowed) {
  const Answer answer = Ask();

  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.body, R"({
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": "the server does not allow this method on the requested resource",
    "reason": "MethodNotAllowed",
    "details": {},
    "code": 405
  })"_json);
}

const Stray no_such_verbs[] = {
    {"PutOfACollection", "PUT", "/api/v1/namespaces/NS/configmaps"},
    {"PatchOfACollection", "PATCH", "/api/v1/namespaces/NS/configmaps"},
    {"PostToAnObject", "POST", "/api/v1/namespaces/NS/configmaps/a"},
    {"CreateInAllNamespaces", "POST", "/api/v1/configmaps"},
    {"DeleteInAllNamespaces", "DELETE", "/api/v1/configmaps"},
    {"DeleteOfAllNamespaces", "DELETE", "/api/v1/namespaces"},
    {"DeleteOfAStatus", "DELETE", "/apis/apps/v1/namespaces/NS/deployments/a/status"},
    {"PostToAStatus", "POST", "/apis/apps/v1/namespaces/NS/deployments/a/status"},
    {"DeleteOfAScale", "DELETE", "/apis/apps/v1/namespaces/NS/deployments/a/scale"},
    {"PostToAVersion", "POST", "/apis/apps/v1"},
    {"AVerbThatHttpDoesNotKnow", "FOO", "/api/v1/namespaces/NS/configmaps"},
};
INSTANTIATE_TEST_SUITE_P(, NoSuchVerbTest, ::testing::ValuesIn(no_such_verbs),
                         [](const auto& stray) { return stray.param.test; });

class ErrorsTest : public ConformanceTest {};

TEST_F(ErrorsTest, AnUnknownGroupIsNotFoundInPlainText) {
  const Answer answer = Get("/apis/nope.example.com/v1/things");

  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.text, "404 page not found\n");
}

TEST_F(ErrorsTest, APathOutsideTheApiIsNotFoundInPlainText) {
  const Answer answer = Get("/nope");

  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.text, "404 page not found\n");
}

TEST_F(ErrorsTest, ASlashAtTheEndOfAPathIsPassedOver) {
  Post(Path("configmaps"), AConfigMap("a"));

  EXPECT_EQ(Get(Path("configmaps") + "/a/").name(), "a");
}

TEST_F(ErrorsTest, WhatIsNotThereIsNotFoundWithItsName) {
  const Answer answer = Get(Path("apps/v1", "deployments") + "/none");

  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, R"({
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": "deployments.apps \"none\" not found",
    "reason": "NotFound",
    "details": {"name": "none", "group": "apps", "kind": "deployments"},
    "code": 404
  })"_json);
}

TEST_F(ErrorsTest, InANamespaceThatIsNotThereOnlyTheObjectIsMissing) {
  const Answer answer = Get("/api/v1/namespaces/" + Unique("none") + "/configmaps/a");

  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.message(), R"(configmaps "a" not found)");
}

/// A media type that is not taken.
struct Media {
  std::string test{};
  std::string type{};

  friend void PrintTo(const Media& media, std::ostream* out) { *out << media.type; }
};

class ContentTypeTest : public ConformanceTest, public ::testing::WithParamInterface<Media> {};

TEST_P(ContentTypeTest, OfABodyIsNotSupported) {
  const Answer answer = Call({.method = "POST",
                              .target = Path("configmaps"),
                              .body = AConfigMap("a").dump(),
                              .content_type = GetParam().type});

  EXPECT_EQ(answer.status, 415);
  EXPECT_EQ(answer.reason(), "UnsupportedMediaType");
  EXPECT_THAT(answer.message(), StartsWith("the body of the request was in an unknown format - "
                                           "accepted media types include: application/json"));
}

const Media no_bodies[] = {
    {"Text", "text/plain"},
    {"APatch", "application/merge-patch+json"},
    {"NoMediaTypeAtAll", "bad"},
};
INSTANTIATE_TEST_SUITE_P(, ContentTypeTest, ::testing::ValuesIn(no_bodies),
                         [](const auto& media) { return media.param.test; });

class PatchTypeTest : public ConformanceTest, public ::testing::WithParamInterface<Media> {};

TEST_P(PatchTypeTest, IsNotSupported) {
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer answer = Call({.method = "PATCH",
                              .target = Path("configmaps") + "/a",
                              .body = "{}",
                              .content_type = GetParam().type});

  EXPECT_EQ(answer.status, 415);
  EXPECT_EQ(answer.reason(), "UnsupportedMediaType");
  EXPECT_EQ(answer.message(), "415: Unsupported Media Type");
}

const Media no_patches[] = {
    {"PlainJson", "application/json"},
    {"Text", "text/plain"},
    {"APatchOfAnotherWorld", "application/apply-patch+cbor"},
};
INSTANTIATE_TEST_SUITE_P(, PatchTypeTest, ::testing::ValuesIn(no_patches),
                         [](const auto& media) { return media.param.test; });

TEST_F(ErrorsTest, ACharsetMayFollowTheContentType) {
  const Answer made = Call({.method = "POST",
                            .target = Path("configmaps"),
                            .body = AConfigMap("a").dump(),
                            .content_type = "application/json; charset=utf-8"});

  EXPECT_EQ(made.status, 201);
}

class AcceptTest : public ConformanceTest, public ::testing::WithParamInterface<Media> {
 protected:
  AcceptTest() { Post(Path("configmaps"), AConfigMap("a")); }

  Answer Ask(const std::string& accept) {
    return Call({.target = Path("configmaps") + "/a", .accept = accept});
  }
};

class NotAcceptableTest : public AcceptTest {};

TEST_P(NotAcceptableTest, IsToldSo) {
  const Answer answer = Ask(GetParam().type);

  EXPECT_EQ(answer.status, 406);
  EXPECT_EQ(answer.reason(), "NotAcceptable");
  EXPECT_THAT(answer.message(),
              StartsWith("406: Not Acceptable\n\nAvailable representations: application/json"));
}

const Media not_acceptable[] = {
    {"Text", "text/plain"},
    {"Xml", "application/xml"},
    {"AnyApplication", "application/*"},
};
INSTANTIATE_TEST_SUITE_P(, NotAcceptableTest, ::testing::ValuesIn(not_acceptable),
                         [](const auto& media) { return media.param.test; });

TEST_P(AcceptTest, IsAnsweredInJson) {
  const Answer answer = Ask(GetParam().type);

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.str("/kind"), "ConfigMap");
}

const Media acceptable[] = {
    {"Anything", "*/*"},
    {"Nothing", ""},
    {"JsonAsTheSecondChoice", "text/plain, application/json"},
    {"JsonOfSomeQuality", "application/json;q=0.5"},
    {"AnythingOfLittleQuality", "text/plain;q=0.1, */*;q=0.01"},
    {"JsonWithAnUnknownParameter", "application/json;pretty=1"},
};
INSTANTIATE_TEST_SUITE_P(, AcceptTest, ::testing::ValuesIn(acceptable),
                         [](const auto& media) { return media.param.test; });

TEST_F(ErrorsTest, AnUnknownFormOfAnObjectIsNotAcceptable) {
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer answer = Call({.target = Path("configmaps") + "/a",
                              .accept = "application/json;as=Nope;v=v1;g=meta.k8s.io"});

  EXPECT_EQ(answer.status, 406);
  EXPECT_EQ(answer.reason(), "NotAcceptable");
  EXPECT_THAT(answer.message(),
              StartsWith("only the following media types are accepted: application/json"));
}

}  // namespace
}  // namespace kopp::conformance
