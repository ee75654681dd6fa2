#pragma once

#include <algorithm>
#include <concepts>
#include <exception>
#include <stop_token>
#include <system_error>
#include <thread>
#include <vector>

#include <kopp/workqueue/guarded.hpp>

namespace kopp::workqueue {

struct ParallelizeOptions {
  int workers = 1;     ///< how many threads work, the caller's among them
  int chunk_size = 1;  ///< how many pieces a worker takes at once: more for small ones
};

/// Calls `work` once for each of the pieces 0, 1, … `pieces` - 1, from several threads at once, and
/// blocks until all that began has ended. The caller's thread works too.
///
///     ParallelizeUntil(kShards, {.workers = 8}, [&](int shard) { Compact(shard); }, stop);
///
/// Once `stop` asks no further piece begins; the caller looks at `stop` to know whether all were
/// done. Without pieces nothing happens. Fewer than one worker, or one piece in a chunk, count as
/// one; more workers than chunks are not started.
///
/// When `work` throws, no further piece begins, and the first exception is thrown to the caller
/// after the others have ended.
/// client-go: a panic of a piece ends the process, and with no worker no piece is done.
template <std::invocable<int> Work>
void ParallelizeUntil(int pieces, const ParallelizeOptions& options, Work&& work,
                      const std::stop_token& stop = {}) {
  if (pieces <= 0) return;
  const int chunk_size = std::max(options.chunk_size, 1);
  const int chunks = (pieces - 1) / chunk_size + 1;
  const int workers = std::clamp(options.workers, 1, chunks);

  Guarded<int> untaken{0};  // the first chunk that nobody has taken
  const auto take_chunk = [&] {
    auto next = untaken.Lock();
    return *next < chunks ? (*next)++ : chunks;
  };
  std::stop_source failed;
  std::exception_ptr failure;  // written by the one who stops `failed`, read after all have ended
  const auto work_off = [&] {
    for (int chunk = take_chunk(); chunk < chunks; chunk = take_chunk()) {
      const int first = chunk * chunk_size;
      const int count = std::min(chunk_size, pieces - first);
      for (int i = 0; i < count; ++i) {
        if (stop.stop_requested() || failed.stop_requested()) return;
        try {
          work(first + i);
        } catch (...) {
          if (failed.request_stop()) failure = std::current_exception();
        }
      }
    }
  };

  {
    std::vector<std::jthread> helpers;
    try {
      for (int i = 1; i < workers; ++i) helpers.emplace_back(work_off);
    } catch (const std::system_error&) {
      // the machine has no more threads: those that there are do the same work
    }
    work_off();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kopp::workqueue
