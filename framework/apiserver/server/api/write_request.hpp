#pragma once

#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/write_options.hpp"

#include <optional>

#include <kopp/workqueue/clock.hpp>

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
  /// The end of the time for all webhooks of the request. The first call sets it.
  mutable std::optional<TimePoint> webhook_deadline{};
};

}  // namespace kopp::apiserver
