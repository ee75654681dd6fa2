#include <atomic>
#include <iostream>
#include <string>
#include <thread>

#include <kopp/workqueue/rate_limiting_queue.hpp>

static std::atomic<int> tries{0};

static bool Sync(const std::string& key) {  // the work; false when it has to be tried again
  std::cout << "try " + std::to_string(++tries) + " of " + key + "\n";
  return tries >= 3;
}

int main() {
  kopp::workqueue::RateLimitingQueue<std::string> queue;   // retries after 5 ms, 10 ms, 20 ms …
  std::jthread worker([&queue] {                           // and as many more as you like
    while (const auto key = queue.Get()) {                 // nullopt: shut down
      const kopp::workqueue::DoneGuard done{queue, *key};  // Done, however the scope is left
      Sync(*key) ? queue.Forget(*key) : queue.AddRateLimited(*key);
    }
  });
  queue.Add("default/web");
  queue.Add("default/web");  // not handed out yet? then still one piece of work
  while (tries < 3) std::this_thread::yield();
  queue.ShutDownWithDrain();  // finish what is queued and in hand, take nothing new
}
