// The kind Website in two versions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <kopp/framework.hpp>

namespace website {

struct Spec {
  std::string host{};
  std::string page{};
  std::optional<int> replicas{};
};
KOPP_FIELDS(Spec, KOPP_FIELD(host, MinLength(1), Doc("The name of the site in DNS.")),
            KOPP_FIELD(page, MinLength(1), Doc("The ConfigMap with index.html.")),
            KOPP_FIELD(replicas, Minimum(1), Doc("The number of Pods; default 1.")))

struct Status {
  std::vector<kopp::Condition> conditions{};
};
KOPP_FIELDS(Status, KOPP_FIELD(conditions, ListMapKeys("type")))

namespace v1 {
struct Website {
  static constexpr kopp::Kind kKind{"example.com/v1", "Website", "websites"};
  kopp::ObjectMeta metadata{};
  Spec spec{};
  Status status{};
};
KOPP_FIELDS(Website, metadata, spec, status)
KOPP_CRD(Website, StorageVersion(), StatusSubresource(),
         PrintColumn("Ready", "string", ".status.conditions[?(@.type=='Ready')].status"))
}  // namespace v1

// Has the fields of v1, so that no write through it deletes one of them.
namespace v1beta1 {
struct Website {
  static constexpr kopp::Kind kKind{"example.com/v1beta1", "Website", "websites"};
  kopp::ObjectMeta metadata{};
  Spec spec{};
  Status status{};
};
KOPP_FIELDS(Website, metadata, spec, status)
KOPP_CRD(Website, Deprecated("use example.com/v1"), StatusSubresource())
}  // namespace v1beta1

}  // namespace website
