#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/informer/api_error.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/transport.hpp>

namespace kopp {

/// Selects the objects of a list. An empty field does not restrict it.
struct ListFilter {
  std::string ns = {};              ///< namespace
  std::string label_selector = {};  ///< "app=web,tier!=cache"
  std::string field_selector = {};  ///< "metadata.name=a"
};

/// The body of a PATCH request, which changes only parts of an object.
struct Patch {
  enum class Type {
    kMerge,  ///< JSON merge patch (RFC 7386): the fields to set; null removes a field
    kJson,   ///< JSON patch (RFC 6902): a list of operations, such as "add" and "test"
  };
  Type type = Type::kMerge;
  std::string text = {};  ///< JSON

  static Patch Merge(const nlohmann::json& object);
  static Patch Json(const nlohmann::json& operations);
};

/// Options of a DELETE request. If a precondition does not hold, the API server returns 409
/// Conflict.
struct DeleteOptions {
  std::string uid = {};               ///< precondition; empty: any
  std::string resource_version = {};  ///< precondition; empty: any
  /// "Background", "Foreground" or "Orphan"; empty: the default of the kind.
  std::string propagation = {};
};

/// Reads and writes objects at the API server. Each call sends at least one HTTP request; nothing
/// is cached. Cheap to copy. Thread-safe. The transport must outlive all copies.
///
/// Each call blocks until the response has arrived, up to TransportOptions::call_timeout for each
/// request. A call throws
/// - ApiError if the API server returns an error status; but Get and Delete report a missing object
///   by their return value,
/// - TransportError if there is no complete response, for example because of a timeout or a stop,
/// - DecodeError if the response does not fit the view, or nlohmann::json::exception from the
///   overloads that return JSON,
/// - std::invalid_argument, before anything is sent, if an object to write is not a JSON object, or
///   if its name or namespace is missing, is not allowed for the kind, or would change the URL
///   path.
/// The client does not retry a failed call, except that List may read pages again. In a reconciler
/// let the exception escape, and the queue retries.
///
/// A view (a struct with KOPP_FIELDS) holds only some fields of an object, so it is not written
/// back. Write the fields to set with Apply or Patch, or a whole JSON object with Update. If an
/// object to write has no `apiVersion` or `kind`, the client adds those of its kind.
class Client {
 public:
  /// `field_manager` becomes the owner of the written fields, see metadata.managedFields. After a
  /// stop request, all calls throw TransportError (kCancelled).
  explicit Client(Transport& transport, std::string field_manager = "kopp",
                  std::stop_token stop = {})
      : transport_(&transport), field_manager_(std::move(field_manager)), stop_(std::move(stop)) {}

  /// Returns a copy whose calls are cancelled by `stop` instead.
  [[nodiscard]] Client With(std::stop_token stop) const {
    return Client(*transport_, field_manager_, std::move(stop));
  }

  /// Returns nullopt if the object does not exist, or if the API server does not serve the kind: it
  /// returns 404 for both.
  template <Object T>
  [[nodiscard]] std::optional<T> Get(const ObjectKey& key) const {
    const auto text = GetText(T::kKind, key);
    return text ? std::optional<T>(Decode<T>(*text)) : std::nullopt;
  }
  /// Reads the whole list, in pages of 500 objects, or fewer if a page is larger than
  /// TransportOptions::max_body. If the list expires between two pages, reads it again from the
  /// start, up to three times.
  template <Object T>
  [[nodiscard]] std::vector<T> List(const ListFilter& filter = {}) const {
    std::vector<T> objects;
    for (const std::string& text : ListTexts(T::kKind, filter)) {
      objects.push_back(Decode<T>(text));
    }
    return objects;
  }
  /// POSTs the object and returns it as the API server stored it.
  template <Object T>
  T Create(const nlohmann::json& object) const {
    return Decode<T>(CreateText(T::kKind, object));
  }
  /// PUTs the whole object. With metadata.resourceVersion, a concurrent change causes an ApiError
  /// with IsConflict(); without it, the object overwrites concurrent changes.
  template <Object T>
  T Update(const nlohmann::json& object) const {
    return Decode<T>(UpdateText(T::kKind, object, ""));
  }
  /// Update() of the status subresource: the API server ignores changes of the spec.
  template <Object T>
  T UpdateStatus(const nlohmann::json& object) const {
    return Decode<T>(UpdateText(T::kKind, object, "status"));
  }
  /// Changes the object and returns the result.
  template <Object T>
  T Patch(const ObjectKey& key, const kopp::Patch& patch) const {
    return Decode<T>(PatchText(T::kKind, key, patch, ""));
  }
  /// Patch() of the status subresource: the API server ignores changes of the spec.
  template <Object T>
  T PatchStatus(const ObjectKey& key, const kopp::Patch& patch) const {
    return Decode<T>(PatchText(T::kKind, key, patch, "status"));
  }
  /// Server-side apply: creates the object, or sets the fields of `object`. Fields that this field
  /// manager applied before and that are not in `object` are removed. Takes over fields of other
  /// managers (force=true).
  template <Object T>
  T Apply(const nlohmann::json& object) const {
    return Decode<T>(ApplyText(T::kKind, object, ""));
  }
  /// Server-side apply of `status` to the status subresource of `object`. Throws ApiError if the
  /// object was deleted, or deleted and created again with another uid.
  template <Object T>
  T ApplyStatus(const T& object, const decltype(T::status)& status) const {
    return Decode<T>(ApplyStatusText(T::kKind, object.metadata, Encode(status)));
  }
  /// Returns false if the object does not exist. An object with finalizers still exists after the
  /// call, with metadata.deletionTimestamp set.
  template <Object T>
  bool Delete(const ObjectKey& key, const DeleteOptions& options = {}) const {
    return Delete(T::kKind, key, options);
  }

  // The same calls for a kind that is only known at run time. They return whole objects as JSON.
  [[nodiscard]] std::optional<nlohmann::json> Get(const Kind& kind, const ObjectKey& key) const;
  [[nodiscard]] std::vector<nlohmann::json> List(const Kind& kind,
                                                 const ListFilter& filter = {}) const;
  nlohmann::json Create(const Kind& kind, const nlohmann::json& object) const;
  nlohmann::json Update(const Kind& kind, const nlohmann::json& object) const;
  nlohmann::json UpdateStatus(const Kind& kind, const nlohmann::json& object) const;
  nlohmann::json Patch(const Kind& kind, const ObjectKey& key, const kopp::Patch& patch) const;
  nlohmann::json PatchStatus(const Kind& kind, const ObjectKey& key,
                             const kopp::Patch& patch) const;
  nlohmann::json Apply(const Kind& kind, const nlohmann::json& object) const;
  bool Delete(const Kind& kind, const ObjectKey& key, const DeleteOptions& options = {}) const;

 private:
  [[nodiscard]] std::optional<std::string> GetText(const Kind& kind, const ObjectKey& key) const;
  [[nodiscard]] std::vector<std::string> ListTexts(const Kind& kind,
                                                   const ListFilter& filter) const;
  [[nodiscard]] std::string ListPage(const Kind& kind, const ListFilter& filter,
                                     const std::string& continue_token, int& page_size,
                                     std::vector<std::string>& objects) const;
  [[nodiscard]] std::string CreateText(const Kind& kind, const nlohmann::json& object) const;
  [[nodiscard]] std::string UpdateText(const Kind& kind, const nlohmann::json& object,
                                       std::string_view subresource) const;
  [[nodiscard]] std::string PatchText(const Kind& kind, const ObjectKey& key,
                                      const kopp::Patch& patch, std::string_view subresource) const;
  [[nodiscard]] std::string ApplyText(const Kind& kind, const nlohmann::json& object,
                                      std::string_view subresource) const;
  [[nodiscard]] std::string ApplyStatusText(const Kind& kind, const ObjectMeta& metadata,
                                            const std::string& status) const;
  [[nodiscard]] std::string Call(const Request& request) const;

  Transport* transport_;
  std::string field_manager_;
  std::stop_token stop_;
};

}  // namespace kopp
