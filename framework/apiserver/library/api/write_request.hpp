#pragma once

#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/write_options.hpp"

namespace kopp::apiserver {

/// What the steps of a create, an update or a patch need to know of the request, besides the object
/// in its body.
struct WriteRequest {
  /// Parses the options of a write of `kind`. Throws StatusError, like ReadWriteOptions(). Both
  /// parameters must outlive the WriteRequest.
  WriteRequest(const ServerRequest& request, const Resource& kind)
      : resource(kind),
        target(request.target),
        user(request.user),
        options(ReadWriteOptions(request)) {}

  const Resource& resource;
  const RequestInfo& target;
  const User& user;
  WriteOptions options;
};

}  // namespace kopp::apiserver
