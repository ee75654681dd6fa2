#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <future>
#include <latch>
#include <memory>
#include <stop_token>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <kopp/informer_set.hpp>
#include <kopp/kinds.hpp>
#include <kopp/standalone_cache.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>
#include <kopp/transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

constexpr const char* kOnePod = R"({"kind":"PodList","metadata":{"resourceVersion":"5"},
    "items":[{"metadata":{"name":"web","namespace":"shop","uid":"u","resourceVersion":"4"}}]})";

/// A transport whose calls block until they are cancelled and Proceed was called.
class SlowlyCancelledTransport final : public Transport {
 public:
  ApiResponse Call(const ApiRequest&, std::stop_token stop) override { Block(stop); }
  std::unique_ptr<Stream> Open(const ApiRequest&, std::stop_token stop) override { Block(stop); }

  void AwaitCall() const { called_.wait(); }
  void AwaitCancellation() const { cancelled_.wait(); }
  void Proceed() { proceed_.count_down(); }

 private:
  [[noreturn]] void Block(const std::stop_token& stop) {
    called_.count_down();
    const std::stop_callback on_stop(stop, [this] { cancelled_.count_down(); });
    proceed_.wait();
    throw TransportError(TransportError::Kind::kCancelled, "stopped");
  }

  std::latch called_{1};
  std::latch cancelled_{1};
  std::latch proceed_{1};
};

TEST(CacheAcquireTest, AResultOfAcquireMayOutliveTheCache) {
  testing::FakeClock clock;
  testing::ScriptedTransport transport{clock};
  transport.Respond("GET", "/api/v1/pods", 200, kOnePod);
  auto cache = std::make_unique<StandaloneCache>(transport, CacheOptions{}, Logger(), clock);
  cache->Start();
  const auto informers = cache->Acquire<Pod>();
  EXPECT_TRUE(informers->WaitForSync({}));

  cache.reset();

  EXPECT_EQ(informers->Size(), 1);
}

TEST(CacheAcquireTest, TheCacheIsDestroyedAfterARunningReleaseOfItsInformers) {
  testing::FakeClock clock;
  SlowlyCancelledTransport transport;
  auto cache = std::make_unique<StandaloneCache>(transport, CacheOptions{}, Logger(), clock);
  cache->Start();
  auto informers = cache->Acquire<Pod>();
  transport.AwaitCall();
  std::jthread releasing([&] { informers.reset(); });
  transport.AwaitCancellation();  // the cache has no entry of the view any more
  std::promise<void> destroyed;
  const auto is_destroyed = destroyed.get_future();

  std::jthread destroying([&] {
    cache.reset();
    destroyed.set_value();
  });

  EXPECT_EQ(is_destroyed.wait_for(50ms), std::future_status::timeout)
      << "a thread of the informers still uses the transport";
  transport.Proceed();
  is_destroyed.wait();
}

TEST(CacheAcquireTest, AViewThatIsRemovedBeforeItHasSyncedDoesNotMakeTheWaitFail) {
  testing::FakeClock clock;
  testing::ScriptedTransport transport{clock};
  transport.Respond("GET", "/api/v1/pods", 500, "{}");
  StandaloneCache cache(transport, {}, Logger(), clock);
  auto informers = cache.Acquire<Pod>();
  cache.Start();
  std::atomic<bool> synced = false;
  {
    const std::jthread wait([&] { synced = cache.WaitForSync({}); });
    clock.AwaitSleeperFor(std::chrono::minutes(2));  // the time limit of the wait
    informers.reset();
  }
  EXPECT_TRUE(synced);
}

TEST(CacheAcquireTest, ARemovedViewDoesNotEndTheWaitForAMissingKind) {
  testing::FakeClock clock;
  testing::ScriptedTransport transport{clock};
  transport.Respond("GET", "/api/v1/pods", 500, "{}");
  transport.On("GET", "/api/v1/configmaps", [&](const ApiRequest&) -> ApiResponse {
    if (clock.Now() < TimePoint{} + std::chrono::minutes(3)) return {.status = 404, .body = "{}"};
    return {.status = 200,
            .body = R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"5"},"items":[]})"};
  });
  CacheOptions options;
  options.wait_if_missing = true;
  StandaloneCache cache(transport, std::move(options), Logger(), clock);
  cache.InformerFor<ConfigMap>();
  auto informers = cache.Acquire<Pod>();
  cache.Start();
  std::atomic<bool> ended = false;
  std::atomic<bool> synced = false;
  {
    const std::jthread wait([&] {
      synced = cache.WaitForSync({});
      ended = true;
    });
    clock.AwaitSleeperFor(std::chrono::minutes(2));  // the time limit of the wait
    informers.reset();
    while (!ended) {
      clock.Advance(std::chrono::seconds(1));
      std::this_thread::yield();
    }
  }
  EXPECT_TRUE(synced);
}

TEST(CacheAcquireTest, AResultOfAcquireDoesNotRemoveAViewThatWasRemovedAndAddedAgain) {
  testing::FakeClock clock;
  testing::ScriptedTransport transport{clock};
  StandaloneCache cache(transport, {}, Logger(), clock);
  auto informers = cache.Acquire<Pod>();
  cache.Remove<Pod>();
  const auto others = cache.Acquire<Pod>();

  informers.reset();

  EXPECT_EQ(cache.Kinds().size(), 1);
}

/// Threads that use all address space, until the destructor ends them.
class AllThreads {
 public:
  AllThreads() {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    ::getrlimit(RLIMIT_AS, &old_limit_);
    rlimit limit = old_limit_;
    limit.rlim_cur = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (4U << 20U);
    ::setrlimit(RLIMIT_AS, &limit);
    threads_.reserve(kMaxThreads);
    try {
      while (threads_.size() < kMaxThreads) threads_.emplace_back([this] { end_.wait(); });
    } catch (const std::system_error&) {  // there is no space for one more
    }
  }
  ~AllThreads() {
    ::setrlimit(RLIMIT_AS, &old_limit_);
    end_.count_down();
  }
  AllThreads(const AllThreads&) = delete;
  AllThreads& operator=(const AllThreads&) = delete;

 private:
  static constexpr std::size_t kMaxThreads = 1000;
  rlimit old_limit_{};
  std::latch end_{1};
  std::vector<std::jthread> threads_;
};

/// Exits with 0 if Acquire throws while there is no space for a thread, and succeeds later.
[[noreturn]] void AcquireWithAndWithoutThreads() {
  testing::FakeClock clock;
  testing::ScriptedTransport transport{clock};
  transport.Respond("GET", "/api/v1/pods", 200, kOnePod);
  StandaloneCache cache(transport, {}, Logger(), clock);
  cache.Start();
  {
    const AllThreads all;
    try {
      static_cast<void>(cache.Acquire<Pod>());
      std::_Exit(2);
    } catch (const std::system_error&) {
      if (!cache.Kinds().empty()) std::_Exit(3);
    }
  }
  const auto informers = cache.Acquire<Pod>();
  std::_Exit(informers->WaitForSync({}) ? 0 : 4);
}

TEST(CacheAcquireTest, AViewWhoseThreadCannotBeStartedIsNotAdded) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need the address space";
#endif
  EXPECT_EXIT(AcquireWithAndWithoutThreads(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kopp
