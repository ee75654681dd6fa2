#include "leadership.hpp"

#include <utility>

namespace kopp {

Leadership::Leadership(const Options& options, Cluster::Impl& cluster,
                       const std::shared_ptr<Recorder>& recorder)
    : transport_(cluster.transport()) {
  if (options.leader_election.enabled) {
    fence_ = std::make_unique<WriteFence>(options.clock);
    transport_ = std::make_shared<FencedTransport>(cluster.transport(), *fence_);
  }
  if (recorder) transport_ = WithRecordedCalls(transport_, recorder);
  client_ = cluster.NewClient(*transport_);
}

void Leadership::SetEvents(std::shared_ptr<Transport> transport, EventRecorderFactory factory) {
  if (!fence_) return;
  events_transport_ = std::make_shared<FencedTransport>(std::move(transport), *fence_);
  new_event_recorder_ = std::move(factory);
}

void Leadership::CreateElector(const Client& client, LeaderElectorOptions options) {
  elector_ = std::make_unique<LeaderElector>(client, *fence_, std::move(options));
}

void Leadership::StartTerm() {
  term_calls_ = std::stop_source();
  term_client_.emplace(client_->With(term_calls_.get_token()));
  if (new_event_recorder_) term_events_ = new_event_recorder_(*events_transport_);
  elected_.request_stop();
}

bool Leadership::IsLeader() const {
  return elected_.stop_requested() && (!elector_ || elector_->IsLeader());
}

}  // namespace kopp
