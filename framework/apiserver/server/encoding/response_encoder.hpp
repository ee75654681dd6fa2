#pragma once

#include "api/extensions.hpp"
#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/response.hpp"
#include "storage/server_context.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Converts objects to the form that a client requests in its Accept header. A ResponseBody is JSON
/// in any case: the filter of the extensions encodes it as protobuf. Immutable after
/// NegotiateResponse.
struct ResponseEncoder {
  enum class Form {
    kObject,
    kTable,         ///< a meta.k8s.io Table with rows and columns
    kMetadata,      ///< PartialObjectMetadata
    kMetadataList,  ///< PartialObjectMetadataList
  };
  Form form = Form::kObject;
  bool protobuf = false;       ///< whether the client gets protobuf
  std::string version = "v1";  ///< the version of meta.k8s.io for the other forms
  std::string
      include_object{};  ///< query parameter includeObject: "None", "Metadata", "Object" or ""
  std::string now{};     ///< the time for ages in tables, in RFC 3339
  const TablePrinter* tables = nullptr;  ///< not null in the form kTable

  /// Returns the Content-Type of an object or a list.
  [[nodiscard]] std::string content_type() const;
  /// Returns the Content-Type of a watch.
  [[nodiscard]] std::string watch_content_type() const;
  /// Returns an object that has apiVersion and kind. Throws StatusError if the form is for lists
  /// only, or if includeObject is not valid.
  [[nodiscard]] ResponseBody ObjectBody(nlohmann::json object, const Resource& resource) const;
  /// Same as ObjectBody, for the text of a stored object. Does not parse it in the form kObject.
  [[nodiscard]] ResponseBody StoredObjectBody(const std::string& text,
                                              const Resource& resource) const;
  /// Returns a list of stored objects. Throws StatusError if the form is for single objects only,
  /// or if includeObject is not valid.
  [[nodiscard]] ResponseBody ListBody(const std::vector<const std::string*>& texts,
                                      nlohmann::json metadata, const Resource& resource) const;
  /// Converts the body that a write handler returns: an object, a list or a Status. Returns a
  /// Status unchanged. Throws as ObjectBody and ListBody do.
  [[nodiscard]] ResponseBody WriteBody(ResponseBody body, const Resource& resource) const;
  /// Encodes the object of a watch event. In the form of a Table, the first event contains the
  /// column definitions, and a bookmark contains its metadata whatever includeObject is.
  [[nodiscard]] std::string EncodeEventObject(const std::string& text, const Resource& resource,
                                              bool is_first, bool is_bookmark = false) const;
  /// Throws StatusError (400) if the form is a Table and includeObject is not valid.
  void CheckIncludeObject() const;
};

/// Selects the form from the Accept header of the request. Throws StatusError (406) if the server
/// supports none of its media types. The context must outlive the result.
[[nodiscard]] ResponseEncoder NegotiateResponse(ServerContext& context,
                                                const ServerRequest& request,
                                                const Resource& resource);

}  // namespace kopp::apiserver
