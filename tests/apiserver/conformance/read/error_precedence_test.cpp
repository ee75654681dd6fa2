#include "conformance.hpp"

namespace kopp::conformance {
namespace {

/// A request with two errors, and the status of the error that the server reports. A ConfigMap "a"
/// exists.
struct RequestWithTwoErrors {
  std::string test_name{};
  std::string method{};
  std::string target{};  ///< follows "/api/v1/namespaces/"; a leading "NS" is the test's namespace
  std::string body{};
  std::string content_type{};
  int status = 0;

  friend void PrintTo(const RequestWithTwoErrors& request, std::ostream* out) {
    *out << request.method << ' ' << request.target << ' ' << request.body;
  }
};

class ErrorPrecedenceTest : public ConformanceTest,
                            public ::testing::WithParamInterface<RequestWithTwoErrors> {};

TEST_P(ErrorPrecedenceTest, OnlyTheFirstErrorIsReported) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  std::string target = GetParam().target;
  if (target.starts_with("NS")) target.replace(0, 2, ns());
  const JsonResponse response = Call({.method = GetParam().method,
                                      .target = "/api/v1/namespaces/" + target,
                                      .body = GetParam().body,
                                      .content_type = GetParam().content_type});

  EXPECT_EQ(response.status, GetParam().status) << response.text;
}

const std::string json_type = "application/json";
const std::string merge_patch_type = "application/merge-patch+json";
const RequestWithTwoErrors requests_with_two_errors[] = {
    {"MediaTypeBeforeInvalidOptions", "POST", "NS/configmaps?dryRun=x", "{}", "text/plain", 415},
    {"InvalidOptionsBeforeMalformedBody", "POST", "NS/configmaps?dryRun=x", "{", json_type, 422},
    {"MalformedBodyBeforeMissingNamespace", "POST", "none-there/configmaps", "{", json_type, 400},
    {"NamespaceMismatchBeforeMissingNamespace", "POST", "none-there/configmaps",
     R"({"metadata": {"name": "a", "namespace": "b"}})", json_type, 400},
    {"MissingNamespaceBeforeInvalidName", "POST", "none-there/configmaps",
     R"({"metadata": {"name": "A_"}})", json_type, 404},
    {"MissingNamespaceBeforeMissingName", "POST", "none-there/configmaps", "{}", json_type, 404},
    {"ValidationBeforeAlreadyExists", "POST", "NS/configmaps",
     R"({"metadata": {"name": "a", "labels": {"-": ""}}})", json_type, 422},
    {"ValidationBeforeResourceVersionOnCreate", "POST", "NS/configmaps",
     R"({"metadata": {"name": "A_", "resourceVersion": "5"}})", json_type, 422},
    {"ResourceVersionOnCreateBeforeAlreadyExists", "POST", "NS/configmaps",
     R"({"metadata": {"name": "a", "resourceVersion": "5"}})", json_type, 500},
    {"StaleResourceVersionBeforeValidation", "PUT", "NS/configmaps/a",
     R"({"metadata": {"name": "a", "resourceVersion": "5", "labels": {"-": ""}}})", json_type, 409},
    {"UidMismatchBeforeValidation", "PUT", "NS/configmaps/a",
     R"({"metadata": {"name": "a", "uid": "u", "labels": {"-": ""}}})", json_type, 409},
    {"StaleResourceVersionBeforeUidMismatchOfAPatch", "PATCH", "NS/configmaps/a",
     R"({"metadata": {"uid": "u", "resourceVersion": "5"}})", merge_patch_type, 409},
    {"PatchTypeBeforeMissingObject", "PATCH", "NS/configmaps/none", "{}", "text/plain", 415},
    {"MissingObjectBeforeMalformedPatch", "PATCH", "NS/configmaps/none", "{", merge_patch_type,
     404},
    {"InvalidOptionsBeforeMissingObject", "DELETE", "NS/configmaps/none?propagationPolicy=Bad", "",
     json_type, 422},
    {"MissingObjectBeforePreconditions", "DELETE", "NS/configmaps/none",
     R"({"preconditions": {"uid": "u"}})", json_type, 404},
};
INSTANTIATE_TEST_SUITE_P(, ErrorPrecedenceTest, ::testing::ValuesIn(requests_with_two_errors),
                         [](const auto& request) { return request.param.test_name; });

}  // namespace
}  // namespace kopp::conformance
