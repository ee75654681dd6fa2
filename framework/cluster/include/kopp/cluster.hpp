#pragma once

#include <memory>
#include <string>

#include <kopp/cache.hpp>
#include <kopp/cache_options.hpp>
#include <kopp/client.hpp>
#include <kopp/transport.hpp>

namespace kopp {

/// What distinguishes a further cluster from that of the manager: see the fields of Options with
/// these names. Manager::AddCluster takes all other options from the manager.
struct ClusterOptions {
  std::string kubeconfig = {};
  std::string context = {};
  std::string master = {};
  std::string watch_namespace = {};
  CacheOptions cache = {};
  std::shared_ptr<Transport> transport = {};
  /// Whether all controllers wait for this cluster. false: only the controllers that watch it wait,
  /// 5 seconds at most; its events come when its caches have synced, and keys that have failed are
  /// then retried at once. true: all controllers wait, and Manager::Run fails if the API server
  /// cannot be reached at the start or the caches do not sync within CacheOptions::sync_timeout. An
  /// invalid configuration and a missing kind are errors in both cases.
  bool required = false;
};

/// A Kubernetes cluster: the connection to its API server, a client and a cache. A Manager has one,
/// and Manager::AddCluster adds more. controller-runtime: cluster.Cluster.
///
///     kopp::Cluster& edge = manager.AddCluster("edge", {.context = "edge"});
///     manager.AddController<Foo>()
///         .Watches<kopp::Pod>(edge, [](const kopp::Pod& pod) { return FoosOf(pod); })
///         .Reconcile([&edge](const Foo& foo, kopp::Context& context) {
///           const auto pods = edge.cache().List<kopp::Pod>(foo.metadata.ns);
///           …
///         });
///
/// The manager owns its clusters, starts and stops their caches. client() and cache() are
/// thread-safe, and valid until the manager is destroyed.
class Cluster {
 public:
  class Impl;  // not for users: what the manager calls

  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  [[nodiscard]] const std::string& name() const;
  /// Returns the client for the API server. After a graceful shutdown has timed out, its calls
  /// throw.
  [[nodiscard]] const Client& client() const;
  /// Returns the cache of the watched objects. It is empty until Manager::Run. Until its first
  /// lists are complete, reads of a cluster that is not ClusterOptions::required throw
  /// StaleCacheError, except in handlers; a reconcile is then retried.
  [[nodiscard]] const Cache& cache() const;
  [[nodiscard]] Cache& cache();
  /// Returns the transport of client(), with the policies of the options: retries, rate limit and
  /// observers.
  [[nodiscard]] const std::shared_ptr<Transport>& transport() const;
  /// Returns the address of the API server and where it was configured: "https://10.0.0.1:6443,
  /// configured by in-cluster"; empty with Options::transport.
  [[nodiscard]] const std::string& description() const;

 private:
  explicit Cluster(Impl& impl) : impl_(impl) {}

  Impl& impl_;  // owns this object
};

}  // namespace kopp
