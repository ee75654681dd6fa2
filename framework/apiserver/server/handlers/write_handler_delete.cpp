#include "api/event_conversion.hpp"
#include "api/status.hpp"
#include "handlers/read_handler.hpp"
#include "handlers/write_handler.hpp"
#include "storage/object_responses.hpp"
#include "storage/stored_objects.hpp"
#include "strategy/kind_strategy.hpp"

#include <optional>
#include <string>
#include <utility>

namespace kopp::apiserver {

ServerResponse WriteHandler::Delete(const ServerRequest& request, const Resource& resource,
                                    Warnings& warnings) {
  const DeleteOptions options = ReadDeleteOptions(request);
  const std::string& name = request.target.name;
  const KindStrategy& strategy = StrategyOf(resource);
  if (strategy.deletion_error != nullptr) {
    if (const std::optional<std::string> error = strategy.deletion_error(name))
      throw Forbidden(resource, name, *error);
  }
  bool removed = false;
  nlohmann::json object = collector_.Delete(resource, {request.target.ns, name}, options, removed,
                                            DeletionReview(request, resource, options, warnings));
  if (removed && strategy.delete_response == KindStrategy::DeleteResponse::kStatus)
    return {.body = SuccessStatus(resource, name, object["metadata"].value("uid", ""))};
  if (removed &&
      strategy.delete_response == KindStrategy::DeleteResponse::kObjectWithoutDeletionTime) {
    for (const char* field : {"deletionTimestamp", "deletionGracePeriodSeconds"})
      object["metadata"].erase(field);
  }
  return {.body = ResponseObject(FromStorageVersion(resource, std::move(object)), resource)};
}

ServerResponse WriteHandler::DeleteCollection(const ServerRequest& request,
                                              const Resource& resource, Warnings& warnings) {
  const DeleteOptions options = ReadDeleteOptions(request);
  ServerRequest list = request;
  list.method = "GET";
  list.accept.clear();
  ReadHandler::ListResult listed = ReadHandler(context_).ListObjects(list, resource);
  const auto review = DeletionReview(request, resource, options, warnings);
  for (const ObjectKey& key : listed.keys) {
    bool removed = false;
    try {
      collector_.Delete(resource, key, options, removed, review);
    } catch (const StatusError& error) {
      if (error.code() != 404) throw;  // another client has deleted the object
    }
  }
  return {.body = std::move(listed.body)};
}

}  // namespace kopp::apiserver
