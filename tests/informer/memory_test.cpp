// Bounds the memory per object of a store and of the queue of a handler. A program of its own,
// because it replaces operator new.
#include "handler_queue.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>

#include <kopp/informer/store.hpp>
#include <kopp/informer/unstructured.hpp>

namespace {

std::atomic<std::size_t> allocated_bytes{0};

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  allocated_bytes += malloc_usable_size(memory);
  return memory;
}

// AddressSanitizer has its own, which does not match the operator delete below.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* const memory = std::malloc(size);
  allocated_bytes += malloc_usable_size(memory);
  return memory;
}

void operator delete(void* memory) noexcept {
  allocated_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }

namespace kopp::informer {
namespace {

/// The fields of a Pod that operators read most often.
struct PodView {
  static constexpr Kind kKind{"v1", "Pod", "pods"};
  struct Spec {
    std::string nodeName;
  };
  struct Status {
    std::string phase;
    std::string podIP;
  };
  ObjectMeta metadata;
  Spec spec;
  Status status;
};
KOPP_FIELDS(PodView::Spec, nodeName)
KOPP_FIELDS(PodView::Status, phase, podIP)
KOPP_FIELDS(PodView, metadata, spec, status)

/// Returns a Pod of a Deployment with ten replicas.
std::string PodText(int i) {
  const std::string deployment = std::to_string(i / 10);
  const std::string replica_set = "web-frontend-" + deployment + "-7c9d8f6b54";
  return R"({"metadata":{"name":")" + replica_set + "-" + std::to_string(10000 + i) +
         R"(","generateName":")" + replica_set + R"(-","namespace":"team-)" +
         std::to_string(i % 7) + R"(","uid":"0f8fad5b-d9cb-469f-a165-)" +
         std::to_string(100000000000 + i) +
         R"(","resourceVersion":"123456","creationTimestamp":"2024-05-01T12:00:00Z","labels":{
         "app.kubernetes.io/name":"web-frontend","app.kubernetes.io/instance":"web-)" +
         deployment + R"(","app.kubernetes.io/version":"1.2.3","pod-template-hash":"7c9d8f6b54"},
         "annotations":{"checksum/config":"f7c3bc1d808e04732adf679965ccc34ca7ae3441",
         "prometheus.io/scrape":"true"},"ownerReferences":[{"apiVersion":"apps/v1",
         "kind":"ReplicaSet","name":")" +
         replica_set + R"(","uid":"7c9e6679-7425-40de-944b-)" + deployment +
         R"(","controller":true}]},"spec":{"nodeName":"node-17.example.internal"},
         "status":{"phase":"Running","podIP":"10.1.2.3"}})";
}

TEST(StoreMemoryTest, APodOfADeploymentTakesLessThanOneKilobyte) {
  constexpr std::size_t kPods = 5000;
  const std::size_t before = allocated_bytes;
  AnyStore store;
  {
    std::vector<AnyObject> list;
    for (std::size_t i = 0; i < kPods; ++i) {
      list.emplace_back(
          std::make_shared<const PodView>(Decode<PodView>(PodText(static_cast<int>(i)))));
    }
    store.Replace(list);
  }

  EXPECT_LT((allocated_bytes - before) / kPods, 1000U);
  EXPECT_EQ(store.Size(), kPods);
}

TEST(HandlerQueueMemoryTest, AnAddOfTheFirstListTakesLessThan80Bytes) {
  constexpr std::size_t kObjects = 10'000;
  std::vector<AnyObject> list;
  for (std::size_t i = 0; i < kObjects; ++i) {
    auto pod = std::make_shared<PodView>();
    pod->metadata.name = "pod-" + std::to_string(i);
    list.emplace_back(std::shared_ptr<const PodView>(std::move(pod)));
  }
  const std::size_t before = allocated_bytes;
  detail::HandlerQueue queue;
  for (const AnyObject& object : list) {
    queue.Push({detail::HandlerEvent::Type::kAdd, object, {}, /*in_initial_list=*/true});
  }

  EXPECT_LT((allocated_bytes - before) / kObjects, 80U);
  EXPECT_EQ(queue.size(), kObjects);
}

TEST(HandlerQueueMemoryTest, ObjectsThatComeAndGoWhileTheHandlerIsBusyTakeNoMemory) {
  const auto named = [](const std::string& name) {
    auto pod = std::make_shared<PodView>();
    pod->metadata.name = name;
    return AnyObject(std::shared_ptr<const PodView>(std::move(pod)));
  };
  using Type = detail::HandlerEvent::Type;
  detail::HandlerQueue queue;
  queue.Push({Type::kAdd, named("first")});
  const std::size_t before = allocated_bytes;
  for (int i = 0; i < 10'000; ++i) {
    const AnyObject object = named("pod-" + std::to_string(i));
    queue.Push({Type::kAdd, object});
    queue.Push({Type::kDelete, object});
  }

  EXPECT_LT(allocated_bytes - before, 10'000U);
  EXPECT_EQ(queue.Pop().object.name(), "first");
  EXPECT_TRUE(queue.empty());
}

TEST(WholeMemoryTest, AWholeObjectTakesItsTextItsMetadataAndNoSpareCapacity) {
  const std::string spec(4000, 'x');
  std::string text = PodText(1);
  text.insert(text.rfind('}'), R"(,"template":")" + spec + '"');
  static_cast<void>(Decode<Whole<PodView>>(text));  // allocates the buffers of the parser
  const std::size_t before = allocated_bytes;
  const auto pod = std::make_shared<const Whole<PodView>>(Decode<Whole<PodView>>(text));

  EXPECT_LT(allocated_bytes - before, pod->text().size() + 2000);
}

}  // namespace
}  // namespace kopp::informer
