#include "dead_connection_detector.hpp"

namespace kopp::detail {

DeadConnectionDetector::Registration::Registration(DeadConnectionDetector& detector,
                                                   MonitoredStream& stream, TimePoint opened)
    : detector_(detector), stream_(&stream) {
  detector_.state_.Lock()->streams.push_back({stream_, opened});
}

DeadConnectionDetector::Registration::~Registration() {
  std::erase_if(detector_.state_.Lock()->streams,
                [this](const Entry& entry) { return entry.stream == stream_; });
}

void DeadConnectionDetector::Suspect(const Silence& silence) {
  auto state = state_.Lock();
  const bool responds =
      std::any_of(state->streams.begin(), state->streams.end(), [&](const Entry& entry) {
        return entry.opened < silence.since && entry.stream->LastReceived() > silence.middle();
      });
  if (responds) return;
  state->suspicion = silence;
  suspicious_ = true;
}

void DeadConnectionDetector::Check(TimePoint opened, TimePoint sent, TimePoint now) {
  auto state = state_.Lock();
  if (!state->suspicion) return;
  const Silence silence = *state->suspicion;
  const bool is_new = opened > silence.since;
  if (is_new && now - sent >= silence.length) return;  // the server is slow
  state->suspicion.reset();
  suspicious_ = false;
  if (!is_new) return;
  for (const Entry& entry : state->streams) {
    const bool silent = entry.stream->LastReceived() <= silence.middle();
    if (entry.opened < silence.since && silent) entry.stream->Cut();
  }
}

}  // namespace kopp::detail
