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

const std::string kJson = "application/json";
const std::string kMergePatch = "application/merge-patch+json";
const Faults kFaults[] = {
    {"MediaTypeBeforeOptions", "POST", "NS/configmaps?dryRun=x", "{}", "text/plain", 415},
    {"OptionsBeforeTheBody", "POST", "NS/configmaps?dryRun=x", "{", kJson, 422},
    {"BodyBeforeTheNamespace", "POST", "none-there/configmaps", "{", kJson, 400},
    {"NamespaceInTheBodyBeforeTheOneInThePath", "POST", "none-there/configmaps",
     R"({"metadata": {"name": "a", "namespace": "b"}})", kJson, 400},
    {"NamespaceBeforeTheName", "POST", "none-there/configmaps", R"({"metadata": {"name": "A_"}})",
     kJson, 404},
    {"NamespaceBeforeAMissingName", "POST", "none-there/configmaps", "{}", kJson, 404},
    {"ValidationBeforeConflict", "POST", "NS/configmaps",
     R"({"metadata": {"name": "a", "labels": {"-": ""}}})", kJson, 422},
    {"ValidationBeforeAVersion", "POST", "NS/configmaps",
     R"({"metadata": {"name": "A_", "resourceVersion": "5"}})", kJson, 422},
    {"AVersionBeforeConflict", "POST", "NS/configmaps",
     R"({"metadata": {"name": "a", "resourceVersion": "5"}})", kJson, 500},
    {"StaleVersionBeforeValidation", "PUT", "NS/configmaps/a",
     R"({"metadata": {"name": "a", "resourceVersion": "5", "labels": {"-": ""}}})", kJson, 409},
    {"UidBeforeValidation", "PUT", "NS/configmaps/a",
     R"({"metadata": {"name": "a", "uid": "u", "labels": {"-": ""}}})", kJson, 409},
    {"StaleVersionBeforeTheUidOfAPatch", "PATCH", "NS/configmaps/a",
     R"({"metadata": {"uid": "u", "resourceVersion": "5"}})", kMergePatch, 409},
    {"PatchTypeBeforeTheObject", "PATCH", "NS/configmaps/none", "{}", "text/plain", 415},
    {"ObjectBeforeThePatch", "PATCH", "NS/configmaps/none", "{", kMergePatch, 404},
    {"OptionsBeforeTheObject", "DELETE", "NS/configmaps/none?propagationPolicy=Bad", "", kJson,
     422},
    {"ObjectBeforePreconditions", "DELETE", "NS/configmaps/none",
     R"({"preconditions": {"uid": "u"}})", kJson, 404},
};
INSTANTIATE_TEST_SUITE_P(, OrderOfFaultsTest, ::testing::ValuesIn(kFaults),
                         [](const auto& faults) { return faults.param.test; });

}  // namespace
}  // namespace kopp::conformance
