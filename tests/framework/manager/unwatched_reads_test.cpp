#include "manager_fixture.hpp"
#include "support/raw_server.hpp"
#include "support/scratch_folder.hpp"

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

constexpr const char* kRejected = "what the cache does not have: ";

struct Unwatched {
  static constexpr Kind kKind{"example.com/v1", "Unwatched", "unwatcheds"};
  ObjectMeta metadata;
};
KOPP_FIELDS(Unwatched, metadata)

struct Optional {
  static constexpr Kind kKind{"example.com/v1", "Optional", "optionals"};
  ObjectMeta metadata;
};
KOPP_FIELDS(Optional, metadata)

/// Runs a program whose controller reads a kind, by default without an API server: reads are
/// checked before the first request.
class UnwatchedReadsTest : public ManagerTest {
 protected:
  /// Returns the log, or the output, of a program whose controller reads Unwatched.
  std::string Run(Options options, bool watches) {
    if (options.kubeconfig.empty()) options.kubeconfig = "/missing.kubeconfig";
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

TEST_F(UnwatchedReadsTest, AReadOfTheMetadataOfAKindIsNotThatOfItsObjects) {
  static_cast<void>(&detail::read_view<MetadataOnly<Unwatched>>);
  EXPECT_THAT(Run({}, /*watches=*/true), HasSubstr("Unwatched (metadata)"));
}

TEST_F(UnwatchedReadsTest, TheKindOfAControllerThatIsNotAddedIsNoReadOfTheProgram) {
  const auto add_controller = [](Manager& manager) {  // not called
    manager.AddController<Optional>().Reconcile([](const Optional&, Context&) { return Result{}; });
  };
  static_cast<void>(+add_controller);
  EXPECT_THAT(Run({}, /*watches=*/false), AllOf(HasSubstr(kRejected), Not(HasSubstr("Optional"))));
}

TEST_F(UnwatchedReadsTest, CheckReportsThemAmongTheOtherProblems) {
  testing::RawServer server({testing::AlwaysRespond(testing::MakeResponse(404, "{}"))});
  const testing::ScratchFolder folder;
  const auto kubeconfig = folder.Write("config",
                                       "{kind: Config, current-context: c, contexts: [{name: c, "
                                       "context: {cluster: c}}], clusters: [{name: c, cluster: "
                                       "{server: '" +
                                           server.Url() + "'}}]}");
  EXPECT_THAT(Run({.action = Options::Action::kCheck, .kubeconfig = kubeconfig.string()},
                  /*watches=*/false),
              AllOf(HasSubstr("API server " + server.Url()),
                    HasSubstr("FAILED  the program reads from the cache"), HasSubstr(kRejected),
                    HasSubstr("Unwatched"), HasSubstr("2 problems were found")));
}

TEST_F(UnwatchedReadsTest, AViewThatIsCachedIsNotReported) {
  // Another test reads the metadata, which this program does not cache.
  EXPECT_THAT(Run({}, /*watches=*/true),
              AllOf(HasSubstr(" Unwatched (metadata)"), Not(HasSubstr(" Unwatched,")),
                    Not(HasSubstr(" Unwatched."))));
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
