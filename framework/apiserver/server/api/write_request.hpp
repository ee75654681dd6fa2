#pragma once

#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/write_options.hpp"

namespace kopp::apiserver {

/// The parsed parameters of a create, an update or a patch, without the object in its body.
struct WriteRequest {
  /// Parses the options of a write of `written`. Throws StatusError, like ReadWriteOptions(). Both
  /// parameters must outlive the WriteRequest.
  WriteRequest(const ServerRequest& request, const Resource& written)
      : resource(written),
        target(request.target),
        user(request.user),
        options(ReadWriteOptions(request)) {}

  const Resource& resource;
  const RequestInfo& target;
  const User& user;
  WriteOptions options;
};

}  // namespace kopp::apiserver
