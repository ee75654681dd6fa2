#include "feed_sender.hpp"

#include "http_text.hpp"

#include <utility>

namespace kopp::apiserver {

FeedSender::FeedSender(Wire& wire, Store& store, Reply reply, Options options)
    : wire_(wire),
      options_(std::move(options)),
      begin_(options_.head),
      ready_(std::move(reply.body)),
      feed_(std::move(reply.feed)),
      left_(reply.mishap.cut_after),
      listener_(store, feed_->resource(), [this] {
        if (!woken_.exchange(true)) options_.wake();
      }) {
  wire_.WithoutLimit();
  wire_.Ignore();  // so that a client's end is noticed
}

void FeedSender::Pump() {
  if (sending_) return;
  woken_ = false;
  const std::string frames = TakeFrames();
  std::string bytes = std::exchange(begin_, {});
  if (!options_.in_chunks) {
    bytes += frames;
  } else if (!frames.empty()) {
    bytes += Chunk(frames);
  }
  if (feed_->ended() && !cut_ && options_.in_chunks) bytes += Chunk({});
  if (bytes.empty()) return GoOn();
  sending_ = true;
  wire_.Within(options_.write_timeout);
  wire_.Write(std::move(bytes), [this](std::size_t) {
    sending_ = false;
    cut_ || feed_->ended() ? GoOn() : Pump();
  });
}

std::string FeedSender::TakeFrames() {
  std::string frames = std::exchange(ready_, {}) + feed_->Take();
  cut_ = feed_->ended() && feed_->broken();
  if (!left_) return frames;
  if (frames.size() >= *left_) {
    frames.resize(*left_);
    cut_ = true;
  }
  *left_ -= frames.size();
  return frames;
}

// With all sent that there was.
void FeedSender::GoOn() {
  if (cut_) return wire_.CutWhenTaken();
  if (feed_->ended()) return wire_.Close();
  options_.wake_at(feed_->next());
}

}  // namespace kopp::apiserver
