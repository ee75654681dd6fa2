#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

/// Forwards requests, and delays the events of watches: the cache lags behind the API server.
class LateWatchTransport final : public Transport {
 public:
  explicit LateWatchTransport(Transport& inner) : inner_(inner) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    return inner_.Call(request, std::move(stop));
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    return std::make_unique<LateStream>(inner_.Open(request, stop), stop);
  }

 private:
  class LateStream final : public Stream {
   public:
    LateStream(std::unique_ptr<Stream> inner, std::stop_token stop)
        : inner_(std::move(inner)), stop_(std::move(stop)) {}
    [[nodiscard]] const ApiResponse& head() const override { return inner_->head(); }
    Chunk Read(Duration limit) override {
      const Chunk chunk = inner_->Read(limit);
      SleepUntil(Clock::Real(), SaturatingAdd(Clock::Real().Now(), 20ms), stop_);
      return chunk;
    }

   private:
    std::unique_ptr<Stream> inner_;
    std::stop_token stop_;
  };

  Transport& inner_;
};

/// Creates one Secret for the ConfigMap, and counts to three in its data. It trusts the cache: if
/// the cache is stale, it creates a second Secret, or its update conflicts.
Result CountToThree(const ConfigMap& map, Context& context) {
  if (context.cache.List<Secret>("default").empty()) {
    context.client.Create<Secret>(
        {{"metadata", {{"generateName", "child-"}, {"namespace", "default"}}}});
  }
  const int count = map.data.contains("count") ? std::stoi(map.data.at("count")) : 0;
  if (count == 3) return {};
  context.client.Update<ConfigMap>({{"metadata",
                                     {{"name", map.metadata.name},
                                      {"namespace", map.metadata.ns},
                                      {"resourceVersion", map.metadata.resourceVersion}}},
                                    {"data", {{"count", std::to_string(count + 1)}}}});
  return {.requeue_after = 1us};
}

TEST(ReadYourWritesServerTest, AReconcilerThatTrustsALateCacheNeitherConflictsNorCreatesTwice) {
  testing::ApiServer server;
  const Client client(server.transport());
  client.Create<ConfigMap>({{"metadata", {{"name", "counter"}, {"namespace", "default"}}}});
  Manager manager{{.transport = std::make_shared<LateWatchTransport>(server.transport())}};
  std::atomic<int> errors{0};
  std::stop_source stop;
  manager.AddController<ConfigMap>().Owns<Secret>().Cached().Reconcile(
      [&](const ConfigMap& map, Context& context) -> Result {
        if (map.metadata.name != "counter") return {};
        try {
          const Result result = CountToThree(map, context);
          if (result.requeue_after == Duration::zero()) stop.request_stop();
          return result;
        } catch (const std::exception&) {
          ++errors;
          throw;
        }
      });

  EXPECT_EQ(manager.Run(stop.get_token()), 0);

  EXPECT_EQ(errors, 0);
  EXPECT_EQ(client.List<Secret>({.ns = "default"}).size(), 1U);
  EXPECT_EQ(client.Get<ConfigMap>({"default", "counter"})->data.at("count"), "3");
}

}  // namespace
}  // namespace kopp
