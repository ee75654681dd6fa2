#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/client_options.hpp>
#include <kopp/detail/any_client.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/informer/unstructured.hpp>
#include <kopp/patch.hpp>
#include <kopp/scale.hpp>
#include <kopp/watch.hpp>

namespace kopp {

/// The calls of a Client for one kind that is only known at run time; see Client for what they do
/// and throw. Created by Client::Dynamic. Cheap to copy. Thread-safe. The transport of the client
/// must outlive all copies. Go: dynamic.ResourceInterface of client-go.
///
///     const auto deployments = client.Dynamic(mapper.ForResource("deployments.apps").kind);
///     const auto web = deployments.Get({"shop", "web"});
///     if (web) std::cout << web->At("/spec/replicas") << '\n';
///
/// The objects have all their fields, also metadata.managedFields. To change one, change the result
/// of Unstructured::Json, and write it with Update. A call decodes only the metadata of a response:
/// DecodeError for the rest comes from the functions of Unstructured.
class DynamicClient {
 public:
  [[nodiscard]] const OwningKind& kind() const { return kind_; }

  [[nodiscard]] std::optional<Unstructured> Get(const ObjectKey& key,
                                                const GetOptions& options = {}) const;
  [[nodiscard]] std::vector<Unstructured> List(const Selector& selector = {},
                                               const ListOptions& options = {}) const;
  [[nodiscard]] kopp::ListPage<Unstructured> ListPage(const Selector& selector = {},
                                                      ListOptions options = {}) const;
  void ForEach(const Selector& selector, const std::function<void(Unstructured)>& visit,
               ListOptions options = {}) const;
  [[nodiscard]] Watcher<Unstructured> Watch(const Selector& selector,
                                            const WatchOptions& options) const;
  Unstructured Create(const nlohmann::json& object, const WriteOptions& options = {}) const;
  Unstructured Update(const nlohmann::json& object, const WriteOptions& options = {}) const;
  Unstructured UpdateStatus(const nlohmann::json& object, const WriteOptions& options = {}) const;
  Unstructured Patch(const ObjectKey& key, const kopp::Patch& patch,
                     const WriteOptions& options = {}) const;
  Unstructured PatchStatus(const ObjectKey& key, const kopp::Patch& patch,
                           const WriteOptions& options = {}) const;
  Unstructured Apply(const nlohmann::json& object, const ApplyOptions& options = {}) const;
  bool Delete(const ObjectKey& key, const DeleteOptions& options = {}) const;
  void DeleteAllOf(const Selector& selector, const DeleteOptions& options = {}) const;
  [[nodiscard]] std::optional<Scale> GetScale(const ObjectKey& key) const;
  Scale UpdateScale(const Scale& scale, const WriteOptions& options = {}) const;

 private:
  friend class Client;
  DynamicClient(AnyClient calls, OwningKind kind)
      : calls_(std::move(calls)), kind_(std::move(kind)) {}
  [[nodiscard]] Unstructured Written(const AnyClient::Written& written) const;

  AnyClient calls_;
  OwningKind kind_;
};

}  // namespace kopp
