#pragma once

#include "api/extensions.hpp"
#include "api/request.hpp"
#include "api/resource.hpp"
#include "storage/store.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <kopp/testing/webhook_call.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// What the users of a server may do. By default, everything.
struct AccessRules {
  bool uses_rbac = false;                ///< requests are authorized by RBAC
  bool checks_owner_references = false;  ///< see CheckOwnerReferences
};

/// The state that all handlers share: clock, random numbers, store, served resources and
/// credentials. Thread-safe. The clock must outlive the context. Throws std::invalid_argument
/// without a catalog.
class ServerContext {
 public:
  ServerContext(Clock& clock, std::uint64_t seed, Store::Options options, AccessRules access,
                Extensions extensions, testing::WebhookCaller call_webhook = {})
      : clock_(clock),
        store_(options),
        random_(seed),
        catalog_(extensions.catalog),
        access_(access),
        extensions_(std::move(extensions)),
        call_webhook_(std::move(call_webhook)) {
    if (extensions_.catalog == nullptr) throw std::invalid_argument("the server needs a catalog");
  }

  [[nodiscard]] Clock& clock() { return clock_; }
  [[nodiscard]] Store& store() { return store_; }
  [[nodiscard]] bool uses_rbac() const { return access_.uses_rbac; }
  [[nodiscard]] bool checks_owner_references() const { return access_.checks_owner_references; }
  [[nodiscard]] const Extensions& extensions() const { return extensions_; }
  [[nodiscard]] const testing::WebhookCaller& call_webhook() const { return call_webhook_; }
  /// Returns the secret key that signs the tokens of ServiceAccounts. Each context has its own.
  [[nodiscard]] const std::string& token_key() const { return token_key_; }

  /// Makes `token` a credential of `user`.
  void AddBearerToken(const std::string& token, const User& user);
  /// Returns the user for whom AddBearerToken was called, or nothing.
  [[nodiscard]] std::optional<User> FindBearerToken(std::string_view token);

  /// Returns the resources that are served now.
  [[nodiscard]] std::shared_ptr<const Catalog> catalog() { return *catalog_.Lock(); }
  /// Replaces the served versions of a storage resource. An empty list stops serving it.
  void SetServedVersions(const std::string& storage_resource, std::vector<ResourcePtr> versions);

  /// Returns the wall clock time plus `offset` as RFC 3339: "2026-01-02T03:04:05Z".
  [[nodiscard]] std::string Now(Duration offset = {});
  /// Returns the wall clock time with microseconds: "2026-01-02T03:04:05.000006Z".
  [[nodiscard]] std::string NowInMicroseconds();
  /// Returns a random UUID (version 4).
  [[nodiscard]] std::string NewUid();
  /// Returns `prefix` and five random characters, like metadata.generateName. The alphabet has no
  /// vowels, so no words result. A prefix that is too long is cut.
  [[nodiscard]] std::string GenerateName(const std::string& prefix);

 private:
  [[nodiscard]] static std::string NewTokenKey();

  Clock& clock_;
  Store store_;
  detail::Guarded<std::mt19937_64> random_;
  detail::Guarded<std::shared_ptr<const Catalog>> catalog_;
  const AccessRules access_;
  const Extensions extensions_;
  const testing::WebhookCaller call_webhook_;
  const std::string token_key_ = NewTokenKey();
  detail::Guarded<std::map<std::string, User, std::less<>>> users_by_token_;
};

}  // namespace kopp::apiserver
