// Processes keys from a rate-limited work queue and retries failures with back-off.
#include <atomic>
#include <iostream>
#include <string>
#include <thread>

#include <kopp/workqueue/rate_limiting_queue.hpp>

static std::atomic<int> attempts{0};

// Returns false if the key must be retried.
static bool Sync(const std::string& key) {
  std::cout << "attempt " + std::to_string(++attempts) + " for " + key + "\n";
  return attempts >= 3;
}

int main() {
  kopp::workqueue::RateLimitingQueue<std::string> queue;   // retries after 5 ms, 10 ms, 20 ms …
  std::jthread worker([&queue] {                           // you can start several workers
    while (const auto key = queue.Get()) {                 // nullopt: the queue is shut down
      const kopp::workqueue::DoneGuard done{queue, *key};  // calls Done at the end of the scope
      Sync(*key) ? queue.Forget(*key) : queue.AddRateLimited(*key);
    }
  });
  queue.Add("default/web");
  queue.Add("default/web");  // deduplicated while the first is still queued
  while (attempts < 3) std::this_thread::yield();
  queue.ShutDownWithDrain();  // blocks until queued and running items are done; ignores new items
}
