#include "manager_fixture.hpp"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kRejected = "in a form that the cache does not have: ";

struct Unwatched {
  static constexpr Kind kKind{"example.com/v1", "Unwatched", "unwatcheds"};
  ObjectMeta metadata;
};
KOPP_FIELDS(Unwatched, metadata)

/// Reads of the cache are found before anything is sent. No API server is configured.
class UnwatchedReadsTest : public ManagerTest {
 protected:
  /// Returns the log, or the output, of a program whose controller reads Unwatched.
  std::string Run(Options options, bool watches) {
    options.kubeconfig = "/missing.kubeconfig";
    options.log = RecordingLogger();
    Manager manager{std::move(options)};
    auto builder = manager.AddController<Pod>();
    if (watches) builder.Owns<Unwatched>().Cached();
    builder.Reconcile([](const Pod& pod, Context& context) {
      (void)context.cache.Get<Unwatched>(KeyOf(pod));
      return Result{};
    });
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(manager.Run({}), 1);
    return ::testing::internal::GetCapturedStdout() + LogText();
  }
};

TEST_F(UnwatchedReadsTest, AProgramThatReadsAViewThatNoCacheWatchesDoesNotStart) {
  EXPECT_THAT(Run({}, /*watches=*/false),
              AllOf(HasSubstr("Cannot start"), HasSubstr(kRejected), HasSubstr("Unwatched"),
                    HasSubstr(".Owns<VIEW>().Cached()")));
}

TEST_F(UnwatchedReadsTest, CheckFindsThem) {
  EXPECT_THAT(Run({.action = Options::Action::kCheck}, /*watches=*/false),
              AllOf(HasSubstr("FAILED"), HasSubstr(kRejected), HasSubstr("Unwatched")));
}

TEST_F(UnwatchedReadsTest, AViewThatIsCachedIsNotReported) {
  EXPECT_THAT(Run({}, /*watches=*/true), Not(HasSubstr("Unwatched")));
}

TEST_F(UnwatchedReadsTest, ReadsThatStartInformersAreNotReported) {
  EXPECT_THAT(Run({.cache = {.start_informers_on_read = true}}, /*watches=*/false),
              Not(HasSubstr(kRejected)));
}

TEST_F(UnwatchedReadsTest, TheCheckCanBeSwitchedOff) {
  EXPECT_THAT(Run({.reject_unwatched_reads = false}, /*watches=*/false),
              AllOf(HasSubstr("/missing.kubeconfig"), Not(HasSubstr(kRejected))));
}

}  // namespace
}  // namespace kopp
