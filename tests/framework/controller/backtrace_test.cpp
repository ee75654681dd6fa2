#include "controller/controller_queue.hpp"
#include "controller/standalone_controller.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// This program links kopp::backtraces. Functions that a trace names must be visible to the linker.

namespace backtrace_test {

[[gnu::noinline]] int Find(const std::map<std::string, int>& map, const std::string& key) {
  return map.at(key) + 1;
}

/// Throws and catches an exception while another one passes through its scope.
struct ThrowsWhenDestroyed {
  ~ThrowsWhenDestroyed() {
    try {
      throw std::runtime_error("in the destructor");
    } catch (const std::runtime_error&) {
    }
  }
};

}  // namespace backtrace_test

namespace kopp {
namespace {

using backtrace_test::Find;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class BacktraceTest : public StandaloneControllerTest {};

TEST_F(BacktraceTest, TheDebugLogHasThePlaceOfAnException) {
  NewController([](const ObjectKey&, Context&) -> Result {
    Find({}, "absent");
    return {};
  });
  ReconcileOnce();
  EXPECT_THAT(LogText(), HasSubstr("err=\"std::out_of_range: map::at\""));
  EXPECT_THAT(LogText(), Not(HasSubstr("CallReconciler")));
  EXPECT_THAT(LogText(), ContainsRegex("Place of the exception.* stacktrace=\"std::__throw_out_of_"
                                       "range.*backtrace_test::Find\\(.*\\)\\+0x[0-9a-f]+ "
                                       "\\(backtrace_test\\+0x[0-9a-f]+\\)"));
}

TEST_F(BacktraceTest, AnExceptionThatIsThrownAgainHasItsFirstPlace) {
  NewController([](const ObjectKey&, Context&) -> Result {
    try {
      Find({}, "absent");
    } catch (const std::exception&) {
      throw;
    }
    return {};
  });
  ReconcileOnce();
  EXPECT_THAT(LogText(), HasSubstr("backtrace_test::Find("));
}

TEST_F(BacktraceTest, ThePlaceOfAnotherExceptionIsNotLogged) {
  NewController([](const ObjectKey&, Context&) -> Result {
    const backtrace_test::ThrowsWhenDestroyed guard;
    Find({}, "absent");
    return {};
  });
  ReconcileOnce();
  EXPECT_THAT(LogText(), HasSubstr("map::at"));
  EXPECT_THAT(LogText(), Not(HasSubstr("stacktrace")));
}

TEST_F(BacktraceTest, AnExceptionOfAnotherThreadHasNoPlace) {
  NewController([](const ObjectKey&, Context&) -> Result {
    std::exception_ptr error;
    std::jthread([&] {
      try {
        Find({}, "absent");
      } catch (...) {
        error = std::current_exception();
      }
    }).join();
    std::rethrow_exception(error);
  });
  ReconcileOnce();
  EXPECT_THAT(LogText(), HasSubstr("map::at"));
  EXPECT_THAT(LogText(), Not(HasSubstr("stacktrace")));
}

TEST_F(BacktraceTest, TheLogHasNoPlaceAtVerbosity0) {
  log_ = Logger({.write = [this](std::string_view line) {
    const std::lock_guard guard{mutex_};
    text_ += line;
  }});
  NewController([](const ObjectKey&, Context&) -> Result {
    Find({}, "absent");
    return {};
  });
  ReconcileOnce();
  EXPECT_THAT(LogText(), HasSubstr("map::at"));
  EXPECT_THAT(LogText(), Not(HasSubstr("stacktrace")));
}

}  // namespace
}  // namespace kopp
