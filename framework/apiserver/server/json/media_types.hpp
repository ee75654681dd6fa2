#pragma once

#include <string_view>
#include <vector>

namespace kopp::apiserver {

constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";
/// The content type of a watch in protobuf.
constexpr std::string_view kProtobufWatchType = "application/vnd.kubernetes.protobuf;stream=watch";

/// A media range of an Accept header: "application/json;as=Table;v=v1;g=meta.k8s.io;q=0.5".
struct MediaType {
  std::string_view type{};  ///< "application/json"
  std::string_view as{};    ///< the requested representation: "Table"
  std::string_view version{};
  std::string_view group{};
  double quality = 1;
};

/// Parses an Accept header. Sorts by descending quality; media ranges of equal quality stay in the
/// order of the header, except that "*/*" comes last. The results point into `accept`.
[[nodiscard]] std::vector<MediaType> ParseAccept(std::string_view accept);

}  // namespace kopp::apiserver
