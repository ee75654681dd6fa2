#pragma once

#include "running_reconciles.hpp"

#include <optional>
#include <stop_token>
#include <utility>

#include <kopp/client.hpp>

namespace kopp {

/// The stop token and the client of one call of a reconcile function. With `running`, both are
/// stopped when a newer event adds the key. Without, they are those of the worker, and nothing is
/// allocated.
class SupersedableCall {
 public:
  /// `running` may be null. All references must outlive the object.
  SupersedableCall(RunningReconciles* running, const ObjectKey& key, const Client& client,
                   std::stop_token stop)
      : client_(client), stop_(std::move(stop)) {
    if (running != nullptr) armed_.emplace(*running, key, client_, stop_);
  }

  [[nodiscard]] const Client& client() const { return armed_ ? armed_->client : client_; }
  [[nodiscard]] std::stop_token stop() const { return armed_ ? armed_->stop.get_token() : stop_; }
  /// Returns whether both were stopped by a newer event.
  [[nodiscard]] bool superseded() const {
    return armed_ && armed_->run.superseded().stop_requested();
  }

 private:
  struct Forward {
    std::stop_source to;
    void operator()() { to.request_stop(); }
  };
  struct Armed {
    Armed(RunningReconciles& running, const ObjectKey& key, const Client& worker_client,
          const std::stop_token& worker_stop)
        : client(worker_client.With(calls.get_token())),
          on_worker_stop(worker_stop, Forward{stop}),
          on_client_stop(worker_client.stop(), Forward{calls}),
          run(running, key),
          stop_on_superseded(run.superseded(), Forward{stop}),
          cancel_on_superseded(run.superseded(), Forward{calls}) {}

    std::stop_source stop;
    std::stop_source calls;
    Client client;
    std::stop_callback<Forward> on_worker_stop;
    std::stop_callback<Forward> on_client_stop;
    RunningReconciles::Run run;
    std::stop_callback<Forward> stop_on_superseded;
    std::stop_callback<Forward> cancel_on_superseded;
  };

  const Client& client_;
  std::stop_token stop_;
  std::optional<Armed> armed_;
};

}  // namespace kopp
