
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
  while (true) {
    const std::string_view chunk = ReadChunk();
    if (chunk.empty()) return line.empty() ? std::nullopt : std::optional(std::move(line));
    const std::size_t room = kMaxLine - line.size();
    const auto end = chunk.substr(0, room + 1).find('\n');  // may follow directly on a full line
    const bool complete = end != std::string_view::npos;
    const std::string_view part = chunk.substr(0, complete ? end : room);
    line += part;
    const std::size_t used = complete ? end + 1 : part.size();
    start_ -= chunk.size() - used;
    if (complete || used < chunk.size()) return line;
  }
}

}  // namespace kopp
