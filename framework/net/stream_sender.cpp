#include "net/stream_sender.hpp"

#include <utility>

namespace kopp::detail {

StreamSender::StreamSender(ServerConnection& connection, std::string prefix,
                           std::unique_ptr<BodyStream> stream, Options options)
    : connection_(connection),
      options_(std::move(options)),
      head_(options_.head),
      prefix_(std::move(prefix)),
      stream_(std::move(stream)) {
  connection_.ClearTimeout();
  connection_.Discard();  // detects that the client closes the connection
}

void StreamSender::Pump() {
  if (writing_ || finished_) return;
  const std::string body = std::exchange(prefix_, {}) + stream_->Take();
  const bool completes = stream_->ended() && !stream_->aborted();
  std::string bytes = std::exchange(head_, {});
  if (!options_.chunked) {
    bytes += body;
  } else {
    if (!body.empty()) bytes += FormatChunk(body);
    if (completes) bytes += FormatChunk({});
  }
  if (bytes.empty()) return AfterLastByte();
  writing_ = true;
  connection_.SetTimeout(options_.write_timeout);
  connection_.Write(std::move(bytes), [this] {
    writing_ = false;
    stream_->ended() ? AfterLastByte() : Pump();
  });
}

void StreamSender::AfterLastByte() {
  if (!stream_->ended()) return stream_->OnDrained();
  finished_ = true;
  stream_->aborted() ? connection_.ResetWhenDelivered() : connection_.Close();
}

}  // namespace kopp::detail
