#pragma once

#include "storage/server_context.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/informer/selector.hpp>
#include <kopp/testing/webhook_call.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// The writes that a webhook is called for.
struct WebhookRule {
  /// A resource such as "pods", "pods/status", "*" or "*/*".
  struct ResourcePattern {
    std::string plural{};
    std::string subresource{};
  };
  std::vector<std::string> operations{};
  std::vector<std::string> groups{};
  std::vector<std::string> versions{};
  std::vector<ResourcePattern> resources{};
  std::string scope = "*";
};

/// A webhook of a stored configuration, with its defaults.
struct ConfiguredWebhook {
  std::string name{};
  std::vector<WebhookRule> rules{};
  bool matches_equivalent = true;  ///< matchPolicy
  bool fails_open = false;         ///< failurePolicy Ignore
  bool reinvoked = false;          ///< reinvocationPolicy IfNeeded
  LabelSelector namespace_selector{};
  LabelSelector object_selector{};
  std::string review_version{};  ///< "v1", "v1beta1", or "" if none of the versions is known
  testing::WebhookCall call{};   ///< without the body
};

/// The webhooks of all stored configurations of one type. Each state of the configurations is
/// parsed once. Thread-safe. `context` must outlive it.
class WebhookConfigurations {
 public:
  WebhookConfigurations(ServerContext& context, const std::string& storage_resource)
      : context_(context),
        storage_resource_(storage_resource),
        listener_(context.store(), storage_resource, [this] { ++writes_; }) {}

  /// Reads one number as long as no configuration has ever been written.
  [[nodiscard]] bool empty() { return writes_ == 0 || Get()->empty(); }
  /// Returns the webhooks in the order of the names of their configurations. Never null.
  [[nodiscard]] std::shared_ptr<const std::vector<ConfiguredWebhook>> Get();

 private:
  struct Parsed {
    unsigned writes = 0;  // at the time of the parsing
    std::shared_ptr<const std::vector<ConfiguredWebhook>> webhooks =
        std::make_shared<const std::vector<ConfiguredWebhook>>();
  };

  ServerContext& context_;
  const std::string storage_resource_;
  std::atomic<unsigned> writes_ = 0;  // number of writes of configurations
  detail::Guarded<Parsed> parsed_;
  Store::Listener listener_;  // last, because its callback uses the members above
};

inline constexpr const char* kMutatingConfigurations =
    "mutatingwebhookconfigurations.admissionregistration.k8s.io";
inline constexpr const char* kValidatingConfigurations =
    "validatingwebhookconfigurations.admissionregistration.k8s.io";

}  // namespace kopp::apiserver
