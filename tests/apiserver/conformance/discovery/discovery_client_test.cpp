#include "conformance.hpp"

#include <algorithm>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kopp/discovery.hpp>

namespace kopp::conformance {
namespace {

/// Requests legacy discovery, as if the server did not know aggregated discovery.
class LegacyTransport final : public Transport {
 public:
  explicit LegacyTransport(Transport& next) : next_(next) {}
  Response Call(const Request& request, std::stop_token stop) override {
    Request plain = request;
    plain.accept = "application/json";
    return next_.Call(plain, stop);
  }
  std::unique_ptr<Stream> Open(const Request& request, std::stop_token stop) override {
    return next_.Open(request, stop);
  }

 private:
  Transport& next_;
};

/// Returns the resources of all groups except those of the other tests' CRDs, which appear and
/// disappear with a delay. Sorts them, and their subresources.
std::vector<ApiResource> BuiltInResources(const std::vector<ApiGroup>& groups) {
  std::vector<ApiResource> resources;
  for (const ApiGroup& group : groups) {
    if (group.name.ends_with(".example.com")) continue;
    for (const ApiVersion& version : group.versions) {
      EXPECT_EQ(version.problem, "") << group.name;
      for (ApiResource resource : version.resources) {
        std::ranges::sort(resource.subresources);
        resources.push_back(std::move(resource));
      }
    }
  }
  std::ranges::sort(resources, {}, &ApiResource::kind);
  return resources;
}

using DiscoveryClientTest = ConformanceTest;

TEST_F(DiscoveryClientTest, AggregatedAndLegacyDiscoveryFindTheSameResources) {
  LegacyTransport legacy(ServerTransport());

  const auto aggregated_groups = DiscoveryClient(ServerTransport()).Groups();
  const auto legacy_groups = DiscoveryClient(legacy).Groups();

  EXPECT_EQ(BuiltInResources(aggregated_groups), BuiltInResources(legacy_groups));
  EXPECT_EQ(aggregated_groups.front().name, "");
  EXPECT_EQ(legacy_groups.front().name, "");
  EXPECT_GT(BuiltInResources(legacy_groups).size(), 30);
}

}  // namespace
}  // namespace kopp::conformance
