#pragma once

#include "exchange.hpp"
#include "list_options.hpp"
#include "presentation.hpp"
#include "world.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kopp::apiserver {

/// What happens to a resource's objects, as the frames of a watch.
class WatchFeed final : public Feed {
 public:
  WatchFeed(World& world, Catalog::Entry resource, std::string ns, ListOptions options,
            Presentation presentation);

  std::string Take() override;
  [[nodiscard]] bool ended() const override { return ended_; }
  [[nodiscard]] TimePoint next() const override;
  [[nodiscard]] const std::string& resource() const override { return resource_->kept_as; }

 private:
  void Begin();
  void AddInitial();
  void AddChanges();
  void AddChange(const Change& change);
  void AddBookmark(bool ends_initial);
  void AddError(const nlohmann::json& status);
  /// Of an object as it is kept.
  void Tell(std::string_view type, const std::string& object);
  void Frame(std::string_view type, const std::string& object);
  [[nodiscard]] bool IsServed() const;
  [[nodiscard]] bool Wanted(const ObjectKey& key, const StoredPtr& stored) const;

  World& world_;
  const Catalog::Entry resource_;
  const std::string ns_;
  const ListOptions options_;
  const Presentation presentation_;
  TimePoint end_ = TimePoint::max();
  TimePoint bookmark_ = TimePoint::max();
  std::optional<Store::Snapshot> initial_;  // until all of it was told
  std::size_t told_ = 0;                    // of its objects
  Version seen_ = 0;                        // what happened until then was told, beside it
  bool begun_ = false;
  bool ended_ = false;
  std::string frames_;
};

}  // namespace kopp::apiserver
