#include "widget.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/informer.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/fake_source.hpp>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;
using kopp::testing::MakeWidget;
using kopp::testing::SourceRequest;
using kopp::testing::Widget;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Verb = SourceRequest::Verb;

const ObjectKey a_key{"default", "a"};

/// Passes requests to a FakeSource, and calls a function after each list of an audit.
class AuditedSource final : public Source<Widget> {
 public:
  using OnAudit = std::function<void(const ListRequest& options, ListResult& result)>;

  explicit AuditedSource(kopp::testing::FakeSource<Widget>& source) : source_(source) {}
  void SetOnAudit(OnAudit on_audit) { on_audit_ = std::move(on_audit); }
  /// Makes lists of metadata have `widget`, which other lists skip.
  void ListAsMetadata(Widget widget) { unfit_ = std::make_shared<const Widget>(std::move(widget)); }

  ListResult List(const ListRequest& options, const std::function<void(AnyObject)>& on_object,
                  std::stop_token stop) override {
    ListResult result = source_.List(options, on_object, std::move(stop));
    if (options.metadata_only && unfit_) {
      on_object(unfit_);
      result.skipped.clear();
      result.metadata_only = true;
    }
    if (options.exact && on_audit_) on_audit_(options, result);
    return result;
  }
  std::unique_ptr<WatchStream> Watch(const WatchRequest& options, std::stop_token stop) override {
    return source_.Watch(options, std::move(stop));
  }

 private:
  kopp::testing::FakeSource<Widget>& source_;
  OnAudit on_audit_;
  AnyObject unfit_;
};

/// An informer with an audit each 20 to 60 s. The idle deadline of the watch is 75 s after a
/// bookmark, and otherwise at least 240 s after the start of the watch.
class CacheAuditTest : public ::testing::Test {
 protected:
  void StartAndWaitForSync() {
    runner_ = std::jthread([this](const std::stop_token& stop) { informer_.Run(stop); });
    informer_.WaitForSync(runner_.get_stop_token());
    source_.AwaitRequests(2);
    source_.AwaitIdleWatch();
  }
  /// Changes the source without an event, as a server that loses events does.
  void SetWithoutEvent(Widget widget) {
    source_.DropNextEvent();
    source_.Set(std::move(widget));
  }
  /// Sends a bookmark, so that the cache has the version of the source, and waits for an audit.
  void SendBookmarkAndAwaitAudit() {
    source_.SendBookmark();
    AwaitAudits(1);
  }
  /// Advances the clock until `count` more lists of an exact version were requested and their
  /// results were handled.
  void AwaitAudits(std::size_t count) {
    source_.AwaitIdleWatch();
    count += source_.Requests().size();
    clock_.AwaitSleepers(1);
    while (source_.Requests().size() < count) {
      clock_.Advance(10s);
      clock_.AwaitSleepers(1);
    }
  }
  std::vector<std::string> Problems() { return *problems_.Lock(); }
  std::vector<CacheDrift> Drifts() { return *drifts_.Lock(); }

  kopp::testing::FakeClock clock_;
  kopp::testing::FakeSource<Widget> source_{clock_};
  AuditedSource audited_source_{source_};
  kopp::detail::Guarded<std::vector<std::string>> problems_;
  kopp::detail::Guarded<std::vector<CacheDrift>> drifts_;
  Informer<Widget> informer_{
      audited_source_,
      {.clock = clock_,
       .seed = 1,
       .audit_interval = 40s,
       .on_drift = [this](const CacheDrift& drift) { drifts_.Lock()->push_back(drift); },
       .on_problem = [this](const std::string& problem,
                            bool) { problems_.Lock()->push_back(problem); }}};
  std::jthread runner_;  // declared last, so that it is stopped and destroyed first
};

TEST_F(CacheAuditTest, AnAuditListsTheVersionOfTheCacheAndFindsNothingInACorrectCache) {
  source_.Set(MakeWidget("a"));
  source_.Set(MakeWidget("b"));
  StartAndWaitForSync();
  AwaitAudits(3);

  EXPECT_THAT(source_.Requests(), ElementsAre(SourceRequest{Verb::kList, "0", 0, ""},
                                              SourceRequest{Verb::kWatch, "2", 0, ""},
                                              SourceRequest{Verb::kList, "2", 500, ""},
                                              SourceRequest{Verb::kList, "2", 500, ""},
                                              SourceRequest{Verb::kList, "2", 500, ""}));
  EXPECT_GE(clock_.Now() - TimePoint{}, 60s);
  EXPECT_THAT(Problems(), IsEmpty());
  EXPECT_THAT(Drifts(), IsEmpty());
}

TEST_F(CacheAuditTest, AGhostIsReportedAndRemovedByARelist) {
  source_.Set(MakeWidget("a"));
  StartAndWaitForSync();
  source_.DropNextEvent();
  source_.Delete(MakeWidget("a"));

  SendBookmarkAndAwaitAudit();
  source_.AwaitRequests(5);  // list, watch, audit, list, watch
  source_.AwaitIdleWatch();

  ASSERT_EQ(Drifts().size(), 1);
  EXPECT_EQ(Drifts()[0].ghosts, 1);
  EXPECT_EQ(Drifts()[0].total(), 1);
  EXPECT_EQ(Drifts()[0].example, a_key);
  EXPECT_EQ(informer_.Status().drifted_objects, 1);
  EXPECT_THAT(Problems(), ElementsAre("an audit found that the cache differs from the server at "
                                      "resource version 2: ghosts 1, missing 0, stale 0, for "
                                      "example default/a; listing again"));
  EXPECT_EQ(informer_.store().Get(a_key), nullptr);
}

TEST_F(CacheAuditTest, AMissingObjectIsReportedAndAddedByARelist) {
  StartAndWaitForSync();
  SetWithoutEvent(MakeWidget("a"));

  SendBookmarkAndAwaitAudit();
  source_.AwaitRequests(5);
  source_.AwaitIdleWatch();

  ASSERT_EQ(Drifts().size(), 1);
  EXPECT_EQ(Drifts()[0].missing, 1);
  EXPECT_NE(informer_.store().Get(a_key), nullptr);
}

TEST_F(CacheAuditTest, AStaleObjectIsReportedAndUpdatedByARelist) {
  source_.Set(MakeWidget("a").WithSize(1));
  StartAndWaitForSync();
  SetWithoutEvent(MakeWidget("a").WithSize(2));

  SendBookmarkAndAwaitAudit();
  source_.AwaitRequests(5);
  source_.AwaitIdleWatch();

  ASSERT_EQ(Drifts().size(), 1);
  EXPECT_EQ(Drifts()[0].stale, 1);
  EXPECT_EQ(informer_.store().Get(a_key)->spec.size, 2);
}

TEST_F(CacheAuditTest, ACorrectCacheIsComparedWithMetadataOnly) {
  source_.Set(MakeWidget("a"));
  std::vector<bool> metadata_only;
  audited_source_.SetOnAudit([&](const ListRequest& options, ListResult& result) {
    result.metadata_only = options.metadata_only;
    metadata_only.push_back(options.metadata_only);
  });
  StartAndWaitForSync();

  AwaitAudits(2);
  runner_ = {};

  EXPECT_THAT(metadata_only, ElementsAre(true, true));
  EXPECT_THAT(Drifts(), IsEmpty());
}

TEST_F(CacheAuditTest, ADifferenceOfTheMetadataIsCheckedWithCompleteObjects) {
  source_.Set(MakeWidget("a"));
  std::vector<bool> metadata_only;
  audited_source_.SetOnAudit([&](const ListRequest& options, ListResult& result) {
    result.metadata_only = options.metadata_only;
    metadata_only.push_back(options.metadata_only);
  });
  StartAndWaitForSync();
  source_.DropNextEvent();
  source_.Delete(MakeWidget("a"));

  SendBookmarkAndAwaitAudit();
  source_.AwaitRequests(6);  // list, watch, two lists of the audit, list, watch
  source_.AwaitIdleWatch();

  EXPECT_THAT(metadata_only, ElementsAre(true, false));
  ASSERT_EQ(Drifts().size(), 1);
  EXPECT_EQ(Drifts()[0].ghosts, 1);
}

// "b" does not fit the view, so the cache does not have it.
TEST_F(CacheAuditTest, AnObjectThatDoesNotFitTheViewIsNotMissing) {
  source_.Set(MakeWidget("a"));
  source_.Set(MakeWidget("b"));
  source_.ListAsSkipped({"default", "b"});
  audited_source_.ListAsMetadata(MakeWidget("b"));
  StartAndWaitForSync();

  AwaitAudits(2);

  EXPECT_THAT(Drifts(), IsEmpty());
  EXPECT_THAT(source_.Requests().size(), 4) << "list, watch and the two lists of the audit";
}

TEST_F(CacheAuditTest, AllPagesAreCompared) {
  source_.SetPageSize(1);
  for (const char* name : {"a", "b", "c"}) source_.Set(MakeWidget(name));
  StartAndWaitForSync();
  source_.DropNextEvent();
  source_.Delete(MakeWidget("c"));

  SendBookmarkAndAwaitAudit();
  source_.AwaitRequests(4);  // both pages of the audit

  EXPECT_THAT(source_.Requests(), Contains(SourceRequest{Verb::kList, "4", 500, ""}));
  EXPECT_THAT(source_.Requests(), Contains(SourceRequest{Verb::kList, "", 500, "1"}));
  source_.AwaitRequests(7);  // the two pages of the relist, and its watch
  source_.AwaitIdleWatch();
  EXPECT_EQ(Drifts()[0].total(), 1);
  EXPECT_EQ(informer_.store().Get({"default", "c"}), nullptr);
}

TEST_F(CacheAuditTest, EventsAreAppliedBeforeTheNextPageIsRequested) {
  source_.SetPageSize(1);
  source_.Set(MakeWidget("a"));
  source_.Set(MakeWidget("b"));
  std::vector<std::size_t> sizes;
  audited_source_.SetOnAudit([&](const ListRequest& options, ListResult&) {
    sizes.push_back(informer_.store().Size());
    if (!options.continue_token.empty()) return;
    source_.Set(MakeWidget("c"));
    source_.Set(MakeWidget("d"));
  });
  StartAndWaitForSync();

  AwaitAudits(2);
  runner_ = {};

  EXPECT_THAT(sizes, ElementsAre(2, 4));
  EXPECT_THAT(Drifts(), IsEmpty());
}

// The cache is behind the server, which no longer has the version of the cache, so an audit
// cannot compare them.
TEST_F(CacheAuditTest, AnAuditOfACompactedVersionIsSkipped) {
  source_.Set(MakeWidget("a"));
  StartAndWaitForSync();
  source_.DropNextEvent();
  source_.Delete(MakeWidget("a"));

  AwaitAudits(2);

  EXPECT_THAT(Drifts(), IsEmpty());
  EXPECT_THAT(Problems(), Each(AllOf(HasSubstr("skipped an audit"), HasSubstr("410"))));
  EXPECT_EQ(source_.Requests().size(), 4) << "a skipped audit is followed by a relist";
}

TEST_F(CacheAuditTest, AnAuditOfALaggingServerIsSkipped) {
  source_.Set(MakeWidget("a"));
  StartAndWaitForSync();
  source_.FailNextRequest(
      ApiError("LIST", {.message = "Too large resource version: 1, current: 0", .code = 504}));

  AwaitAudits(1);

  EXPECT_THAT(Drifts(), IsEmpty());
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("Too large resource version")));
  EXPECT_EQ(source_.Requests().size(), 3);
}

TEST_F(CacheAuditTest, AListOfAnotherVersionThanRequestedIsNoEvidence) {
  source_.Set(MakeWidget("a"));
  audited_source_.SetOnAudit(
      [](const ListRequest&, ListResult& result) { result.resource_version += "0"; });
  StartAndWaitForSync();
  source_.DropNextEvent();
  source_.Delete(MakeWidget("a"));

  SendBookmarkAndAwaitAudit();

  EXPECT_THAT(Drifts(), IsEmpty());
  EXPECT_THAT(Problems(), ElementsAre("skipped an audit: the server listed resource version 20 in "
                                      "place of 2"));
}

TEST_F(CacheAuditTest, AnObjectThatTheAuditCannotDecodeIsNoGhost) {
  source_.Set(MakeWidget("a"));
  source_.Set(MakeWidget("b"));
  StartAndWaitForSync();
  source_.ListAsSkipped(a_key);
  source_.ListAsSkipped({"default", "b"}, /*reported_key=*/{});

  AwaitAudits(1);

  EXPECT_THAT(Drifts(), IsEmpty());
  EXPECT_EQ(informer_.store().Size(), 2);
}

// No event is read while a page is listed. The last event before was a bookmark, 75 s are over.
TEST_F(CacheAuditTest, AWatchIsNotConsideredIdleBecauseAPageOfAnAuditTakesLong) {
  audited_source_.SetOnAudit([&](const ListRequest&, ListResult&) {
    clock_.Advance(80s);
    source_.SendBookmark();
  });
  StartAndWaitForSync();

  SendBookmarkAndAwaitAudit();
  source_.AwaitIdleWatch();

  EXPECT_EQ(source_.Requests().size(), 3) << "list, watch and audit";
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(CacheAuditTest, AnAuditThatIsInterruptedByTheEndOfTheWatchIsNotRepeatedAtOnce) {
  source_.SetPageSize(1);
  source_.Set(MakeWidget("a"));
  source_.Set(MakeWidget("b"));
  StartAndWaitForSync();
  audited_source_.SetOnAudit([&](const ListRequest&, ListResult&) { source_.EndWatch(); });

  AwaitAudits(1);
  clock_.AwaitSleepers(1);
  clock_.Advance(1s);
  source_.AwaitRequests(5);  // list, watch, audit, check of the version, watch
  source_.AwaitIdleWatch();

  EXPECT_EQ(source_.Requests().size(), 5);
}

TEST_F(CacheAuditTest, TheWatchContinuesDuringAndAfterAnAudit) {
  StartAndWaitForSync();
  AwaitAudits(1);
  source_.Set(MakeWidget("a"));
  source_.AwaitIdleWatch();

  EXPECT_NE(informer_.store().Get(a_key), nullptr);
  EXPECT_EQ(source_.Requests().size(), 3) << "the audit has ended the watch";
}

}  // namespace
}  // namespace kopp::informer
