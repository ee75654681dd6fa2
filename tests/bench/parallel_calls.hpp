#pragma once

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <kopp/transport.hpp>

/// Sends the requests `request(0)` to `request(count - 1)` with 16 threads. Blocks until all have
/// succeeded; ends the process if one fails.
inline void SendInParallel(kopp::Transport& server, std::size_t count,
                           const std::function<kopp::ApiRequest(std::size_t number)>& request) {
  constexpr int kThreads = 16;
  std::atomic<std::size_t> next = 0;
  const auto send = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      const kopp::ApiRequest call = request(i);
      const kopp::ApiResponse response = server.Call(call);
      if (response.status / 100 == 2) continue;
      throw std::runtime_error(call.method + ' ' + call.target + ": " + response.body);
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&send] {
      try {
        send();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        std::_Exit(1);
      }
    });
  }
}
