// Measures the CPU time that an informer's source spends on splitting and decoding: no network, no
// TLS, no store. The bytes come from memory, in reads of the size of a TLS record.
//
//     decode_bench [OBJECTS]   prints lines with a measure and the CPU time per object in µs

#include "apiserver_objects.hpp"
#include "views.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>

#include <sys/resource.h>

#include <kopp/http_source.hpp>
#include <kopp/transport.hpp>

namespace {

using namespace std::chrono_literals;
using Pod = PodView;
using nlohmann::json;

constexpr std::size_t kReadSize = 16 << 10;
constexpr int kRounds = 5;  // the fastest is printed

double CpuMicroseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto microseconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
}

/// The Pod as a server sends it: with the fields that the server sets.
json ServedPod(int number) {
  json pod = MakePod("web-" + std::to_string(number), static_cast<std::size_t>(number));
  json& metadata = pod["metadata"];
  metadata["namespace"] = "default";
  metadata["uid"] = "0b1c7c1e-5d0f-4c52-9d8e-" + std::to_string(100000000000 + number);
  metadata["resourceVersion"] = std::to_string(1000 + number);
  metadata["creationTimestamp"] = "2026-01-01T00:00:00Z";
  json fields;
  for (const char* member : {"f:image", "f:name", "f:imagePullPolicy", "f:resources",
                             "f:terminationMessagePath", "f:terminationMessagePolicy"})
    fields[member] = json::object();
  for (int i = 10; i < 22; ++i) {
    fields["f:env"]["k:{\"name\":\"SETTING_" + std::to_string(i) + "\"}"] = {
        {".", json::object()}, {"f:name", json::object()}, {"f:value", json::object()}};
    fields["f:volumeMounts"]["k:{\"mountPath\":\"/etc/app/" + std::to_string(i) + "\"}"] = {
        {".", json::object()}, {"f:mountPath", json::object()}, {"f:name", json::object()}};
  }
  const json containers{{"k:{\"name\":\"app\"}", fields}, {"k:{\"name\":\"sidecar\"}", fields}};
  metadata["managedFields"] = {{{"apiVersion", "v1"},
                                {"fieldsType", "FieldsV1"},
                                {"fieldsV1", {{"f:spec", {{"f:containers", containers}}}}},
                                {"manager", "kube-controller-manager"},
                                {"operation", "Update"},
                                {"time", "2026-01-01T00:00:00Z"}}};
  pod["status"] = {{"phase", "Running"}, {"podIP", "10.0.0.1"}, {"hostIP", "192.168.0.1"}};
  for (const char* type : {"PodScheduled", "Initialized", "ContainersReady", "Ready"}) {
    pod["status"]["conditions"].push_back({{"type", type},
                                           {"status", "True"},
                                           {"lastProbeTime", nullptr},
                                           {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
  }
  return pod;
}

/// Answers each request with the same text.
class TextTransport final : public kopp::Transport {
 public:
  explicit TextTransport(std::string text) : text_(std::move(text)) {}
  kopp::ApiResponse Call(const kopp::ApiRequest& /*request*/, std::stop_token /*stop*/) override {
    return {.status = 200, .body = text_};
  }
  std::unique_ptr<kopp::Stream> Open(const kopp::ApiRequest& /*request*/,
                                     std::stop_token /*stop*/) override {
    return std::make_unique<TextStream>(text_);
  }

 private:
  class TextStream final : public kopp::Stream {
   public:
    explicit TextStream(std::string_view text) : text_(text) {}
    [[nodiscard]] const kopp::ApiResponse& head() const override { return head_; }
    Chunk Read(kopp::Duration /*limit*/) override {
      const std::string_view bytes = text_.substr(0, kReadSize);
      text_.remove_prefix(bytes.size());
      return {bytes.empty() ? State::kEnd : State::kBytes, bytes};
    }

   private:
    std::string_view text_;
    kopp::ApiResponse head_{.status = 200};
  };

  std::string text_;
};

/// Prints the CPU time of `read`, which handles `objects` objects.
template <typename Read>
void Measure(const char* measure, int objects, Read read) {
  double best = 1e12;
  for (int round = 0; round < kRounds; ++round) {
    const double start = CpuMicroseconds();
    if (read() != objects) throw std::runtime_error("objects are missing");
    best = std::min(best, CpuMicroseconds() - start);
  }
  std::printf("%s %.2f\n", measure, best / objects);
}

void MeasureList(int objects) {
  std::string text = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},)"
                     R"("items":[)";
  for (int i = 0; i < objects; ++i) text += (i == 0 ? "" : ",") + ServedPod(i).dump();
  TextTransport transport(text + "]}\n");
  kopp::AnyHttpSource source(transport, Pod::kKind, kopp::DecodeAny<Pod>);
  Measure("listed_pod", objects, [&] {
    int count = 0;
    source.List({}, [&](const kopp::informer::AnyObject& /*pod*/) { ++count; }, {});
    return count;
  });
}

void MeasureWatch(int objects) {
  std::string text;
  for (int i = 0; i < objects; ++i) {
    text += R"({"type":"MODIFIED","object":)" + ServedPod(i).dump() + "}\n";
  }
  std::printf("event_bytes %zu\n", text.size() / static_cast<std::size_t>(objects));
  TextTransport transport(text);
  kopp::AnyHttpSource source(transport, Pod::kKind, kopp::DecodeAny<Pod>);
  Measure("watched_pod", objects, [&] {
    using Type = kopp::informer::WatchItem::Type;
    const auto watch = source.Watch({.resource_version = "1", .timeout = 300s}, {});
    int count = 0;
    for (auto item = watch->Next(1s); item.type != Type::kEnd; item = watch->Next(1s)) {
      count += item.type == Type::kEvent ? 1 : 0;
    }
    return count;
  });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int objects = argc > 1 ? std::atoi(argv[1]) : 20'000;
    MeasureWatch(objects);
    MeasureList(objects);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "decode_bench: %s\n", error.what());
    return 1;
  }
}
