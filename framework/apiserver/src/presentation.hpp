#pragma once

#include "exchange.hpp"
#include "resource.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// In which form a client wants objects, by its Accept header.
struct Presentation {
  enum class Form {
    kObject,
    kTable,         ///< rows and columns, for people
    kMetadata,      ///< PartialObjectMetadata
    kMetadataList,  ///< PartialObjectMetadataList
  };
  Form form = Form::kObject;
  std::string version = "v1";  ///< of meta.k8s.io
  std::string include{};       ///< what the rows of a table bring along: "None", "Object", …
  std::string now{};           ///< for ages in tables

  /// One object, whole. Throws a Refusal where the form is not for one or is badly asked for.
  [[nodiscard]] std::string One(const std::string& text, const Resource& resource) const;
  /// A list, from the texts of its objects. Throws likewise.
  [[nodiscard]] std::string List(const std::vector<const std::string*>& texts,
                                 const nlohmann::json& metadata, const Resource& resource) const;
  /// What a write has answered: an object, a list or a Status, which stays one. Throws likewise.
  [[nodiscard]] std::string OfAnswer(const std::string& answer, const Resource& resource) const;
  /// An object in an event of a watch, of which the first has the columns of a table. A bookmark's
  /// has its metadata whatever is included: it has nothing else.
  [[nodiscard]] std::string InEvent(const std::string& text, const Resource& resource,
                                    bool is_first, bool is_bookmark = false) const;
  /// Throws a Refusal (400) where `include` is nothing that a table may bring along.
  void CheckInclude() const;
};

/// Throws a Refusal (406) where nothing of what the client takes can be given.
[[nodiscard]] Presentation ReadPresentation(const Ask& ask, const Resource& resource,
                                            const std::string& now);

}  // namespace kopp::apiserver
