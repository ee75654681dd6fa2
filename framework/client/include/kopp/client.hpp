#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/client_options.hpp>
#include <kopp/foreign_object_error.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/k8s/view.hpp>
#include <kopp/patch.hpp>
#include <kopp/pod_logs.hpp>
#include <kopp/read_your_writes.hpp>
#include <kopp/scale.hpp>
#include <kopp/transport.hpp>
#include <kopp/watch.hpp>

namespace kopp {

class Tracer;
class WriteListener;
struct ClientWrite;
struct SpanContext;

namespace detail {
struct ClientTracing;
class OwnedUids;
struct FormerFieldManager;
/// Whether `T` has a member `status` to which a `Status` converts.
template <typename Status, typename T>
constexpr bool kIsStatusOf =
    requires { requires std::is_convertible_v<Status, decltype(T::status)>; };
}  // namespace detail

/// Reads and writes objects at the API server. Each call sends at least one HTTP request; nothing
/// is cached. Cheap to copy. Thread-safe. The transport must outlive all copies.
///
/// Each call blocks until the response has arrived, up to TransportOptions::call_timeout for each
/// request. A call throws
/// - ApiError if the API server returns an error status; but Get and Delete report a missing object
///   by their return value,
/// - TransportError if there is no complete response, for example because of a timeout or a stop,
/// - DecodeError if the response does not fit the view,
/// - nlohmann::json::exception if an object to write has text that is not UTF-8 (nothing is sent),
///   or, from the overloads that return JSON, if the response is not JSON,
/// - ForeignObjectError if an object to apply, update or replace exists without its controller,
/// - std::invalid_argument, before anything is sent, if an object to write is not a JSON object, or
///   if a name, namespace or subresource is missing, is not allowed for the kind or for this
///   client, or would change the URL path.
/// The client does not retry a failed call, except that List may read pages again. The transport
/// may: see RetryingTransport, which the client of a Manager uses. In a reconciler let the
/// exception escape, and the queue retries.
///
/// Create, Apply and Replace take a typed object, such as kopp::Deployment, or JSON. They do not
/// compile with a view, which has only some fields of its kind; see IsView. Update takes only JSON:
/// a PUT replaces the whole object, so a struct for an older API server would remove the fields
/// that it does not have. Write the fields to set with Apply or Patch, or change the JSON of the
/// whole object with CreateOrUpdate. Replace sends a struct with PUT. If an object to
/// write has no `apiVersion` or `kind`, the client adds those of its kind or, for the subresources
/// scale, eviction, token and binding, those of the subresource.
class Client {
 public:
  /// `field_manager` becomes the owner of the written fields, see metadata.managedFields. After a
  /// stop request, all calls throw TransportError (kCancelled).
  explicit Client(Transport& transport, std::string field_manager = "kopp",
                  std::stop_token stop = {});

  // Copies of this client with another default. The options of a call have precedence, except that
  // all writes of a client WithDryRun are dry runs.

  /// Returns a copy whose calls are cancelled by `stop` instead.
  [[nodiscard]] Client With(std::stop_token stop) const;
  /// Returns the stop token that cancels the calls.
  [[nodiscard]] const std::stop_token& stop() const { return stop_; }
  /// Returns the transport of the calls, for example for a DiscoveryClient. Its calls are neither
  /// cancelled by stop() nor changed by the defaults of this client.
  [[nodiscard]] Transport& transport() const { return *transport_; }
  /// Returns the owner of the fields that the calls write.
  [[nodiscard]] const std::string& field_manager() const { return field_manager_; }
  /// Returns a copy that writes as `field_manager`. Its applies take over what the `former` field
  /// managers had applied to the same object and subresource, as if the name had not changed:
  /// fields that are not applied any more are removed, and the former managers own nothing any
  /// more. That costs one request, at the first apply that writes the object; see
  /// "Change the field manager" in docs/client.md. It does not apply to dry runs and to calls with
  /// a field manager of their own. Context::client takes over what kopp 0.1 had applied.
  [[nodiscard]] Client WithFieldManager(std::string field_manager,
                                        std::vector<std::string> former = {}) const;
  /// The default is FieldValidation::kWarn.
  [[nodiscard]] Client WithFieldValidation(FieldValidation validation) const;
  [[nodiscard]] Client WithDryRun() const;
  /// Returns a copy for one namespace. It adds the namespace where it is missing: lists and watches
  /// are restricted to it, and objects are written to it. Calls for another namespace throw
  /// std::invalid_argument. Cluster-scoped kinds are not affected. Throws std::invalid_argument if
  /// this client has another namespace. Go: client.NewNamespacedClient of controller-runtime.
  [[nodiscard]] Client InNamespace(const std::string& ns) const;
  /// Returns a copy that reports its writes to `observer`, which must outlive all copies; not dry
  /// runs. The client of a Manager reports to its cache.
  [[nodiscard]] Client WithWriteObserver(WriteObserver& observer) const;
  /// Returns a copy whose calls have spans below `parent`; see Tracer. `tracer` must outlive all
  /// copies. Context::client has the span of the reconcile.
  [[nodiscard]] Client WithTracing(Tracer& tracer, const SpanContext& parent) const;

  /// Returns nullopt if the object does not exist, or if the API server does not serve the kind: it
  /// returns 404 for both.
  template <ApiObject T>
  [[nodiscard]] std::optional<T> Get(const ObjectKey& key, const GetOptions& options = {}) const {
    const auto text = GetText(T::kKind, key, options);
    return text ? std::optional<T>(Decode<T>(*text)) : std::nullopt;
  }
  /// Reads the whole list, in pages of options.limit objects, or fewer if a page is larger than
  /// TransportOptions::max_body. If the list expires between two pages, reads it again from the
  /// start, up to three times. With options.continue_token, reads the rest of a list, once.
  template <ApiObject T>
  [[nodiscard]] std::vector<T> List(const Selector& selector = {},
                                    const ListOptions& options = {}) const {
    std::vector<T> objects;
    for (const std::string& text : ListTexts(T::kKind, selector, options)) {
      objects.push_back(Decode<T>(text));
    }
    return objects;
  }
  /// Reads one page of a list. Throws ApiError with IsGone() if the list has expired since its
  /// first page, which happens after 5 to 10 minutes.
  template <ApiObject T>
  [[nodiscard]] kopp::ListPage<T> ListPage(const Selector& selector = {},
                                           ListOptions options = {}) const {
    auto texts = ReadPage(T::kKind, selector, options);
    kopp::ListPage<T> page{{}, texts.continue_token, texts.remaining, texts.resource_version};
    for (const std::string& text : texts.objects) page.objects.push_back(Decode<T>(text));
    return page;
  }
  /// Reads a list page by page, and calls `visit` for each object before it reads the next page, so
  /// only one page is in memory. Throws ApiError with IsGone() if the list expires meanwhile, and
  /// what `visit` throws.
  template <ApiObject T>
  void ForEach(const Selector& selector, const std::function<void(T)>& visit,
               ListOptions options = {}) const {
    do {
      for (const std::string& text : ReadPage(T::kKind, selector, options).objects) {
        visit(Decode<T>(text));
      }
    } while (!options.continue_token.empty());
  }
  /// Reports the changes after a version of a list. Does not send a request: Watcher::Next does.
  template <ApiObject T>
  [[nodiscard]] Watcher<T> Watch(const Selector& selector, const WatchOptions& options) const {
    return Watcher<T>(WatchAny(T::kKind, DecodeAny<T>, selector, options));
  }

  /// POSTs the object and returns it as the API server stored it.
  template <ApiObject T>
  T Create(const nlohmann::json& object, const WriteOptions& options = {}) const {
    return DecodeWritten<T>(CreateText(T::kKind, object, options));
  }
  /// Create() of a typed object: `client.Create(deployment)`. Sends what Encode() writes: plain
  /// numbers and booleans are always sent, other fields if they are set.
  /// Text that is not UTF-8 is replaced by U+FFFD.
  /// The pack is empty; it keeps this overload away from calls that name T, with an object in
  /// braces.
  template <int..., ApiObject T>
    requires detail::HasFieldList<T>
  T Create(const T& object, const WriteOptions& options = {}) const {
    static_assert(!IsView<T>(),
                  "Create: this struct is a view, which lists only some fields of its kind: build "
                  "the complete type, such as kopp::Pod, or use Patch");
    return DecodeWritten<T>(CreateEncoded(T::kKind, Encode(object), options));
  }
  /// PUTs the whole object. With metadata.resourceVersion, a concurrent change causes an ApiError
  /// with IsConflict(); without it, the object overwrites concurrent changes.
  template <ApiObject T>
  T Update(const nlohmann::json& object, const WriteOptions& options = {}) const {
    return DecodeWritten<T>(UpdateText(T::kKind, object, options));
  }
  /// Not available for a struct, which may not have all fields of the object: see above and
  /// Replace.
  template <int..., ApiObject T>
  T Update(const T& object, const WriteOptions& options = {}) const = delete;
  template <ApiObject T>
  T Update(const std::same_as<T> auto& object, const WriteOptions& options = {}) const = delete;
  /// PUTs a typed object: `client.Replace(deployment)`. Afterwards the object has exactly the
  /// fields that Encode() writes: all others are removed or get their defaults, also those that the
  /// struct does not have. Build the object from the desired state. metadata.resourceVersion has
  /// the same effect as in Update.
  template <int..., ApiObject T>
    requires detail::HasFieldList<T>
  T Replace(const T& object, const WriteOptions& options = {}) const {
    static_assert(!IsView<T>(),
                  "Replace: this struct is a view, which lists only some fields of its kind: build "
                  "the complete type, such as kopp::Pod, or use Patch");
    return DecodeWritten<T>(UpdateEncoded(T::kKind, Encode(object), options));
  }
  /// Update() of the status subresource: the API server ignores changes of the spec.
  template <ApiObject T>
  T UpdateStatus(const nlohmann::json& object, const WriteOptions& options = {}) const {
    return Update<T>(object, OfStatus(options));
  }
  /// Changes the object and returns the result.
  template <ApiObject T>
  T Patch(const ObjectKey& key, const kopp::Patch& patch, const WriteOptions& options = {}) const {
    return DecodeWritten<T>(PatchText(T::kKind, key, patch, options));
  }
  /// Patch() of the status subresource: the API server ignores changes of the spec.
  template <ApiObject T>
  T PatchStatus(const ObjectKey& key, const kopp::Patch& patch,
                const WriteOptions& options = {}) const {
    return Patch<T>(key, patch, OfStatus(options));
  }
  /// Server-side apply: creates the object, or sets the fields of `object`. Fields that this field
  /// manager applied before and that are not in `object` are removed. Takes over fields of other
  /// managers, unless options.force is false. Does not take over an object of others: see
  /// ApplyOptions::adopt.
  template <ApiObject T>
  T Apply(const nlohmann::json& object, const ApplyOptions& options = {}) const {
    return DecodeWritten<T>(ApplyText(T::kKind, object, options));
  }
  /// Apply() of a typed object: `client.Apply(deployment)`. Sends what Encode() writes: plain
  /// numbers and booleans are always sent, other fields if they are set.
  template <int..., ApiObject T>
    requires detail::HasFieldList<T>
  T Apply(const T& object, const ApplyOptions& options = {}) const {
    static_assert(!IsView<T>(),
                  "Apply: this struct is a view, which lists only some fields of its kind: build "
                  "the complete type, such as kopp::Pod, or use Patch or ApplyStatus");
    return DecodeWritten<T>(ApplyEncoded(T::kKind, Encode(object), options));
  }
  /// Server-side apply of `status` to the status subresource of `object`. Throws ApiError if the
  /// object was deleted, or deleted and created again with another uid.
  template <ApiObject T>
  T ApplyStatus(const T& object, const decltype(T::status)& status,
                const ApplyOptions& options = {}) const {
    return DecodeWritten<T>(ApplyStatusText(T::kKind, object.metadata, Encode(status), options));
  }
  /// Explains that `status` has a wrong type.
  template <ApiObject T, typename Status>
    requires(!detail::kIsStatusOf<Status, T>)
  T ApplyStatus(const T& object, const Status& /*status*/,
                const ApplyOptions& /*options*/ = {}) const {
    static_assert(detail::kIsStatusOf<Status, T>,
                  "ApplyStatus: the second argument must have the type of the member `status` of "
                  "the object, for example {.ready = true}");
    return object;
  }
  /// Returns false if the object does not exist, or if the API server does not serve the kind. An
  /// object with finalizers still exists after the call, with metadata.deletionTimestamp set.
  template <ApiObject T>
  bool Delete(const ObjectKey& key, const DeleteOptions& options = {}) const {
    return Delete(T::kKind, key, options);
  }
  /// Deletes all objects of a namespace, or of the cluster for a cluster-scoped kind, that match
  /// the selectors, with one request. Throws std::invalid_argument if a namespace is needed and not
  /// given.
  template <ApiObject T>
  void DeleteAllOf(const Selector& selector, const DeleteOptions& options = {}) const {
    DeleteAllOf(T::kKind, selector, options);
  }

  /// Reads the subresource scale. Returns nullopt if the object does not exist, if its kind has no
  /// such subresource, or if the API server does not serve the kind.
  template <ApiObject T>
  [[nodiscard]] std::optional<Scale> GetScale(const ObjectKey& key) const {
    return GetScale(T::kKind, key);
  }
  /// Sets the number of replicas to scale.spec.replicas and returns the new Scale. If
  /// metadata.resourceVersion is set, a concurrent change causes an ApiError with IsConflict().
  template <ApiObject T>
  Scale UpdateScale(const Scale& scale, const WriteOptions& options = {}) const {
    return UpdateScale(T::kKind, scale, options);
  }
  /// Opens the log of a container of the Pod `key`. Blocks until the API server responds.
  [[nodiscard]] PodLogStream PodLogs(const ObjectKey& key, const PodLogOptions& options = {}) const;

  // The same calls for a kind that is only known at run time. They return whole objects as JSON.
  // The objects of a list have `apiVersion` and `kind`, which the API server omits there. The
  // strings of `kind` must outlive a Watcher.
  [[nodiscard]] std::optional<nlohmann::json> Get(const Kind& kind, const ObjectKey& key,
                                                  const GetOptions& options = {}) const;
  [[nodiscard]] std::vector<nlohmann::json> List(const Kind& kind, const Selector& selector = {},
                                                 const ListOptions& options = {}) const;
  [[nodiscard]] kopp::ListPage<nlohmann::json> ListPage(const Kind& kind,
                                                        const Selector& selector = {},
                                                        ListOptions options = {}) const;
  void ForEach(const Kind& kind, const Selector& selector,
               const std::function<void(nlohmann::json)>& visit, ListOptions options = {}) const;
  [[nodiscard]] Watcher<nlohmann::json> Watch(const Kind& kind, const Selector& selector,
                                              const WatchOptions& options) const;
  nlohmann::json Create(const Kind& kind, const nlohmann::json& object,
                        const WriteOptions& options = {}) const;
  nlohmann::json Update(const Kind& kind, const nlohmann::json& object,
                        const WriteOptions& options = {}) const;
  nlohmann::json UpdateStatus(const Kind& kind, const nlohmann::json& object,
                              const WriteOptions& options = {}) const;
  nlohmann::json Patch(const Kind& kind, const ObjectKey& key, const kopp::Patch& patch,
                       const WriteOptions& options = {}) const;
  nlohmann::json PatchStatus(const Kind& kind, const ObjectKey& key, const kopp::Patch& patch,
                             const WriteOptions& options = {}) const;
  nlohmann::json Apply(const Kind& kind, const nlohmann::json& object,
                       const ApplyOptions& options = {}) const;
  bool Delete(const Kind& kind, const ObjectKey& key, const DeleteOptions& options = {}) const;
  void DeleteAllOf(const Kind& kind, const Selector& selector,
                   const DeleteOptions& options = {}) const;
  [[nodiscard]] std::optional<Scale> GetScale(const Kind& kind, const ObjectKey& key) const;
  Scale UpdateScale(const Kind& kind, const Scale& scale, const WriteOptions& options = {}) const;

 private:
  friend Client WithWriteListener(const Client& client, std::shared_ptr<WriteListener> listener);
  // These do the work and return response bodies; the public functions decode them.
  [[nodiscard]] std::optional<std::string> GetText(const Kind& kind, const ObjectKey& key,
                                                   const GetOptions& options) const;
  [[nodiscard]] std::vector<std::string> ListTexts(const Kind& kind, const Selector& selector,
                                                   const ListOptions& options) const;
  /// The response to a write.
  struct Written {
    std::string text;
    bool report = false;     // to the observer
    bool is_object = false;  // of the kind, not of a subresource with a kind of its own
  };
  [[nodiscard]] Written CreateText(const Kind& kind, const nlohmann::json& object,
                                   const WriteOptions& options) const;
  [[nodiscard]] Written CreateEncoded(const Kind& kind, const std::string& object,
                                      const WriteOptions& options) const;
  [[nodiscard]] Written UpdateText(const Kind& kind, const nlohmann::json& object,
                                   const WriteOptions& options) const;
  [[nodiscard]] Written UpdateEncoded(const Kind& kind, const std::string& object,
                                      const WriteOptions& options) const;
  [[nodiscard]] Written PatchText(const Kind& kind, const ObjectKey& key, const kopp::Patch& patch,
                                  const WriteOptions& options) const;
  [[nodiscard]] Written ApplyText(const Kind& kind, const nlohmann::json& object,
                                  const ApplyOptions& options) const;
  [[nodiscard]] Written ApplyEncoded(const Kind& kind, const std::string& object,
                                     const ApplyOptions& options) const;
  [[nodiscard]] Written ApplyStatusText(const Kind& kind, const ObjectMeta& metadata,
                                        const std::string& status, ApplyOptions options) const;

  /// Reads a page of a list, and prepares `options` for the next page.
  [[nodiscard]] kopp::ListPage<std::string> ReadPage(const Kind& kind, const Selector& selector,
                                                     ListOptions& options) const;
  [[nodiscard]] AnyWatcher WatchAny(const Kind& kind, AnyHttpSource::Decoder decode,
                                    Selector selector, const WatchOptions& options) const;
  /// The object of a write.
  struct Target {
    ObjectKey key;
    std::string resource_version;  // which the object must have; empty: any
  };
  struct Body : Target {
    std::string text;
    /// The controller of an object that has neither uid nor resourceVersion.
    std::optional<OwnerReference> controller = {};
  };
  [[nodiscard]] Written Write(const Kind& kind, const Target& target, ApiRequest request,
                              const WriteOptions& options, std::string_view force = {}) const;
  [[nodiscard]] Written WriteNew(const Kind& kind, Body body, const WriteOptions& options) const;
  [[nodiscard]] Written WriteExisting(const Kind& kind, Body body,
                                      const WriteOptions& options) const;
  [[nodiscard]] Written WriteApplied(const Kind& kind, Body body,
                                     const ApplyOptions& options) const;
  [[nodiscard]] std::string ReadOwned(const Kind& kind, const Body& body) const;
  [[nodiscard]] Written WriteOwned(const Kind& kind, Body& body, const WriteOptions& options,
                                   const std::function<Written(std::string)>& send) const;
  [[nodiscard]] Written ApplyAndTakeOver(const Kind& kind, const Target& target,
                                         const ApiRequest& request, const WriteOptions& options,
                                         std::string_view force) const;
  [[nodiscard]] std::optional<std::string> ReadMetadata(const Kind& kind,
                                                        const ObjectKey& key) const;
  [[nodiscard]] Written ApplyAsAny(const Kind& kind, const Target& target,
                                   const ApiRequest& request, const WriteOptions& options,
                                   std::string_view force) const;
  /// Decodes the object in the response to a write, and reports it.
  template <ApiObject T>
  [[nodiscard]] T DecodeWritten(const Written& written) const {
    T object{};
    DecodeWritten(T::kKind, written, &object, [](std::string_view text, void* to) {
      auto& typed = *static_cast<T*>(to);
      if constexpr (detail::HasFieldList<T>) {
        detail::DecodeText(text, &typed, KoppFields(&typed));  // a move is slow to compile
      } else {
        typed = Decode<T>(text);
      }
      return static_cast<const ObjectMeta*>(&typed.metadata);
    });
    return object;
  }
  void DecodeWritten(const Kind& kind, const Written& written, void* object,
                     const ObjectMeta* (*decode)(std::string_view text, void* to)) const;
  /// Reports the object in the response to a write, and returns the response.
  [[nodiscard]] const std::string& Reported(const Kind& kind, const Written& written) const;
  void ReportWrites(const Kind& kind,
                    const std::function<std::vector<WrittenObject>()>& decode) const;
  [[nodiscard]] std::string DeleteBody(const DeleteOptions& options) const;
  [[nodiscard]] ApiResponse Send(const ApiRequest& request) const;
  [[nodiscard]] std::string Call(const ApiRequest& request) const;
  [[nodiscard]] std::string CallWrite(const ApiRequest& request, bool dry_run,
                                      ClientWrite write) const;

  [[nodiscard]] std::string NamespaceFor(const Kind& kind, const std::string& ns) const;
  [[nodiscard]] ObjectKey KeyFor(const Kind& kind, const ObjectKey& key) const {
    return {NamespaceFor(kind, key.ns), key.name};
  }
  [[nodiscard]] Body BodyOf(const Kind& kind, std::string_view subresource,
                            const nlohmann::json& object) const;
  [[nodiscard]] Body BodyOfEncoded(const Kind& kind, std::string_view subresource,
                                   const std::string& object) const;
  static WriteOptions OfStatus(WriteOptions options) {
    options.subresource = "status";
    return options;
  }

  Transport* transport_;
  std::string field_manager_;
  std::shared_ptr<const std::vector<detail::FormerFieldManager>> former_;  // null: none
  std::stop_token stop_;
  std::string namespace_;  // see InNamespace; empty: any
  FieldValidation field_validation_ = FieldValidation::kWarn;
  bool dry_run_ = false;
  WriteObserver* observer_ = nullptr;                     // null: writes are not reported
  std::shared_ptr<WriteListener> listener_;               // null: none
  std::shared_ptr<const detail::ClientTracing> tracing_;  // null: no spans
  std::shared_ptr<detail::OwnedUids> owned_uids_;
};

}  // namespace kopp
