#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/discovery.hpp>
#include <kopp/informer/owning_kind.hpp>

namespace kopp::detail {

/// Compares the kinds of a program with those that the API server serves. Requests each version of
/// an API group once. Its functions block and throw as those of DiscoveryClient.
class ServedKinds {
 public:
  explicit ServedKinds(DiscoveryClient discovery) : discovery_(std::move(discovery)) {}

  /// Returns "" if the API server serves `kind`. Otherwise returns what differs (version, name,
  /// kind or scope) and what to do, as the end of a sentence that begins with "the API server".
  [[nodiscard]] std::string FindDifference(const OwningKind& kind);
  /// Returns "" if the API server serves the subresource of `kind`, such as "status", or does not
  /// serve the kind. Otherwise as FindDifference.
  [[nodiscard]] std::string FindMissingSubresource(const OwningKind& kind,
                                                   std::string_view subresource);

 private:
  const ApiResource* Find(const std::string& api_version, std::string_view plural);
  [[nodiscard]] std::vector<ApiGroup> Groups() const;
  [[nodiscard]] std::string ExplainMissing(const OwningKind& kind) const;

  DiscoveryClient discovery_;
  std::map<std::string, std::vector<ApiResource>, std::less<>> versions_;
};

}  // namespace kopp::detail
