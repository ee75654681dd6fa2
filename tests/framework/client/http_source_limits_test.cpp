#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <fstream>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/http_source.hpp>
#include <kopp/informer/detail/json_splitter.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using informer::WatchItem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A transport whose streams call `read`.
class ReadTransport final : public Transport {
 public:
  using ReadFunction = std::function<Stream::Chunk(Duration limit)>;
  explicit ReadTransport(ReadFunction read) : read_(std::move(read)) {}

  ApiResponse Call(const ApiRequest& /*request*/, std::stop_token /*stop*/) override { return {}; }
  std::unique_ptr<Stream> Open(const ApiRequest& /*request*/, std::stop_token /*stop*/) override {
    return std::make_unique<ReadStream>(read_);
  }

 private:
  class ReadStream final : public Stream {
   public:
    explicit ReadStream(ReadFunction read) : read_(std::move(read)) {}
    [[nodiscard]] const ApiResponse& head() const override { return head_; }
    Chunk Read(Duration limit) override { return read_(limit); }

   private:
    ReadFunction read_;
    ApiResponse head_{.status = 200};
  };

  ReadFunction read_;
};

/// Returns the names of the Pods that a watch reports before it ends or breaks. Each read returns
/// `size` bytes of `text`; after its end, the stream does what `end` does.
std::vector<std::string> WatchedNames(std::string_view text, std::size_t size,
                                      const std::function<Stream::Chunk()>& end) {
  ReadTransport transport([&](Duration) -> Stream::Chunk {
    if (text.empty()) return end();
    const std::string_view bytes = text.substr(0, size);
    text.remove_prefix(bytes.size());
    return {.state = Stream::State::kBytes, .bytes = bytes};
  });
  AnyHttpSource source(transport, Pod::kKind, DecodeAny<Pod>);
  const auto watch = source.Watch({.resource_version = "7", .timeout = 300s}, {});
  std::vector<std::string> names;
  try {
    for (auto item = watch->Next(1s); item.type != WatchItem::Type::kEnd; item = watch->Next(1s)) {
      if (item.type == WatchItem::Type::kEvent) names.push_back(item.object.key().name);
    }
  } catch (const std::exception& error) {
    names.emplace_back(error.what());
  }
  return names;
}

const std::string two_pods =
    R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"café"}}})"
    "\n"
    R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}})"
    "\n";

TEST(HttpSourceChunksTest, TheEventsOfAWatchDoNotDependOnTheSizeOfTheReads) {
  const auto end = [] { return Stream::Chunk{.state = Stream::State::kEnd}; };
  for (std::size_t size = 1; size <= two_pods.size(); ++size) {
    EXPECT_THAT(WatchedNames(two_pods, size, end), ElementsAre("café", "b")) << size;
  }
}

TEST(HttpSourceChunksTest, AWatchThatBreaksAtAnyByteReportsOnlyTheCompleteEvents) {
  const auto reset = []() -> Stream::Chunk {
    throw TransportError(TransportError::Kind::kBroken, "reset");
  };
  const std::size_t first = two_pods.find('\n');
  for (std::size_t size = 1; size < two_pods.size() - 1; ++size) {
    const auto names = WatchedNames(std::string_view(two_pods).substr(0, size), 50, reset);
    if (size < first) {
      EXPECT_THAT(names, ElementsAre("reset")) << size;
    } else {
      EXPECT_THAT(names, ElementsAre("café", "reset")) << size;
    }
  }
}

/// Lists `body` from a server that sends `size` bytes after each `interval`.
class SlowListTest : public ::testing::Test {
 protected:
  informer::ListResult List(const std::string& body, std::size_t size, Duration interval) {
    TimePoint next_bytes = clock_.Now() + interval;
    std::string_view rest = body;
    ReadTransport transport([&](Duration limit) -> Stream::Chunk {
      if (rest.empty()) return {.state = Stream::State::kEnd};
      if (clock_.Now() + limit < next_bytes) {
        clock_.Advance(limit);
        return {.state = Stream::State::kSilent};
      }
      clock_.Advance(std::max(next_bytes - clock_.Now(), Duration::zero()));
      next_bytes += interval;
      const std::string_view bytes = rest.substr(0, size);
      rest.remove_prefix(bytes.size());
      return {.state = Stream::State::kBytes, .bytes = bytes};
    });
    AnyHttpSource source(transport, Pod::kKind, DecodeAny<Pod>, Selector{}, clock_);
    return source.List({}, [this](const informer::AnyObject&) { ++objects_; }, {});
  }

  std::string ErrorOfList(const std::string& body, std::size_t size, Duration interval) {
    try {
      List(body, size, interval);
    } catch (const TransportError& error) {
      EXPECT_EQ(error.kind(), TransportError::Kind::kTimeout);
      return error.what();
    }
    return "no error";
  }

  static std::string ListOfPods(std::size_t bytes) {
    const std::string padding(10'000, 'x');
    std::string body = R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[)";
    for (int i = 0; body.size() < bytes; ++i) {
      if (i > 0) body += ',';
      body += R"({"metadata":{"name":"web-)" + std::to_string(i) + R"("},"x":")" + padding + "\"}";
    }
    return body + "]}";
  }

  testing::FakeClock clock_;
  TimePoint start_ = clock_.Now();
  int objects_ = 0;
};

TEST_F(SlowListTest, AListWithoutDataFor30SecondsTimesOut) {
  EXPECT_THAT(ErrorOfList(ListOfPods(100), 100, 31s), HasSubstr("no data for 30 s"));
  EXPECT_EQ(clock_.Now() - start_, 30s);
}

TEST_F(SlowListTest, AListThatSendsAByteEvery5SecondsTimesOutAfterOneMinute) {
  EXPECT_THAT(ErrorOfList(ListOfPods(1000), 1, 5s), HasSubstr("LIST /api/v1/pods: too slow"));
  EXPECT_LT(clock_.Now() - start_, 61s);
}

TEST_F(SlowListTest, AListOf20MegabytesCompletesOverALinkOf64KilobitsPerSecond) {
  EXPECT_EQ(List(ListOfPods(20'000'000), 4000, 500ms).resource_version, "9");
  EXPECT_GT(objects_, 1900);
  EXPECT_GT(clock_.Now() - start_, 40min);
}

/// Measures the resident memory of the process while a watch reads a huge event.
class HugeEventTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kLimit = JsonSplitter::kMaxObjectBytes;
  static constexpr std::size_t kMargin = 20'000'000;
  static constexpr std::string_view kBegin =
      R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1",
          "metadata":{"name":"a","resourceVersion":"8"},"data":[")";
  static constexpr std::string_view kEnd = "\"]}}\n";

  static inline const std::string one_string = std::string(16U << 10U, 'x');
  static inline const std::string many_strings = [] {
    std::string strings;
    while (strings.size() < 16U << 10U) strings += R"(","x)";
    return strings;
  }();

  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers have their own allocators";
#endif
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts at the current memory
    memory_before_ = Memory("VmRSS:");
  }

  /// Returns a line of /proc/self/status in bytes.
  static std::size_t Memory(const std::string& name) {
    std::ifstream status("/proc/self/status");
    std::size_t kilobytes = 0;
    for (std::string word; status >> word;) {
      if (word == name) status >> kilobytes;
    }
    return kilobytes * 1024;
  }
  [[nodiscard]] std::size_t PeakMemory() const { return Memory("VmHWM:") - memory_before_; }
  [[nodiscard]] std::size_t MemoryNow() const {
    return std::max(Memory("VmRSS:"), memory_before_) - memory_before_;
  }

  /// Sends an event with `data_size` bytes of data, which repeat `data`; then the watch is silent.
  Stream::Chunk ReadEvent(std::size_t data_size, std::string_view data = one_string) {
    const std::size_t begin = sent_;
    if (begin == 0) return Send(kBegin);
    if (begin < kBegin.size() + data_size) {
      const std::size_t left = kBegin.size() + data_size - begin;
      return Send(data.substr(0, left));
    }
    if (begin == kBegin.size() + data_size) return Send(kEnd);
    return {.state = Stream::State::kSilent};
  }
  Stream::Chunk Send(std::string_view bytes) {
    sent_ += bytes.size();
    return {.state = Stream::State::kBytes, .bytes = bytes};
  }

  std::size_t sent_ = 0;
  std::size_t memory_before_ = 0;
};

TEST_F(HugeEventTest, AnEventOf60MebibytesIsReadWithinTheLimitAndItsMemoryIsFreed) {
  ReadTransport transport([this](Duration) { return ReadEvent(60U << 20U); });
  AnyHttpSource source(transport, Pod::kKind, DecodeAny<Pod>);
  const auto watch = source.Watch({.resource_version = "7", .timeout = 300s}, {});

  WatchItem item;
  while (item.type != WatchItem::Type::kEvent) item = watch->Next(1s);
  EXPECT_EQ(item.object.key().name, "a");
  EXPECT_GT(PeakMemory(), 60U << 20U);
  EXPECT_LT(PeakMemory(), kLimit + kMargin);

  EXPECT_EQ(watch->Next(1s).type, WatchItem::Type::kNoEvent);
  EXPECT_LT(MemoryNow(), kMargin);
}

TEST_F(HugeEventTest, TheMemoryOfTheParserIsFreedAfterALargeEventOfManyValues) {
  const std::size_t data_size = many_strings.size() * 512;  // 8 MiB
  ReadTransport transport([&](Duration) { return ReadEvent(data_size, many_strings); });
  AnyHttpSource source(transport, Pod::kKind, DecodeAny<Pod>);
  const auto watch = source.Watch({.resource_version = "7", .timeout = 300s}, {});

  WatchItem item;
  while (item.type != WatchItem::Type::kEvent) item = watch->Next(1s);
  EXPECT_GT(PeakMemory(), 2 * data_size) << "the parser has an index of the values";

  EXPECT_EQ(watch->Next(1s).type, WatchItem::Type::kNoEvent);
  EXPECT_LT(MemoryNow(), data_size / 2);
}

TEST_F(HugeEventTest, AnEndlessEventEndsTheWatchAtTheLimitAndItsMemoryIsFreed) {
  ReadTransport transport([this](Duration) { return ReadEvent(1U << 30U); });
  AnyHttpSource source(transport, Pod::kKind, DecodeAny<Pod>);
  auto watch = source.Watch({.resource_version = "7", .timeout = 300s}, {});
  const auto read_to_end = [&] {
    while (watch->Next(1s).type == WatchItem::Type::kNoEvent) {
    }
  };

  EXPECT_THROW(read_to_end(), DecodeError);
  EXPECT_GE(sent_, kLimit);
  EXPECT_LT(PeakMemory(), kLimit + kMargin);

  watch.reset();
  EXPECT_LT(MemoryNow(), kMargin);
}

}  // namespace
}  // namespace kopp
