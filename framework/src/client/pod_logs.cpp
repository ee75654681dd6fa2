#include <utility>

#include <kopp/pod_logs.hpp>

namespace kopp {

std::string_view PodLogStream::ReadChunk() {
  if (start_ == buffer_.size() && !ended_) {
    const Stream::Chunk chunk = stream_->Read(idle_timeout_);
    if (chunk.state == Stream::State::kSilent) {
      throw TransportError(TransportError::Kind::kTimeout,
                           "no bytes of the container log arrived within the time limit");
    }
    ended_ = chunk.state == Stream::State::kEnd;
    buffer_ = chunk.bytes;
    start_ = 0;
  }
  return std::string_view(buffer_).substr(std::exchange(start_, buffer_.size()));
}

std::optional<std::string> PodLogStream::ReadLine() {
  std::string line;
  while (line.size() < kMaxLine) {
    const std::string_view chunk = ReadChunk();
    if (chunk.empty()) return line.empty() ? std::nullopt : std::optional(std::move(line));
    const std::string_view part = chunk.substr(0, kMaxLine - line.size());
    const auto end = part.find('\n');
    line += part.substr(0, end);
    const std::size_t used = end == std::string_view::npos ? part.size() : end + 1;
    start_ -= chunk.size() - used;
    if (end != std::string_view::npos) return line;
  }
  return line;
}

}  // namespace kopp
