// The health endpoints, /metrics and deprecation warnings.
#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using VerboseHealthTest = ConformanceTest;

TEST_F(VerboseHealthTest, AVerboseHealthCheckListsItsChecks) {
  for (const std::string name : {"livez", "healthz", "readyz"}) {
    const JsonResponse response = Get("/" + name + "?verbose");

    EXPECT_EQ(response.status, 200);
    EXPECT_THAT(response.text, StartsWith("[+]ping ok\n[+]log ok\n[+]etcd ok\n"));
    EXPECT_THAT(response.text, EndsWith(" ok\n" + name + " check passed\n"));
  }
}

TEST_F(VerboseHealthTest, ReadinessHasMoreChecksThanLiveness) {
  EXPECT_THAT(Get("/readyz?verbose").text, HasSubstr("[+]informer-sync ok\n"));
  EXPECT_THAT(Get("/livez?verbose").text, Not(HasSubstr("\n[+]informer-sync")));
  EXPECT_EQ(Get("/readyz/informer-sync").text, "ok");
  EXPECT_EQ(Get("/livez/informer-sync").status, 404);
}

TEST_F(VerboseHealthTest, ExcludedChecksAreMarked) {
  EXPECT_THAT(Get("/livez?verbose&exclude=ping").text,
              StartsWith("[+]ping excluded: ok\n[+]log ok\n"));
  EXPECT_THAT(Get("/livez?verbose&exclude=x&exclude=a").text,
              EndsWith("warn: some health checks cannot be excluded: no matches for \"a\",\"x\"\n"
                       "livez check passed\n"));
  EXPECT_EQ(Get("/livez?exclude=ping").text, "ok");
}

TEST_F(VerboseHealthTest, HealthChecksAcceptEachMethod) {
  EXPECT_EQ(Call({.method = "POST", .target = "/livez"}).text, "ok");
}

using MetricsTest = ConformanceTest;

TEST_F(MetricsTest, MetricsCountTheRequestsOfEachVerb) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  Get(Path("configmaps"));
  Get(Path("configmaps") + "/none");
  Delete(Path("configmaps"));
  const auto counter = [](const std::string& code, const std::string& scope,
                          const std::string& verb) {
    return "\napiserver_request_total{code=\"" + code +
           "\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"configmaps\",scope=\"" +
           scope + "\",subresource=\"\",verb=\"" + verb + "\",version=\"v1\"} ";
  };

  const JsonResponse metrics = Get("/metrics");

  EXPECT_EQ(metrics.status, 200);
  EXPECT_THAT(metrics.text, HasSubstr("# TYPE apiserver_request_total counter\n"));
  EXPECT_THAT(metrics.text, HasSubstr(counter("201", "resource", "POST")));
  EXPECT_THAT(metrics.text, HasSubstr(counter("200", "namespace", "LIST")));
  EXPECT_THAT(metrics.text, HasSubstr(counter("404", "resource", "GET")));
  EXPECT_THAT(metrics.text, HasSubstr(counter("200", "namespace", "DELETE")));
}

using DeprecationTest = ConformanceTest;

TEST_F(DeprecationTest, RequestsForEndpointsReturnADeprecationWarning) {
  const std::string warning =
      "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";

  EXPECT_THAT(Post(Path("endpoints"), MakeObjectWithName("a")).warnings, ElementsAre(warning));
  EXPECT_THAT(Get(Path("endpoints")).warnings, ElementsAre(warning));
  EXPECT_THAT(Get(Path("endpoints") + "/none").warnings, ElementsAre(warning));
}

}  // namespace
}  // namespace kopp::conformance
