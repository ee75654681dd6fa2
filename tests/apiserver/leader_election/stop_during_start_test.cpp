// Stops a whole program during each request of its start.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <sstream>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/markers.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

struct Gauge {
  static constexpr Kind kKind{"example.com/v1", "Gauge", "gauges"};
  struct Spec {
    int size = 0;
  };
  ObjectMeta metadata = {};
  Spec spec = {};
};
KOPP_FIELDS(Gauge::Spec, size)
KOPP_FIELDS(Gauge, metadata, spec)
KOPP_CRD(Gauge)

/// The request of the program at whose begin StoppingTransport requests a stop.
struct StopAt {
  const std::size_t stop_at;
  std::stop_source stop = {};
  std::atomic<std::size_t> requests = 0;
};

/// Counts the requests. Like the transports over a network, it does not send a request whose stop
/// was requested.
class StoppingTransport final : public Transport {
 public:
  StoppingTransport(Transport& next, StopAt& stop) : next_(next), stop_(stop) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    Begin(request, stop);
    return next_.Call(request, std::move(stop));
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    Begin(request, stop);
    return next_.Open(request, std::move(stop));
  }

 private:
  void Begin(const ApiRequest& request, const std::stop_token& stop) {
    if (++stop_.requests == stop_.stop_at) stop_.stop.request_stop();
    if (!stop.stop_requested()) return;
    throw TransportError(TransportError::Kind::kCancelled, request.target + ": cancelled");
  }

  Transport& next_;
  StopAt& stop_;
};

class UnreachableTransport final : public Transport {
 public:
  ApiResponse Call(const ApiRequest& /*request*/, std::stop_token /*stop*/) override { Throw(); }
  std::unique_ptr<Stream> Open(const ApiRequest& /*request*/, std::stop_token /*stop*/) override {
    Throw();
  }

 private:
  [[noreturn]] static void Throw() {
    throw TransportError(TransportError::Kind::kUnreachable, "edge is down");
  }
};

/// The end of a program that installs its CustomResourceDefinition, is elected, and reconciles.
struct End {
  int code = -1;
  std::string log = {};
  std::size_t requests = 0;
};

enum class Variant { kLeader, kStandby, kFurtherClusterDown };

class StopDuringStartTest : public ::testing::Test {
 protected:
  End RunUntilRequest(Variant variant, std::size_t stop_at) {
    testing::ApiServer server;
    const Client client(server.transport());
    client.Create<ConfigMap>({{"metadata", {{"name", "a"}, {"namespace", "default"}}}});
    if (variant == Variant::kStandby) CreateLeaseOfAnother(client);
    StopAt stop{.stop_at = stop_at};
    detail::Guarded<std::string> log;
    Options options{.name = "web",
                    .log = Logger({.write = [&](auto line) { *log.Lock() += line; }}),
                    .transport = std::make_shared<StoppingTransport>(server.transport(), stop)};
    options.install_crds = true;
    options.metrics = {.bind_address = "127.0.0.1:0", .secure = false};
    options.health.bind_address = "127.0.0.1:0";
    options.leader_election = {
        .enabled = true, .ns = "default", .identity = "a", .retry_period = 10ms};
    Manager manager(std::move(options));
    manager.AddController<Gauge>().Reconcile([](const Gauge&, Context&) { return Result{}; });
    manager.AddController<ConfigMap>().Reconcile([&](const ConfigMap& map, Context& context) {
      context.events.Normal(map, "Seen", "It works");
      stop.stop.request_stop();
      return Result{};
    });
    if (variant == Variant::kFurtherClusterDown) {
      AddEdge(manager, std::make_shared<StoppingTransport>(unreachable_, stop));
    }
    const int code = manager.Run(stop.stop.get_token());
    return {.code = code, .log = *log.Lock(), .requests = stop.requests};
  }

  /// Runs the program until each of its first `max` requests, or of all. Returns their number.
  std::size_t StopAtEach(Variant variant, std::size_t max) {
    for (std::size_t stop_at = 1; stop_at <= max; ++stop_at) {
      const End end = RunUntilRequest(variant, stop_at);
      EXPECT_EQ(end.code, 0) << "request " << stop_at << '\n' << end.log;
      EXPECT_THAT(ErrorLines(end.log), IsEmpty()) << "request " << stop_at;
      if (end.requests < stop_at) return end.requests;
    }
    return max;
  }

 private:
  static void CreateLeaseOfAnother(const Client& client) {
    constexpr Kind kLease{"coordination.k8s.io/v1", "Lease", "leases"};
    client.Dynamic(kLease).Create(
        {{"metadata", {{"name", "web"}, {"namespace", "default"}}},
         {"spec", {{"holderIdentity", "b"}, {"leaseDurationSeconds", 3600}}}});
  }
  static void AddEdge(Manager& manager, std::shared_ptr<Transport> transport) {
    Cluster& edge = manager.AddCluster("edge", {.transport = std::move(transport)});
    manager.AddController<Secret>()
        .Watches<Pod>(edge, [](const Pod&) { return std::vector<ObjectKey>{}; })
        .Reconcile([](const Secret&, Context&) { return Result{}; });
  }

  /// Returns the lines of level error, except those that tell that the cluster edge is down.
  static std::vector<std::string> ErrorLines(const std::string& log) {
    std::vector<std::string> lines;
    std::istringstream in(log);
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with('E') && line.find("edge is down") == std::string::npos)
        lines.push_back(line);
    }
    return lines;
  }

  UnreachableTransport unreachable_;
};

TEST_F(StopDuringStartTest, AStopDuringAnyRequestEndsWithCode0AndWithoutAnErrorLine) {
  EXPECT_GT(StopAtEach(Variant::kLeader, 100), 8U)
      << "definition, discovery, lists, watches, the Lease and an Event";
}

TEST_F(StopDuringStartTest, AStopOfAStandbyDuringAnyRequestEndsWithCode0AndWithoutAnErrorLine) {
  EXPECT_EQ(StopAtEach(Variant::kStandby, 15), 15U) << "it reads the Lease again and again";
}

TEST_F(StopDuringStartTest, AStopWhileAFurtherClusterIsDownEndsWithCode0AndWithoutAnErrorLine) {
  EXPECT_GT(StopAtEach(Variant::kFurtherClusterDown, 100), 10U);
}

}  // namespace
}  // namespace kopp
