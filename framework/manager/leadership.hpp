#pragma once

#include "cluster/cluster_impl.hpp"
#include "recording/recorder.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include <kopp/client.hpp>
#include <kopp/events.hpp>
#include <kopp/leader_election/leader_elector.hpp>
#include <kopp/leader_election/write_fence.hpp>
#include <kopp/options.hpp>

namespace kopp {

/// The terms of a manager as leader: its elector, and the clients and Events of its reconciles. The
/// writes of both fail while another replica may be the leader. Without leader election, there is
/// one term, and no write fails.
///
/// client() and elected() are thread-safe; elector() and IsLeader() are after CreateElector().
/// CancelCalls(), term_client() and term_events() may be called by any thread, but not during
/// StartTerm().
class Leadership {
 public:
  using EventRecorderFactory = std::function<std::unique_ptr<EventRecorder>(Transport&)>;

  /// `options` and `cluster` must outlive the object. `recorder` may be null.
  Leadership(const Options& options, Cluster::Impl& cluster,
             const std::shared_ptr<Recorder>& recorder);

  /// Lets each later term create a recorder of Events with `factory`, over `transport`. Does
  /// nothing without leader election: there is no term whose end could reject an Event.
  void SetEvents(std::shared_ptr<Transport> transport, EventRecorderFactory factory);
  /// Creates the elector, which writes its Lease with `client`. Requires
  /// LeaderElectionOptions::enabled. Call it once, before other threads call elector().
  void CreateElector(const Client& client, LeaderElectorOptions options);

  /// Starts a term. Requests a stop of elected() in the first one.
  void StartTerm();
  /// Cancels the calls of term_client().
  void CancelCalls() { term_calls_.request_stop(); }

  /// The client of the leader, in all terms.
  [[nodiscard]] const Client& client() const { return *client_; }
  /// The client of the reconciles in the current term. Requires that StartTerm() was called.
  [[nodiscard]] const Client& term_client() const { return *term_client_; }
  /// The recorder of the latest term; null before the first one and without leader election.
  [[nodiscard]] EventRecorder* term_events() const { return term_events_.get(); }
  /// Null without leader election and before CreateElector().
  [[nodiscard]] LeaderElector* elector() const { return elector_.get(); }
  /// A stop is requested when the first term starts.
  [[nodiscard]] std::stop_token elected() const { return elected_.get_token(); }
  /// Returns whether StartTerm() was called and, with leader election, this replica holds the
  /// Lease. After the Lease is lost it returns false, although the term still ends.
  [[nodiscard]] bool IsLeader() const;

 private:
  std::unique_ptr<WriteFence> fence_;     // null without leader election
  std::shared_ptr<Transport> transport_;  // fenced with leader election
  std::optional<Client> client_;          // always set
  std::shared_ptr<Transport> events_transport_;
  EventRecorderFactory new_event_recorder_;
  std::unique_ptr<LeaderElector> elector_;
  std::stop_source elected_;
  std::stop_source term_calls_;
  std::optional<Client> term_client_;
  std::unique_ptr<EventRecorder> term_events_;
};

}  // namespace kopp
