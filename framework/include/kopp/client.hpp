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

/// Which objects to list. Empty fields ask for all.
struct ListFilter {
  std::string ns = {};
  std::string label_selector = {};  ///< "app=web,tier!=cache"
  std::string field_selector = {};  ///< "metadata.name=a"
};

/// A change of parts of an object.
struct Patch {
  enum class Type {
    kMerge,  ///< RFC 7386: an object with the fields to set; null removes one
    kJson,   ///< RFC 6902: a list of operations, `test` among them
  };
  Type type = Type::kMerge;
  std::string text = {};  ///< JSON

  static Patch Merge(const nlohmann::json& object);
  static Patch Json(const nlohmann::json& operations);
};

struct DeleteOptions {
  std::string uid = {};               ///< only the object with this uid
  std::string resource_version = {};  ///< only in this state
  std::string propagation = {};  ///< "Background", "Foreground" or "Orphan"; empty: the kind's own
};

/// Asks the API server: every call is a request, and sees and leaves the newest state. A value,
/// cheap to copy; safe to use from any thread. The transport outlives it.
///
/// Each call blocks until the answer is there, at the longest for the transport's deadline, and
/// throws ApiError for a refusal, TransportError when no answer could be had, DecodeError for an
/// answer that does not fit the view. An object that is not there is no failure of a read or a
/// delete. Nothing is tried again here: in a reconciler the queue does that.
///
/// A view (a struct with KOPP_FIELDS) holds only what it names, so it is never written back: write
/// with Apply or Patch what you mean to set, or with Update a whole object as JSON. An object
/// without `apiVersion` and `kind` gets those of its kind.
class Client {
 public:
  /// `field_manager` owns the fields that are written. Every call ends when `stop` asks.
  explicit Client(Transport& transport, std::string field_manager = "kopp",
                  std::stop_token stop = {})
      : transport_(&transport), field_manager_(std::move(field_manager)), stop_(std::move(stop)) {}

  /// The same client with calls that end when `stop` asks.
  [[nodiscard]] Client With(std::stop_token stop) const {
    return Client(*transport_, field_manager_, std::move(stop));
  }

  template <Object T>
  [[nodiscard]] std::optional<T> Get(const ObjectKey& key) const {
    const auto text = GetText(T::kKind, key);
    return text ? std::optional<T>(Decode<T>(*text)) : std::nullopt;
  }
  template <Object T>
  [[nodiscard]] std::vector<T> List(const ListFilter& filter = {}) const {
    std::vector<T> objects;
    for (const std::string& text : ListTexts(T::kKind, filter)) {
      objects.push_back(Decode<T>(text));
    }
    return objects;
  }
  template <Object T>
  T Create(const nlohmann::json& object) const {
    return Decode<T>(CreateText(T::kKind, object));
  }
  /// PUT of a whole object. With metadata.resourceVersion it fails on a conflict, without it wins.
  template <Object T>
  T Update(const nlohmann::json& object) const {
    return Decode<T>(UpdateText(T::kKind, object, ""));
  }
  template <Object T>
  T UpdateStatus(const nlohmann::json& object) const {
    return Decode<T>(UpdateText(T::kKind, object, "status"));
  }
  template <Object T>
  T Patch(const ObjectKey& key, const kopp::Patch& patch) const {
    return Decode<T>(PatchText(T::kKind, key, patch, ""));
  }
  template <Object T>
  T PatchStatus(const ObjectKey& key, const kopp::Patch& patch) const {
    return Decode<T>(PatchText(T::kKind, key, patch, "status"));
  }
  /// Server-side apply: the object is made, or gets exactly the fields that are given; fields
  /// applied before and not given now are removed. Conflicts with other managers are won.
  template <Object T>
  T Apply(const nlohmann::json& object) const {
    return Decode<T>(ApplyText(T::kKind, object, ""));
  }
  /// Applies the whole status of `object`, which must still be the object that it was (its uid).
  template <Object T>
  T ApplyStatus(const T& object, const decltype(T::status)& status) const {
    return Decode<T>(ApplyStatusText(T::kKind, object.metadata, Encode(status)));
  }
  /// Returns whether there was such an object.
  template <Object T>
  bool Delete(const ObjectKey& key, const DeleteOptions& options = {}) const {
    return Delete(T::kKind, key, options);
  }

  // The same for a kind that is known at run time, and for whole objects.
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
