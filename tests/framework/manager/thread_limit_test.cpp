#include "manager_fixture.hpp"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <kopp/controller/source.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

/// Limits the address space of this process to the current size and `more` bytes.
void LimitAddressSpace(rlim_t more) {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + more;
  ::setrlimit(RLIMIT_AS, &limit);
}

class ThreadLimitTest : public ManagerTest {
 protected:
  /// Runs a manager with more workers than there is space for their stacks.
  [[noreturn]] void RunWithoutSpaceForTheWorkers() {
    Manager manager{
        Options{.log = Logger({.write = [](std::string_view line) { std::cerr << line; }}),
                .transport = transport_,
                .clock = clock_}};
    manager.AddController<Pod>({.workers = 10'000}).Reconcile([](const Pod&, Context&) {
      return Result{};
    });
    RunWithLittleSpace(manager);
  }
  /// The same with a controller whose workers start before.
  [[noreturn]] void RunWithoutSpaceForTheWorkersOfTheSecondController() {
    Manager manager{
        Options{.log = Logger({.write = [](std::string_view line) { std::cerr << line; }}),
                .transport = transport_,
                .clock = clock_}};
    const auto reconcile = [](const Pod&, Context&) { return Result{}; };
    manager.AddController<Pod>({.name = "first"}).Reconcile(reconcile);
    manager.AddController<Pod>({.name = "second", .workers = 10'000}).Reconcile(reconcile);
    RunWithLittleSpace(manager);
  }
  /// Runs a manager with more sources than there is space for their stacks.
  [[noreturn]] void RunWithoutSpaceForTheSources() {
    Manager manager{
        Options{.log = Logger({.write = [](std::string_view line) { std::cerr << line; }}),
                .transport = transport_,
                .clock = clock_}};
    auto builder = manager.AddController<Pod>();
    for (int i = 0; i < 10'000; ++i) {
      builder.Watches(std::make_shared<FunctionSource>(
          "source", [](const SourceContext& context, const std::stop_token& stop) {
            SleepUntil(context.clock, TimePoint::max(), stop);
          }));
    }
    builder.Reconcile([](const Pod&, Context&) { return Result{}; });
    RunWithLittleSpace(manager);
  }

 private:
  [[noreturn]] static void RunWithLittleSpace(Manager& manager) {
    constexpr rlim_t kSpace = 256U << 20U;  // for the other threads of the manager
    LimitAddressSpace(kSpace);
    const int code = manager.Run(std::stop_token{});
    std::cerr << "Run has returned";
    std::_Exit(code);
  }
};

TEST_F(ThreadLimitTest, RunReturns1AfterOneLineIfAWorkerThreadCannotBeStarted) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need the address space";
#endif
  EXPECT_EXIT(RunWithoutSpaceForTheWorkers(), ::testing::ExitedWithCode(1),
              "Cannot start.*cannot start the 10000 worker threads of the controller .*pod.*use "
              "fewer workers");
}

TEST_F(ThreadLimitTest, IfASecondControllerCannotBeStartedTheFirstIsStoppedAndRunReturns1) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need the address space";
#endif
  EXPECT_EXIT(RunWithoutSpaceForTheWorkersOfTheSecondController(), ::testing::ExitedWithCode(1),
              "Workers finished. controller=.first.*Cannot start.*controller .*second"
              ".*Run has returned");
}

TEST_F(ThreadLimitTest, RunReturns1IfTheThreadOfASourceCannotBeStarted) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need the address space";
#endif
  EXPECT_EXIT(RunWithoutSpaceForTheSources(), ::testing::ExitedWithCode(1),
              "Cannot start.*cannot start the threads of the event sources of the controller .*pod"
              ".*Run has returned");
}

}  // namespace
}  // namespace kopp
