#pragma once

#include <cstddef>
#include <exception>
#include <memory>

#include <pplx/pplxtasks.h>
#include <pplx/threadpool.h>

// The threads that run the tasks of cpprestsdk.
namespace kopp::detail {

// The number of threads in cpprestsdk's pool, which does the I/O of all connections. More threads
// are slower, because each step of a call then moves to another thread. With one thread cpprestsdk
// deadlocks: it waits in the pool for tasks that the pool runs.
inline constexpr std::size_t kPoolThreads = 2;

// Runs a continuation in the thread that made it ready. The default, another thread of the pool,
// costs more than the short continuations of CpprestTransport.
class InlineScheduler final : public pplx::scheduler_interface {
 public:
  void schedule(pplx::TaskProc_t run, void* argument) override { run(argument); }
};

inline pplx::task_options InlineExecution() {
  static const auto scheduler = std::make_shared<InlineScheduler>();
  return {std::static_pointer_cast<pplx::scheduler_interface>(scheduler)};
}

// Call it before cpprestsdk is used.
inline void InitializeThreadPool() {
  static const bool initialized = [] {
    try {
      crossplat::threadpool::initialize_with_threads(kPoolThreads);
    } catch (const std::exception&) {
      // The program uses cpprestsdk itself and has initialized the pool already.
    }
    return true;
  }();
  static_cast<void>(initialized);
}

}  // namespace kopp::detail
