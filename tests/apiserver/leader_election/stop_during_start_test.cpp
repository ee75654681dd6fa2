// Stops a whole program during each request of its start.
#include <atomic>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/markers.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

using ::testing::ContainsRegex;
using ::testing::Not;

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

/// Requests a stop when the request `stop_at` begins. Like the transports over a network, it does
/// not send a request whose stop was requested.
class StoppingTransport final : public Transport {
 public:
  StoppingTransport(Transport& next, std::size_t stop_at, std::stop_source& stop)
      : next_(next), stop_at_(stop_at), stop_(stop) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    Begin(request, stop);
    return next_.Call(request, std::move(stop));
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    Begin(request, stop);
    return next_.Open(request, std::move(stop));
  }
  [[nodiscard]] std::size_t requests() const { return requests_; }

 private:
  void Begin(const ApiRequest& request, const std::stop_token& stop) {
    if (++requests_ == stop_at_) stop_.request_stop();
    if (!stop.stop_requested()) return;
    throw TransportError(TransportError::Kind::kCancelled, request.target + ": cancelled");
  }

  Transport& next_;
  const std::size_t stop_at_;
  std::stop_source& stop_;
  std::atomic<std::size_t> requests_ = 0;
};

/// The end of a program that installs its CustomResourceDefinition, is elected, and reconciles.
struct End {
  int code = -1;
  std::string log = {};
  std::size_t requests = 0;
};

End RunUntilRequest(std::size_t stop_at) {
  testing::ApiServer server;
  Client(server.transport())
      .Create(ConfigMap::kKind, {{"metadata", {{"name", "a"}, {"namespace", "default"}}}});
  std::stop_source stop;
  const auto transport = std::make_shared<StoppingTransport>(server.transport(), stop_at, stop);
  detail::Guarded<std::string> log;
  Options options{.name = "web",
                  .log = Logger({.write = [&](auto line) { *log.Lock() += line; }}),
                  .transport = transport};
  options.install_crds = true;
  options.metrics = {.bind_address = "127.0.0.1:0", .secure = false};
  options.health.bind_address = "127.0.0.1:0";
  options.leader_election = {.enabled = true, .ns = "default", .identity = "a"};
  Manager manager(std::move(options));
  manager.AddController<Gauge>().Reconcile([](const Gauge&, Context&) { return Result{}; });
  manager.AddController<ConfigMap>().Reconcile([&](const ConfigMap& map, Context& context) {
    context.events.Normal(map, "Seen", "It works");
    stop.request_stop();
    return Result{};
  });
  const int code = manager.Run(stop.get_token());
  return {.code = code, .log = *log.Lock(), .requests = transport->requests()};
}

TEST(StopDuringStartTest, AStopDuringAnyRequestEndsWithCode0AndWithoutAnErrorLine) {
  std::size_t stop_at = 1;
  for (;; ++stop_at) {
    const End end = RunUntilRequest(stop_at);
    EXPECT_EQ(end.code, 0) << "request " << stop_at << '\n' << end.log;
    EXPECT_THAT(end.log, Not(ContainsRegex("(^|\n)E[0-9]{4} "))) << "request " << stop_at;
    if (end.requests < stop_at) break;
  }
  EXPECT_GT(stop_at, 8U) << "definition, discovery, lists, watches, the Lease and an Event";
}

}  // namespace
}  // namespace kopp
