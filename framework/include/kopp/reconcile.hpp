#pragma once

#include <functional>
#include <stdexcept>
#include <stop_token>

#include <kopp/cache.hpp>
#include <kopp/client.hpp>
#include <kopp/events.hpp>
#include <kopp/log.hpp>

namespace kopp {

/// What a reconciler has to do its work with. All of it may be used from other threads as well, for
/// as long as the reconciler runs.
struct Context {
  ObjectKey key;         ///< what is being reconciled
  const Client& client;  ///< asks the API server
  const Cache& cache;    ///< answers at once, perhaps a little behind
  EventRecorder& events;
  Logger log;            ///< its lines name the controller and the object
  std::stop_token stop;  ///< asks for an early end: the process is to stop
};

/// How a reconcile that did not throw ended. `{}`: done, until something changes.
struct Result {
  Duration requeue_after{};  ///< look again after this time, though nothing changes; 0: no need
};

/// Thrown by a reconciler for what another try cannot help: it is logged and counted, and the
/// object is left alone until it changes. Anything else that is thrown is tried again, with
/// back-off.
class TerminalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Brings one object's world in line with what it asks for. Never called twice at once for one key.
using Reconciler = std::function<Result(const ObjectKey& key, Context& context)>;

}  // namespace kopp
