// Uses only the workqueue, which depends on no package except threads.
#include <iostream>
#include <string>

#include <kopp/workqueue/rate_limiting_queue.hpp>

int main() {
  kopp::workqueue::RateLimitingQueue<std::string> queue;
  queue.Add("default/web");
  queue.Add("default/web");
  queue.ShutDown();
  while (const auto key = queue.Get()) {
    const kopp::workqueue::DoneGuard done{queue, *key};
    queue.Forget(*key);
    std::cout << *key << '\n';
  }
}
