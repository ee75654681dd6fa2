#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/client_options.hpp>
#include <kopp/detail/any_client.hpp>
#include <kopp/detail/client_checks.hpp>
#include <kopp/foreign_object_error.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/patch.hpp>
#include <kopp/pod_logs.hpp>
#include <kopp/read_your_writes.hpp>
#include <kopp/scale.hpp>
#include <kopp/transport.hpp>
#include <kopp/watch.hpp>

namespace kopp {

class DynamicClient;
class Tracer;
class WriteListener;
struct SpanContext;

/// Reads and writes objects at the API server. Each call sends at least one HTTP request; nothing
/// is cached. Cheap to copy. Thread-safe. The transport must outlive all copies.
///
/// Each call blocks, up to TransportOptions::call_timeout for each request. A call throws
/// - ApiError for an error status; Get and Delete report a missing object by their return value,
/// - TransportError if there is no complete response, for example because of a timeout or a stop,
/// - DecodeError if the response does not fit the view,
/// - nlohmann::json::exception if JSON to write has text that is not UTF-8 (nothing is sent),
/// - ForeignObjectError if an object to apply, update or replace exists without its controller,
/// - std::invalid_argument, before anything is sent, if an object to write is not a JSON object, or
///   if a name, namespace or subresource is missing, is not allowed for the kind or for this
///   client, or would change the URL path.
/// The client does not retry, but List may read pages again, and the transport may retry: see
/// RetryingTransport. In a reconciler let the exception escape, and the queue retries.
///
/// Create and Apply take JSON, or, as Replace, a typed object, such as kopp::Deployment, and send
/// what Encode() writes: plain numbers and booleans always, other fields if they are set; text that
/// is not UTF-8 is replaced by U+FFFD. A view, which has only some fields of its kind, does not
/// compile; see IsView. Missing `apiVersion` and `kind` of the kind, or of the subresource, are
/// added. To change some fields, use Apply or Patch, or change the JSON with CreateOrUpdate.
class Client {
 public:
  /// `field_manager` becomes the owner of the written fields, see metadata.managedFields. After a
  /// stop request, all calls throw TransportError (kCancelled).
  explicit Client(Transport& transport, std::string field_manager = "kopp",
                  std::stop_token stop = {})
      : calls_(transport, std::move(field_manager), std::move(stop)) {}

  // Copies of this client with another default. The options of a call have precedence, except that
  // all writes of a client WithDryRun are dry runs.

  /// Returns a copy whose calls are cancelled by `stop` instead.
  [[nodiscard]] Client With(std::stop_token stop) const;
  [[nodiscard]] const std::stop_token& stop() const { return calls_.stop_; }
  /// Returns the transport. Its calls are not cancelled by stop() and have none of the defaults.
  [[nodiscard]] Transport& transport() const { return *calls_.transport_; }
  /// Returns the owner of the fields that the calls write.
  [[nodiscard]] const std::string& field_manager() const { return calls_.field_manager_; }
  /// Returns a copy that writes as `field_manager`. Its applies take over what the `former` field
  /// managers had applied, with one more request at the first apply to an object; not in dry runs
  /// and calls with a field manager of their own. See "Change the field manager" in docs/client.md.
  [[nodiscard]] Client WithFieldManager(std::string field_manager,
                                        std::vector<std::string> former = {}) const;
  /// Without it, FieldValidation::kWarn.
  [[nodiscard]] Client WithFieldValidation(FieldValidation validation) const;
  [[nodiscard]] Client WithDryRun() const;
  /// Returns a copy for one namespace, which objects, lists and watches without one get. Calls for
  /// another one throw std::invalid_argument; cluster-scoped kinds are not affected. Throws the
  /// same if this client has another namespace. controller-runtime: client.NewNamespacedClient.
  [[nodiscard]] Client InNamespace(const std::string& ns) const;
  /// Returns a copy that reports its writes to `observer`, which must outlive all copies; not dry
  /// runs. The client of a Manager reports to its cache.
  [[nodiscard]] Client WithWriteObserver(WriteObserver& observer) const;
  /// Returns a copy whose calls have spans below `parent`; see Tracer. `tracer` must outlive all
  /// copies. Context::client has the span of the reconcile.
  [[nodiscard]] Client WithTracing(Tracer& tracer, const SpanContext& parent) const;

  /// Returns nullopt if the API server does not have the object or does not serve the kind (404).
  template <ApiObject T>
  [[nodiscard]] std::optional<T> Get(const ObjectKey& key, const GetOptions& options = {}) const {
    const auto text = calls_.Get(T::kKind, key, options);
    return text ? std::optional<T>(Decode<T>(*text)) : std::nullopt;
  }
  /// Reads the whole list, in pages of options.limit objects, or fewer if a page is larger than
  /// TransportOptions::max_body. If the list expires between two pages, reads it again from the
  /// start, up to three times. With options.continue_token, reads the rest of a list, once.
  template <ApiObject T>
  [[nodiscard]] std::vector<T> List(const Selector& selector = {},
                                    const ListOptions& options = {}) const {
    return detail::DecodeAll<T>(calls_.List(T::kKind, selector, options));
  }
  /// Reads one page of a list. Throws ApiError with IsGone() if the list has expired since its
  /// first page, which happens after 5 to 10 minutes.
  template <ApiObject T>
  [[nodiscard]] kopp::ListPage<T> ListPage(const Selector& selector = {},
                                           ListOptions options = {}) const {
    const auto page = calls_.ReadPage(T::kKind, selector, options);
    return {detail::DecodeAll<T>(page.objects), page.continue_token, page.remaining,
            page.resource_version};
  }
  /// Calls `visit` for the objects of a list page by page, so only one page is in memory. Throws
  /// ApiError with IsGone() if the list expires meanwhile, and what `visit` throws.
  template <ApiObject T>
  void ForEach(const Selector& selector, const std::function<void(T)>& visit,
               ListOptions options = {}) const {
    do {
      for (const std::string& text : calls_.ReadPage(T::kKind, selector, options).objects)
        visit(Decode<T>(text));
    } while (!options.continue_token.empty());
  }
  /// Reports the changes after a version of a list. Does not send a request: Watcher::Next does.
  template <ApiObject T>
  [[nodiscard]] Watcher<T> Watch(const Selector& selector, const WatchOptions& options) const {
    return Watcher<T>(calls_.Watch(T::kKind, DecodeAny<T>, selector, options));
  }

  /// POSTs the object and returns it as the API server stored it.
  template <ApiObject T>
  T Create(const nlohmann::json& object, const WriteOptions& options = {}) const {
    return calls_.Decoded<T>(calls_.Create(T::kKind, object, options));
  }
  /// Create() of a typed object. `int...` prevents explicit template arguments, so that
  /// Create<T>({…}) is the overload for JSON.
  template <int..., ApiObject T>
    requires detail::HasFieldList<T>
  T Create(const T& object, const WriteOptions& options = {}) const {
    detail::RequireAllFields<T>();
    return calls_.Decoded<T>(calls_.CreateEncoded(T::kKind, Encode(object), options));
  }
  /// Create(object) with an explicit type.
  template <ApiObject T>
  T Create(const std::same_as<T> auto& object, const WriteOptions& options = {}) const {
    return Create(object, options);
  }
  /// PUTs the whole object. With metadata.resourceVersion, a concurrent change causes an ApiError
  /// with IsConflict(); without it, the object overwrites concurrent changes.
  template <ApiObject T>
  T Update(const nlohmann::json& object, const WriteOptions& options = {}) const {
    return calls_.Decoded<T>(calls_.Update(T::kKind, object, options));
  }
  /// Not for a struct: it may lack fields that a newer API server has, and a PUT would remove them.
  template <int..., ApiObject T>
  T Update(const T& object, const WriteOptions& options = {}) const = delete;
  template <ApiObject T>
  T Update(const std::same_as<T> auto& object, const WriteOptions& options = {}) const = delete;
  /// PUTs a typed object, all of which is desired state: fields that it does not set or does not
  /// have are removed or get their defaults. metadata.resourceVersion has the effect as in Update.
  template <int..., ApiObject T>
    requires detail::HasFieldList<T>
  T Replace(const T& object, const WriteOptions& options = {}) const {
    detail::RequireAllFields<T>();
    return calls_.Decoded<T>(calls_.UpdateEncoded(T::kKind, Encode(object), options));
  }
  /// Update() of the status subresource: the API server ignores changes of the spec.
  template <ApiObject T>
  T UpdateStatus(const nlohmann::json& object, const WriteOptions& options = {}) const {
    return Update<T>(object, AnyClient::OfStatus(options));
  }
  /// Changes the object and returns the result.
  template <ApiObject T>
  T Patch(const ObjectKey& key, const kopp::Patch& patch, const WriteOptions& options = {}) const {
    return calls_.Decoded<T>(calls_.Patch(T::kKind, key, patch, options));
  }
  /// Patch() of the status subresource: the API server ignores changes of the spec.
  template <ApiObject T>
  T PatchStatus(const ObjectKey& key, const kopp::Patch& patch,
                const WriteOptions& options = {}) const {
    return Patch<T>(key, patch, AnyClient::OfStatus(options));
  }
  /// Server-side apply: creates the object, or sets the fields of `object` and removes those that
  /// this field manager applied before. Takes over fields of other managers, unless options.force
  /// is false, but no object of others: see ApplyOptions::adopt.
  template <ApiObject T>
  T Apply(const nlohmann::json& object, const ApplyOptions& options = {}) const {
    return calls_.Decoded<T>(calls_.Apply(T::kKind, object, options));
  }
  /// Apply() of a typed object: `client.Apply(deployment)`.
  template <int..., ApiObject T>
    requires detail::HasFieldList<T>
  T Apply(const T& object, const ApplyOptions& options = {}) const {
    detail::RequireAllFields<T>();
    return calls_.Decoded<T>(calls_.ApplyEncoded(T::kKind, Encode(object), options));
  }
  /// Apply(object) with an explicit type.
  template <ApiObject T>
  T Apply(const std::same_as<T> auto& object, const ApplyOptions& options = {}) const {
    return Apply(object, options);
  }
  /// Server-side apply of `status` to the status subresource of `object`. Throws ApiError if the
  /// object was deleted, or deleted and created again with another uid.
  template <ApiObject T>
  T ApplyStatus(const T& object, const decltype(T::status)& status,
                const ApplyOptions& options = {}) const {
    return calls_.Decoded<T>(
        calls_.ApplyStatusEncoded(T::kKind, object.metadata, Encode(status), options));
  }
  template <ApiObject T, typename Status>
    requires(!detail::kIsStatusOf<Status, T>)
  T ApplyStatus(const T& object, const Status&, const ApplyOptions& = {}) const {
    detail::RequireStatusOf<Status, T>();
    return object;
  }
  /// Returns false if the object does not exist, or if the API server does not serve the kind. An
  /// object with finalizers still exists after the call, with metadata.deletionTimestamp set.
  template <ApiObject T>
  bool Delete(const ObjectKey& key, const DeleteOptions& options = {}) const {
    return calls_.Delete(T::kKind, key, options);
  }
  /// Deletes the selected objects of one namespace, or of a cluster-scoped kind, with one request.
  /// Throws std::invalid_argument for a namespaced kind without a namespace, and for a
  /// cluster-scoped kind with one.
  template <ApiObject T>
  void DeleteAllOf(const Selector& selector, const DeleteOptions& options = {}) const {
    calls_.DeleteAllOf(T::kKind, selector, options);
  }

  /// Reads the subresource scale. Returns nullopt if the API server does not have it (404).
  template <ApiObject T>
  [[nodiscard]] std::optional<Scale> GetScale(const ObjectKey& key) const {
    return calls_.GetScale(T::kKind, key);
  }
  /// Sets the number of replicas to scale.spec.replicas and returns the new Scale. If
  /// metadata.resourceVersion is set, a concurrent change causes an ApiError with IsConflict().
  template <ApiObject T>
  Scale UpdateScale(const Scale& scale, const WriteOptions& options = {}) const {
    return calls_.UpdateScale(T::kKind, scale, options);
  }
  /// Opens the log of a container of the Pod `key`. Blocks until the API server responds.
  [[nodiscard]] PodLogStream PodLogs(const ObjectKey& key, const PodLogOptions& options = {}) const;

  /// Returns these calls for a kind that is only known at run time; see <kopp/dynamic_client.hpp>.
  [[nodiscard]] DynamicClient Dynamic(OwningKind kind) const;

 private:
  friend Client WithWriteListener(const Client& client, std::shared_ptr<WriteListener> listener);
  AnyClient calls_;
};

}  // namespace kopp
