#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kopp::apiserver {

/// One choice of an Accept header: "application/json;as=Table;v=v1;g=meta.k8s.io;q=0.5".
struct MediaType {
  std::string_view type{};  ///< "application/json"
  std::string_view as{};    ///< the form: "Table"
  std::string_view version{};
  std::string_view group{};
  double quality = 1;
};

/// The best first; those of one quality in the order of the header, whole wildcards last. They
/// belong to `accept`.
[[nodiscard]] std::vector<MediaType> ReadAccept(std::string_view accept);

}  // namespace kopp::apiserver
