#include "path_monitor.hpp"

namespace kopp::detail {

PathMonitor::Registration::Registration(PathMonitor& monitor, MonitoredStream& stream,
                                        TimePoint opened)
    : monitor_(monitor), stream_(&stream) {
  monitor_.state_.Lock()->streams.push_back({stream_, opened});
}

PathMonitor::Registration::~Registration() {
  std::erase_if(monitor_.state_.Lock()->streams,
                [this](const Entry& entry) { return entry.stream == stream_; });
}

void PathMonitor::Suspect(const Silence& silence) {
  auto state = state_.Lock();
  const bool responds =
      std::any_of(state->streams.begin(), state->streams.end(), [&](const Entry& entry) {
        return entry.opened < silence.since && entry.stream->LastReceived() > silence.middle();
      });
  if (responds) return;
  state->suspicion = silence;
  suspicious_ = true;
}

void PathMonitor::Check(TimePoint opened, TimePoint sent, TimePoint now) {
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
