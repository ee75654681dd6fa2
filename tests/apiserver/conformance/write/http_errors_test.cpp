#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::StartsWith;

/// A request that the server does not support. "NS" in the target stands for the test namespace.
struct UnsupportedRequest {
  std::string test_name{};
  std::string method{};
  std::string target{};

  friend void PrintTo(const UnsupportedRequest& request, std::ostream* out) {
    *out << request.method << ' ' << request.target;
  }
};

class UnsupportedRequestTest : public ConformanceTest,
                               public ::testing::WithParamInterface<UnsupportedRequest> {
 protected:
  JsonResponse Send() {
    std::string target = GetParam().target;
    if (const auto position = target.find("NS"); position != std::string::npos) {
      target.replace(position, 2, ns());
    }
    const bool is_patch = GetParam().method == "PATCH";
    return Call({.method = GetParam().method,
                 .target = target,
                 .body = GetParam().method == "GET" ? "" : "{}",
                 .content_type = is_patch ? "application/merge-patch+json" : "application/json"});
  }
};

class UnknownResourcePathTest : public UnsupportedRequestTest {};

TEST_P(UnknownResourcePathTest, RequestToAnUnknownResourcePathReturnsNotFoundWithoutDetails) {
  const JsonResponse response = Send();

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, R"({
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

const UnsupportedRequest unknown_resource_paths[] = {
    {"UnknownClusterResource", "GET", "/api/v1/nothings"},
    {"UnknownNamespacedResource", "GET", "/api/v1/namespaces/NS/nothings"},
    {"ObjectOfAnUnknownResource", "GET", "/api/v1/namespaces/NS/nothings/x"},
    {"CreateOfAnUnknownResource", "POST", "/api/v1/namespaces/NS/nothings"},
    {"ResourceOfAnotherGroup", "GET", "/apis/apps/v1/namespaces/NS/configmaps"},
    {"UnknownVersionOfTheCoreGroup", "GET", "/api/v2/namespaces/NS/configmaps"},
    {"UnknownVersionOfANamedGroup", "GET", "/apis/apps/v9/deployments"},
    {"UnknownSubresource", "GET", "/api/v1/namespaces/NS/configmaps/a/nope"},
    {"StatusOfAKindWithoutStatus", "GET", "/api/v1/namespaces/NS/configmaps/a/status"},
    {"ScaleOfAKindWithoutScale", "GET", "/apis/apps/v1/namespaces/NS/daemonsets/a/scale"},
    {"TooManyPathSegments", "GET", "/api/v1/namespaces/NS/configmaps/a/x/y"},
    {"ClusterScopedKindInANamespace", "GET", "/api/v1/namespaces/NS/nodes"},
    {"NamespacedObjectWithoutANamespace", "GET", "/api/v1/configmaps/a"},
};
INSTANTIATE_TEST_SUITE_P(, UnknownResourcePathTest, ::testing::ValuesIn(unknown_resource_paths),
                         [](const auto& request) { return request.param.test_name; });

class UnsupportedVerbTest : public UnsupportedRequestTest {};

TEST_P(UnsupportedVerbTest, RequestWithAnUnsupportedVerbReturnsMethodNotAllowed) {
  const JsonResponse response = Send();

  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.body, R"({
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

const UnsupportedRequest unsupported_verbs[] = {
    {"PutToACollection", "PUT", "/api/v1/namespaces/NS/configmaps"},
    {"PatchToACollection", "PATCH", "/api/v1/namespaces/NS/configmaps"},
    {"PostToAnObject", "POST", "/api/v1/namespaces/NS/configmaps/a"},
    {"CreateInAllNamespaces", "POST", "/api/v1/configmaps"},
    {"DeleteCollectionInAllNamespaces", "DELETE", "/api/v1/configmaps"},
    {"DeleteCollectionOfNamespaces", "DELETE", "/api/v1/namespaces"},
    {"DeleteOfAStatus", "DELETE", "/apis/apps/v1/namespaces/NS/deployments/a/status"},
    {"PostToAStatus", "POST", "/apis/apps/v1/namespaces/NS/deployments/a/status"},
    {"DeleteOfAScale", "DELETE", "/apis/apps/v1/namespaces/NS/deployments/a/scale"},
    {"PostToAnApiVersion", "POST", "/apis/apps/v1"},
    {"UnknownHttpMethod", "FOO", "/api/v1/namespaces/NS/configmaps"},
};
INSTANTIATE_TEST_SUITE_P(, UnsupportedVerbTest, ::testing::ValuesIn(unsupported_verbs),
                         [](const auto& request) { return request.param.test_name; });

class HttpRequestTest : public ConformanceTest {};

TEST_F(HttpRequestTest, GetInAnUnknownApiGroupReturnsNotFoundInPlainText) {
  const JsonResponse response = Get("/apis/nope.example.com/v1/things");

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.text, "404 page not found\n");
}

TEST_F(HttpRequestTest, GetOfAPathOutsideTheApiReturnsNotFoundInPlainText) {
  const JsonResponse response = Get("/nope");

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.text, "404 page not found\n");
}

TEST_F(HttpRequestTest, TrailingSlashOfAPathIsIgnored) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  EXPECT_EQ(Get(Path("configmaps") + "/a/").name(), "a");
}

TEST_F(HttpRequestTest, GetOfAMissingObjectReturnsNotFoundWithNameGroupAndKind) {
  const JsonResponse response = Get(Path("apps/v1", "deployments") + "/none");

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, R"({
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

TEST_F(HttpRequestTest, GetInAMissingNamespaceReportsTheObjectAsNotFound) {
  const JsonResponse response = Get("/api/v1/namespaces/" + UniqueName("none") + "/configmaps/a");

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.message(), R"(configmaps "a" not found)");
}

/// The value of a Content-Type or Accept header.
struct MediaType {
  std::string test_name{};
  std::string type{};

  friend void PrintTo(const MediaType& media_type, std::ostream* out) { *out << media_type.type; }
};

class UnsupportedContentTypeTest : public ConformanceTest,
                                   public ::testing::WithParamInterface<MediaType> {};

TEST_P(UnsupportedContentTypeTest, CreateIsRejectedAsUnsupportedMediaType) {
  const JsonResponse response = Call({.method = "POST",
                                      .target = Path("configmaps"),
                                      .body = MakeConfigMap("a").dump(),
                                      .content_type = GetParam().type});

  EXPECT_EQ(response.status, 415);
  EXPECT_EQ(response.reason(), "UnsupportedMediaType");
  EXPECT_THAT(response.message(), StartsWith("the body of the request was in an unknown format - "
                                             "accepted media types include: application/json"));
}

const MediaType unsupported_content_types[] = {
    {"PlainText", "text/plain"},
    {"PatchType", "application/merge-patch+json"},
    {"MalformedMediaType", "bad"},
};
INSTANTIATE_TEST_SUITE_P(, UnsupportedContentTypeTest,
                         ::testing::ValuesIn(unsupported_content_types),
                         [](const auto& media_type) { return media_type.param.test_name; });

class UnsupportedPatchTypeTest : public ConformanceTest,
                                 public ::testing::WithParamInterface<MediaType> {};

TEST_P(UnsupportedPatchTypeTest, PatchIsRejectedAsUnsupportedMediaType) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse response = Call({.method = "PATCH",
                                      .target = Path("configmaps") + "/a",
                                      .body = "{}",
                                      .content_type = GetParam().type});

  EXPECT_EQ(response.status, 415);
  EXPECT_EQ(response.reason(), "UnsupportedMediaType");
  EXPECT_EQ(response.message(), "415: Unsupported Media Type");
}

const MediaType unsupported_patch_types[] = {
    {"PlainJson", "application/json"},
    {"PlainText", "text/plain"},
    {"ApplyPatchInCbor", "application/apply-patch+cbor"},
};
INSTANTIATE_TEST_SUITE_P(, UnsupportedPatchTypeTest, ::testing::ValuesIn(unsupported_patch_types),
                         [](const auto& media_type) { return media_type.param.test_name; });

TEST_F(HttpRequestTest, ContentTypeWithACharsetIsAccepted) {
  const JsonResponse created = Call({.method = "POST",
                                     .target = Path("configmaps"),
                                     .body = MakeConfigMap("a").dump(),
                                     .content_type = "application/json; charset=utf-8"});

  EXPECT_EQ(created.status, 201);
}

class AcceptHeaderTest : public ConformanceTest, public ::testing::WithParamInterface<MediaType> {
 protected:
  AcceptHeaderTest() { Post(Path("configmaps"), MakeConfigMap("a")); }

  JsonResponse Send(const std::string& accept) {
    return Call({.target = Path("configmaps") + "/a", .accept = accept});
  }
};

class UnsupportedAcceptHeaderTest : public AcceptHeaderTest {};

TEST_P(UnsupportedAcceptHeaderTest, RequestIsNotAcceptable) {
  const JsonResponse response = Send(GetParam().type);

  EXPECT_EQ(response.status, 406);
  EXPECT_EQ(response.reason(), "NotAcceptable");
  EXPECT_THAT(response.message(),
              StartsWith("406: Not Acceptable\n\nAvailable representations: application/json"));
}

const MediaType unsupported_accept_headers[] = {
    {"PlainText", "text/plain"},
    {"Xml", "application/xml"},
    {"AnyApplicationType", "application/*"},
};
INSTANTIATE_TEST_SUITE_P(, UnsupportedAcceptHeaderTest,
                         ::testing::ValuesIn(unsupported_accept_headers),
                         [](const auto& media_type) { return media_type.param.test_name; });

TEST_P(AcceptHeaderTest, GetWithAnAcceptedMediaTypeReturnsJson) {
  const JsonResponse response = Send(GetParam().type);

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.str("/kind"), "ConfigMap");
}

const MediaType json_accept_headers[] = {
    {"AnyType", "*/*"},
    {"EmptyHeader", ""},
    {"JsonAsTheSecondChoice", "text/plain, application/json"},
    {"JsonWithAQuality", "application/json;q=0.5"},
    {"AnyTypeWithALowQuality", "text/plain;q=0.1, */*;q=0.01"},
    {"JsonWithAnUnknownParameter", "application/json;pretty=1"},
};
INSTANTIATE_TEST_SUITE_P(, AcceptHeaderTest, ::testing::ValuesIn(json_accept_headers),
                         [](const auto& media_type) { return media_type.param.test_name; });

TEST_F(HttpRequestTest, UnknownRepresentationInTheAcceptHeaderIsNotAcceptable) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse response = Call({.target = Path("configmaps") + "/a",
                                      .accept = "application/json;as=Nope;v=v1;g=meta.k8s.io"});

  EXPECT_EQ(response.status, 406);
  EXPECT_EQ(response.reason(), "NotAcceptable");
  EXPECT_THAT(response.message(),
              StartsWith("only the following media types are accepted: application/json"));
}

}  // namespace
}  // namespace kopp::conformance
