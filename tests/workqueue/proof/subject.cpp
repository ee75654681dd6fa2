#include "subject.hpp"

#include <stdexcept>
#include <utility>

#include <kopp/workqueue/delaying_queue.hpp>
#include <kopp/workqueue/queue.hpp>

namespace kopp::proof {
namespace {

template <typename Queue>
class SubjectOf final : public Subject {
 public:
  explicit SubjectOf(workqueue::QueueOptions options) : queue_(std::move(options)) {}

  void Add(Key key, int priority) override { queue_.Add(key, priority); }
  void AddAfter(Key key, Duration delay, std::optional<int> priority) override {
    if constexpr (requires { queue_.AddAfter(key, delay, priority); }) {
      queue_.AddAfter(key, delay, priority);
    } else {
      throw std::logic_error("a Queue delays nothing");
    }
  }
  std::optional<workqueue::Prioritized<Key>> Get(const std::stop_token& stop) override {
    return queue_.GetWithPriority(stop);
  }
  void Done(Key key) override { queue_.Done(key); }
  std::size_t Len() override { return queue_.Len(); }
  void ShutDown() override { queue_.ShutDown(); }
  void ShutDownWithDrain() override { queue_.ShutDownWithDrain(); }
  workqueue::Snapshot<Key> TakeSnapshot() override { return queue_.TakeSnapshot(); }

 private:
  Queue queue_;
};

}  // namespace

// NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): loses sight of what a std::any holds
std::unique_ptr<Subject> MakeQueue(const Rules& rules) {
  return std::make_unique<SubjectOf<workqueue::Queue<Key>>>(
      workqueue::QueueOptions{.order = rules.OfQueue()});
}

std::unique_ptr<Subject> MakeDelayingQueue(const Rules& rules, Clock& clock) {
  return std::make_unique<SubjectOf<workqueue::DelayingQueue<Key>>>(
      workqueue::QueueOptions{.clock = clock, .order = rules.OfQueue()});
}
// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

}  // namespace kopp::proof
