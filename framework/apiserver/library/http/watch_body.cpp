#include "http/watch_body.hpp"

#include <utility>

namespace kopp::apiserver {

WatchBody::WatchBody(Store& store, std::string prefix, std::unique_ptr<WatchResponse> watch,
                     std::optional<std::size_t> cut_after, Callbacks callbacks)
    : callbacks_(std::move(callbacks)),
      prefix_(std::move(prefix)),
      watch_(std::move(watch)),
      remaining_(cut_after),
      listener_(store, watch_->storage_resource(), [this] {
        if (!wake_requested_.exchange(true)) callbacks_.wake();
      }) {}

std::string WatchBody::Take() {
  wake_requested_ = false;
  std::string bytes = std::exchange(prefix_, {}) + watch_->ReadFrames();
  aborted_ = watch_->ended() && watch_->aborted();
  if (!remaining_) return bytes;
  if (bytes.size() >= *remaining_) {
    bytes.resize(*remaining_);
    aborted_ = true;
  }
  *remaining_ -= bytes.size();
  return bytes;
}

}  // namespace kopp::apiserver
