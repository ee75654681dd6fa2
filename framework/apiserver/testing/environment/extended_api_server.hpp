#pragma once

#include "api/extensions.hpp"

#include <kopp/testing/api_server.hpp>

namespace kopp::testing {

/// An ApiServer with features beyond those of kopp::apiserver, as kopp-apiserver has them.
class ExtendedApiServer : public ApiServer {
 public:
  explicit ExtendedApiServer(const apiserver::Extensions& extensions,
                             ApiServerOptions options = {});
};

}  // namespace kopp::testing
