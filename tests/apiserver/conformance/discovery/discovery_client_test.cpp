#include "conformance.hpp"

#include <algorithm>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <kopp/discovery.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::conformance {
namespace {

/// Requests legacy discovery, as if the server did not know aggregated discovery.
class LegacyTransport final : public Transport {
 public:
  explicit LegacyTransport(Transport& next) : next_(next) {}
  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    ApiRequest plain = request;
    plain.accept = "application/json";
    return next_.Call(plain, stop);
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    return next_.Open(request, stop);
  }

 private:
  Transport& next_;
};

/// Returns the resources of all groups in one order, and the problems of the versions.
std::vector<ApiResource> AllResources(const std::vector<ApiGroup>& groups, std::string& problems) {
  std::vector<ApiResource> resources;
  for (const ApiGroup& group : groups) {
    for (const ApiVersion& version : group.versions) {
      if (!version.problem.empty()) problems += group.name + ": " + version.problem + "\n";
      for (ApiResource resource : version.resources) {
        std::ranges::sort(resource.subresources);
        resources.push_back(std::move(resource));
      }
    }
  }
  std::ranges::sort(resources, {}, [](const ApiResource& resource) {
    return std::pair(resource.kind.api_version, resource.kind.plural);
  });
  return resources;
}

using DiscoveryClientTest = ConformanceTest;

TEST_F(DiscoveryClientTest, AggregatedAndLegacyDiscoveryFindTheSameResources) {
  LegacyTransport legacy(ServerTransport());
  // The CRDs of earlier tests appear in and disappear from the two forms at different times.
  const TimePoint deadline = Clock::Real().Now() + 30s;
  std::vector<ApiGroup> aggregated_groups;
  std::vector<ApiGroup> legacy_groups;
  std::vector<ApiResource> aggregated_resources;
  std::vector<ApiResource> legacy_resources;
  std::string problems;
  while (true) {
    problems.clear();
    aggregated_groups = DiscoveryClient(ServerTransport()).Groups();
    legacy_groups = DiscoveryClient(legacy).Groups();
    aggregated_resources = AllResources(aggregated_groups, problems);
    legacy_resources = AllResources(legacy_groups, problems);
    if (aggregated_resources == legacy_resources && problems.empty()) break;
    if (Clock::Real().Now() > deadline) break;
    std::this_thread::sleep_for(20ms);
  }

  EXPECT_EQ(aggregated_resources, legacy_resources);
  EXPECT_EQ(problems, "");
  EXPECT_EQ(aggregated_groups.front().name, "");
  EXPECT_EQ(legacy_groups.front().name, "");
  EXPECT_GT(legacy_resources.size(), 30);
}

}  // namespace
}  // namespace kopp::conformance
