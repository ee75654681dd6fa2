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

/// Options of ParallelizeUntil.
struct ParallelizeOptions {
  int workers = 1;  ///< the number of threads, including the calling thread
  /// The number of consecutive pieces that a thread takes at once. Use more for short work.
  int chunk_size = 1;
};

/// Calls `work(i)` once for each i from 0 to `pieces` - 1 on several threads, one of which is the
/// calling thread. Blocks until all calls have returned. `work` must be thread-safe.
///
///     ParallelizeUntil(kShards, {.workers = 8}, [&](int shard) { Compact(shard); }, stop);
///
/// After `stop` is requested, no further call starts. If `stop` is not requested when
/// ParallelizeUntil returns, all pieces are done; otherwise some may be missing.
///
/// It does nothing if `pieces` is 0 or negative. If `workers` or `chunk_size` is less than 1, 1 is
/// used. It starts at most one thread per chunk. If the system cannot create more threads, the
/// existing threads do all the work.
///
/// If `work` throws, no further call starts. ParallelizeUntil waits for the running calls and
/// rethrows the first exception.
///
/// client-go, in contrast, ends the process when `work` panics, and does not call `work` at all
/// with zero workers.
template <std::invocable<int> Work>
void ParallelizeUntil(int pieces, const ParallelizeOptions& options, Work&& work,
                      const std::stop_token& stop = {}) {
  if (pieces <= 0) return;
  const int chunk_size = std::max(options.chunk_size, 1);
  const int chunks = (pieces - 1) / chunk_size + 1;
  const int workers = std::clamp(options.workers, 1, chunks);

  kopp::detail::Guarded<int> next_chunk{0};
  const auto claim_chunk = [&] {
    auto next = next_chunk.Lock();
    return *next < chunks ? (*next)++ : chunks;
  };
  std::stop_source failed;
  // Written by the thread whose request_stop succeeds; read after all threads have ended.
  std::exception_ptr failure;
  const auto run_chunks = [&] {
    for (int chunk = claim_chunk(); chunk < chunks; chunk = claim_chunk()) {
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
    std::vector<std::jthread> threads;
    try {
      for (int i = 1; i < workers; ++i) threads.emplace_back(run_chunks);
    } catch (const std::system_error&) {
      // The system has no more threads: the threads that were started do all the work.
    }
    run_chunks();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kopp::workqueue
