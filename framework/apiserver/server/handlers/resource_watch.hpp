#pragma once

#include "api/list_options.hpp"
#include "api/response.hpp"
#include "encoding/response_encoder.hpp"
#include "storage/server_context.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace kopp::apiserver {

/// The event stream of a watch for the objects of one resource. Not thread-safe. `context` must
/// outlive it; it shares ownership of `resource`.
class ResourceWatch final : public WatchResponse {
 public:
  ResourceWatch(ServerContext& context, ResourcePtr resource, std::string ns, ListOptions options,
                ResponseEncoder encoder);

  std::string ReadFrames() override;
  [[nodiscard]] bool ended() const override { return ended_; }
  [[nodiscard]] TimePoint wake_time() const override;
  [[nodiscard]] const std::string& storage_resource() const override {
    return resource_->storage_resource;
  }

 private:
  void Start();
  void AddInitial();
  void AddChanges();
  void AddChange(const ObjectChange& change);
  void AddBookmark(bool ends_initial);
  void AddError(const nlohmann::json& status);
  /// Adds an event with a stored object, encoded for the client.
  void AddEvent(std::string_view type, const std::string& object);
  /// Adds an event with an encoded object.
  void AddFrame(std::string_view type, const std::string& object);
  [[nodiscard]] bool IsServed() const;
  [[nodiscard]] bool IsSelected(const ObjectKey& key, const StoredObjectPtr& stored) const;

  ServerContext& context_;
  const ResourcePtr resource_;
  const std::string ns_;
  const ListOptions options_;
  const ResponseEncoder encoder_;
  TimePoint end_time_ = TimePoint::max();
  TimePoint next_bookmark_ = TimePoint::max();
  std::optional<Store::Snapshot> initial_;  // until all initial events are added
  std::size_t initial_position_ = 0;        // index of the next object in initial_
  ResourceVersion version_ = 0;             // changes up to this version are processed
  bool has_sent_event_ = false;
  bool ended_ = false;
  std::string frames_;
};

}  // namespace kopp::apiserver
