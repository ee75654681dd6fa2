#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kopp/informer/selector.hpp>

namespace kopp {

// Options of the calls of Client. All are aggregates; use designated initializers:
//
//     client.Create(foo, {.dry_run = true});
//     client.Apply(foo, {.field_manager = "migration", .force = false});

/// The reaction of the API server to fields that are unknown or occur twice in the object to write.
enum class FieldValidation {
  kIgnore,  ///< drops the fields
  kWarn,    ///< drops the fields and sends a warning; the default of the API server
  kStrict,  ///< rejects the request with an ApiError that lists the fields
};

/// What happens to the dependents of a deleted object: metav1.DeletionPropagation.
enum class DeletionPropagation {
  kBackground,  ///< the object is deleted at once, then the garbage collector deletes its
                ///< dependents
  kForeground,  ///< the object is deleted after its dependents with blockOwnerDeletion
  kOrphan,      ///< the dependents remain, without the owner reference
};

/// How the version of a list relates to ListOptions::resource_version: metav1.ResourceVersionMatch.
enum class ResourceVersionMatch {
  kDefault,       ///< not sent; kNotOlderThan, but kExact for a list with a limit
  kNotOlderThan,  ///< that version or a newer one
  kExact,         ///< that version
};

/// Options of a list.
struct ListOptions {
  /// Objects per page; 0: the whole list in one page. A page may have fewer objects.
  int limit = 500;
  /// From the previous page; empty: the first page.
  std::string continue_token = {};
  /// "": the newest version; "0": any version, which is cheap for the API server; otherwise see
  /// `resource_version_match`. It is sent with the first page only, because all pages have the
  /// version of the first one.
  std::string resource_version = {};
  ResourceVersionMatch resource_version_match = ResourceVersionMatch::kDefault;
};

/// One page of a list.
template <typename T>
struct ListPage {
  std::vector<T> objects = {};
  std::string continue_token = {};  ///< for ListOptions of the next page; empty for the last page
  /// The number of objects after this page. Not set on the last page, and if the server does not
  /// know it, because it selects objects with a selector.
  std::optional<std::int64_t> remaining = {};
  std::string resource_version = {};  ///< of the whole list; a watch can start from it
};

/// Options of a GET request.
struct GetOptions {
  /// Such as "status" or "scale"; empty: the object itself. For a subresource with a kind of its
  /// own (scale), call Client::Dynamic: the response is not a `T`.
  std::string subresource = {};
  /// Minimum version of the returned object; empty: the newest version; "0": any version.
  std::string resource_version = {};
};

/// Options of Create, Update and Patch.
struct WriteOptions {
  /// Such as "status", "scale", "eviction", "resize", "ephemeralcontainers", "approval" or "token";
  /// empty: the object itself. For a subresource with a kind of its own (scale, eviction, token,
  /// binding), call Client::Dynamic: the response is not a `T`.
  std::string subresource = {};
  std::string field_manager = {};  ///< owner of the written fields; empty: the client's
  bool dry_run = false;            ///< validates and returns the result, but does not store it
  std::optional<FieldValidation> field_validation = {};  ///< not set: the client's
  bool adopt = false;  ///< for Update and Replace; see ApplyOptions::adopt
};

/// Options of a server-side apply.
struct ApplyOptions {
  std::string subresource = {};    ///< as in WriteOptions
  std::string field_manager = {};  ///< owner of the applied fields; empty: the client's
  bool dry_run = false;            ///< validates and returns the result, but does not store it
  std::optional<FieldValidation> field_validation = {};  ///< not set: the client's
  /// Takes over fields that other managers own and that have another value. If false, such a field
  /// causes an ApiError with IsConflict(); each of its status().details.causes has the `field`, and
  /// a `message` with the name of its manager.
  bool force = true;
  /// If the object has a controller (see OwnedBy) and no uid or resourceVersion, and an object of
  /// this name exists that this owner does not control: false: throws ForeignObjectError, unless
  /// the existing object has no other controller and the label kAdoptLabel. true: takes it over.
  /// The client of a Manager knows the objects that its cache watches, and each client the last
  /// 16384 others that it has written. To write an unknown object, it also needs the permission
  /// `get`, and a second request.
  bool adopt = false;
};

/// Options of a DELETE request. Without preconditions, it deletes the object of any owner. If a
/// precondition does not hold, the API server returns 409 Conflict.
struct DeleteOptions {
  std::string uid = {};                                 ///< precondition; empty: any
  std::string resource_version = {};                    ///< precondition; empty: any
  std::optional<DeletionPropagation> propagation = {};  ///< not set: the default of the kind
  /// Time for a Pod to terminate before it is killed. 0 deletes it at once. If not set, the default
  /// of the object applies.
  std::optional<std::chrono::seconds> grace_period = {};
  bool dry_run = false;  ///< validates the request, but does not delete
};

}  // namespace kopp
