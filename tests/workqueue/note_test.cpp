#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;

class TextNote final : public Note {
 public:
  explicit TextNote(std::string text) : text_(std::move(text)) {}

  void Merge(Note& later) noexcept override { text_ += "+" + static_cast<TextNote&>(later).text_; }
  [[nodiscard]] std::unique_ptr<Note> Clone() const override {
    return std::make_unique<TextNote>(text_);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::unique_ptr<Note> NoteOf(const std::string& text) { return std::make_unique<TextNote>(text); }

std::string TextOf(const Note* note) {
  return note == nullptr ? "none" : static_cast<const TextNote*>(note)->text();
}

class NoteTest : public ::testing::Test {
 protected:
  /// Returns the next item and the text of its notes: "a: x+y".
  std::string Next() {
    const auto next = queue_.GetWithNote();
    return next->item + ": " + TextOf(next->note.get());
  }

  kopp::testing::FakeClock clock_;
  RateLimitingQueue<std::string> queue_{
      {.clock = clock_, .track_times = true, .coalesce = {.quiet = 100ms}}};
};

TEST_F(NoteTest, TheNotesOfTheAddsOfAnItemAreMergedUntilGet) {
  queue_.Add("a", 0, NoteOf("1"));
  queue_.Add("b", 0, NoteOf("other"));
  queue_.Add("a", 0, NoteOf("2"));
  queue_.Add("a");

  EXPECT_EQ(Next(), "a: 1+2");
  EXPECT_EQ(Next(), "b: other");
}

TEST_F(NoteTest, AnItemWithoutANoteHasNone) {
  queue_.Add("a");
  queue_.Add("b", 0, nullptr);

  EXPECT_EQ(Next(), "a: none");
  EXPECT_EQ(Next(), "b: none");
}

TEST_F(NoteTest, ANoteOfAnItemInProcessingBelongsToItsNextGet) {
  queue_.Add("a", 0, NoteOf("1"));
  EXPECT_EQ(Next(), "a: 1");
  queue_.Add("a", 0, NoteOf("2"));
  queue_.Done("a");

  EXPECT_EQ(Next(), "a: 2");
  queue_.Done("a");
  queue_.Add("a");
  EXPECT_EQ(Next(), "a: none") << "a note was returned twice";
}

TEST_F(NoteTest, DelayedAndCoalescedAddsKeepTheirNotes) {
  queue_.AddAfter("a", 100ms, {}, NoteOf("later"));
  queue_.AddAfter("a", 50ms, {}, NoteOf("sooner"));
  queue_.AddCoalesced("b", 0, NoteOf("1"));
  queue_.AddCoalesced("b", 0, NoteOf("2"));
  queue_.AddRateLimited("c", {}, 100ms, NoteOf("retry"));
  for (int i = 0; i < 2; ++i) {
    clock_.AwaitSleepers(1);
    clock_.Advance(50ms);
  }

  EXPECT_EQ(Next(), "a: later+sooner");
  EXPECT_EQ(Next(), "c: retry");
  EXPECT_EQ(Next(), "b: 1+2");
}

TEST_F(NoteTest, ASnapshotContainsCopiesOfTheNotes) {
  queue_.Add("processing", 0, NoteOf("first"));
  Next();
  queue_.Add("processing", 0, NoteOf("again"));
  queue_.Add("ready", 0, NoteOf("event"));
  queue_.AddAfter("waiting", 1h, {}, NoteOf("retry"));

  const auto snapshot = queue_.TakeSnapshot();

  EXPECT_EQ(TextOf(snapshot.processing.at(0).note.get()), "again");
  EXPECT_EQ(TextOf(snapshot.ready.at(0).note.get()), "event");
  EXPECT_EQ(TextOf(snapshot.waiting.at(0).note.get()), "retry");
  EXPECT_EQ(Next(), "ready: event");
}

TEST_F(NoteTest, GetWithNoteReturnsHowLongTheItemHasWaited) {
  queue_.Add("a");
  clock_.AwaitSleepers(1);
  clock_.Advance(3s);

  EXPECT_EQ(queue_.GetWithNote()->waited, 3s);
}

class SupersededTest : public ::testing::Test {
 protected:
  SupersededTest() {
    queue_.OnSuperseded([this](const std::string& item) { superseded_.push_back(item); });
  }

  kopp::testing::FakeClock clock_;
  DelayingQueue<std::string> queue_{{.clock = clock_}};
  std::vector<std::string> superseded_;
};

TEST_F(SupersededTest, AnAddWhileAnItemIsProcessedIsReportedOnce) {
  queue_.Add("a");
  queue_.Add("a");
  EXPECT_FALSE(queue_.IsSuperseded("a"));
  static_cast<void>(queue_.Get());
  EXPECT_FALSE(queue_.IsSuperseded("a"));
  EXPECT_TRUE(superseded_.empty());

  queue_.Add(std::string("a"));
  queue_.Add("a");

  EXPECT_TRUE(queue_.IsSuperseded("a"));
  EXPECT_EQ(superseded_, std::vector<std::string>{"a"});
}

TEST_F(SupersededTest, ASupersededItemIsReturnedOnceMoreAndIsThenNotSuperseded) {
  queue_.Add("a");
  static_cast<void>(queue_.Get());
  queue_.Add("a");
  queue_.Done("a");
  EXPECT_FALSE(queue_.IsSuperseded("a")) << "it is not in processing";

  EXPECT_EQ(queue_.Get(), "a");
  EXPECT_FALSE(queue_.IsSuperseded("a"));
  queue_.Done("a");
  EXPECT_EQ(queue_.Len(), 0);
}

TEST_F(SupersededTest, DelayedAddsAndAddsOfNothingNewDoNotSupersedeAnItemInProcessing) {
  queue_.Add("a");
  static_cast<void>(queue_.Get());
  queue_.AddAfter("a", 0s);
  queue_.AddAfter("a", 1s);
  queue_.Add("a", 0, nullptr, false);
  queue_.AddCoalesced("a", 0, nullptr, false);

  clock_.AwaitSleepers(1);
  clock_.Advance(1s);
  clock_.AwaitSleepers(1);

  EXPECT_FALSE(queue_.IsSuperseded("a"));
  EXPECT_TRUE(superseded_.empty());
  EXPECT_TRUE(queue_.TakeSnapshot().processing.at(0).dirty) << "it is returned once more";
}

TEST_F(SupersededTest, AnAddAfterOneOfNothingNewSupersedesTheItemInProcessing) {
  queue_.Add("a");
  static_cast<void>(queue_.Get());
  queue_.Add("a", 0, nullptr, false);

  queue_.Add("a");

  EXPECT_TRUE(queue_.IsSuperseded("a"));
  EXPECT_EQ(superseded_, std::vector<std::string>{"a"});
}

TEST(SupersededCoalesceTest, ACoalescedAddSupersedesAtTheEndOfItsWaitIfOneOfTheAddsDoes) {
  kopp::testing::FakeClock clock;
  DelayingQueue<std::string> queue({.clock = clock, .coalesce = {.quiet = 100ms}});
  for (const char* item : {"change", "resync"}) {
    queue.Add(item);
    static_cast<void>(queue.Get());
  }
  queue.AddCoalesced("change", 0, nullptr, true);
  queue.AddCoalesced("change", 0, nullptr, false);
  queue.AddCoalesced("resync", 0, nullptr, false);
  EXPECT_FALSE(queue.IsSuperseded("change"));

  clock.AwaitSleepers(1);
  clock.Advance(100ms);
  clock.AwaitSleepers(1);

  EXPECT_TRUE(queue.IsSuperseded("change"));
  EXPECT_FALSE(queue.IsSuperseded("resync"));
}

/// Adds a note that needs 4 GiB of memory for the notes of all handles, with less address space.
[[noreturn]] void AddANoteWithoutMemory() {
  const rlimit limit{.rlim_cur = 2UL << 30U, .rlim_max = 2UL << 30U};
  ::setrlimit(RLIMIT_AS, &limit);
  detail::ItemNotes notes;
  notes.Add(0, NoteOf("kept"));
  notes.Add(detail::kNoHandle - 1, NoteOf("dropped"));
  const bool dropped = !notes.Take(detail::kNoHandle - 1) && TextOf(notes.Take(0).get()) == "kept";
  std::_Exit(dropped ? 0 : 1);
}

TEST(ItemNotesTest, ANoteForWhichThereIsNoMemoryIsDropped) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need the address space";
#endif
  EXPECT_EXIT(AddANoteWithoutMemory(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kopp::workqueue
