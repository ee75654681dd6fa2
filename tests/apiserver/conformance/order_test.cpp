#include "conformance.hpp"

namespace kopp::conformance {
namespace {

/// A request with two faults, and the one that is told. There is a ConfigMap "a".
struct Faults {
  std::string test{};
  std::string method{};
  std::string target{};  ///< after "/api/v1/namespaces/"; "NS" stands for the test's namespace
  std::string body{};
  std::string content_type{};
  int status = 0;

  friend void PrintTo(const Faults& faults, std::ostream* out) {
    *out << faults.method << ' ' << faults.target << ' ' << faults.body;
  }
};

class OrderOfFaultsTest : public ConformanceTest, public ::testing::WithParamInterface<Faults> {};

TEST_P(OrderOfFaultsTest, TheFirstIsTold) {
  Post(Path("configmaps"), AConfigMap("a"));
  std::string target = GetParam().target;
  if (target.starts_with("NS")) target.replace(0, 2, ns());
  const Answer answer = Call({.method = GetParam().method,
                              .target = "/api/v1/namespaces/" + target,
                              .body = GetParam().body,
                              .content_type = GetParam().content_type});

  EXPECT_EQ(answer.status, GetParam().status) << answer.text;
}

const std::string json_type = "application/json";
const std::string merge_patch_type = "application/merge-patch+json";
const Faults all_faults[] = {
    {"MediaTypeBeforeOptions", "POST", "NS/configmaps?dryRun=x", "{}", "text/plain", 415},
    {"OptionsBeforeTheBody", "POST", "NS/configmaps?dryRun=x", "{", json_type, 422},
    {"BodyBeforeTheNamespace", "POST", "none-there/configmaps", "{", json_type, 400},
    {"NamespaceInTheBodyBeforeTheOneInThePath", "POST", "none-there/configmaps",
     R"({"metadata": {"name": "a", "namespace": "b"}})", json_type, 400},
    {"NamespaceBeforeTheName", "POST", "none-there/configmaps", R"({"metadata": {"name": "A_"}})",
     json_type, 404},
    {"NamespaceBeforeAMissingName", "POST", "none-there/configmaps", "{}", json_type, 404},
    {"ValidationBeforeConflict", "POST", "NS/configmaps",
     R"({"metadata": {"name": "a", "labels": {"-": ""}}})", json_type, 422},
    {"ValidationBeforeAVersion", "POST", "NS/configmaps",
     R"({"metadata": {"name": "A_", "resourceVersion": "5"}})", json_type, 422},
    {"AVersionBeforeConflict", "POST", "NS/configmaps",
     R"({"metadata": {"name": "a", "resourceVersion": "5"}})", json_type, 500},
    {"StaleVersionBeforeValidation", "PUT", "NS/configmaps/a",
     R"({"metadata": {"name": "a", "resourceVersion": "5", "labels": {"-": ""}}})", json_type, 409},
    {"UidBeforeValidation", "PUT", "NS/configmaps/a",
     R"({"metadata": {"name": "a", "uid": "u", "labels": {"-": ""}}})", json_type, 409},
    {"StaleVersionBeforeTheUidOfAPatch", "PATCH", "NS/configmaps/a",
     R"({"metadata": {"uid": "u", "resourceVersion": "5"}})", merge_patch_type, 409},
    {"PatchTypeBeforeTheObject", "PATCH", "NS/configmaps/none", "{}", "text/plain", 415},
    {"ObjectBeforeThePatch", "PATCH", "NS/configmaps/none", "{", merge_patch_type, 404},
    {"OptionsBeforeTheObject", "DELETE", "NS/configmaps/none?propagationPolicy=Bad", "", json_type,
     422},
    {"ObjectBeforePreconditions", "DELETE", "NS/configmaps/none",
     R"({"preconditions": {"uid": "u"}})", json_type, 404},
};
INSTANTIATE_TEST_SUITE_P(, OrderOfFaultsTest, ::testing::ValuesIn(all_faults),
                         [](const auto& faults) { return faults.param.test; });

}  // namespace
}  // namespace kopp::conformance
