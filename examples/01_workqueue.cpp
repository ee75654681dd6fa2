// The queue alone: four workers, and work that is tried again until it succeeds.
#include <atomic>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace {

std::atomic<int> tries{0};

// The work; false when it has to be tried again. Here: the first two tries fail.
bool Sync(const std::string& key) {
  const int number = ++tries;
  std::cout << ("try " + std::to_string(number) + " of " + key + "\n");
  return number > 2;
}

}  // namespace

int main() {
  kopp::workqueue::RateLimitingQueue<std::string> queue;  // retries after 5 ms, 10 ms, 20 ms …
  std::vector<std::jthread> workers;                      // after the queue: joined before it goes
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&queue] {
      while (const auto key = queue.Get()) {                 // nullopt: shut down
        const kopp::workqueue::DoneGuard done{queue, *key};  // Done, however the scope is left
        Sync(*key) ? queue.Forget(*key) : queue.AddRateLimited(*key);
      }
    });
  }

  queue.Add("default/web");
  queue.Add("default/web");  // not handed out yet? then still one piece of work
  queue.AddAfter("default/db", std::chrono::milliseconds(100));

  while (tries < 4) std::this_thread::yield();  // three of web, one of db
  queue.ShutDownWithDrain();  // finish what is queued and in hand, take nothing new
  std::cout << "all done\n";
}
