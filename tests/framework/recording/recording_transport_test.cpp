#include "recording/recorder.hpp"
#include "support/scratch_folder.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class RecordingTransportTest : public ::testing::Test {
 protected:
  RecordingTransportTest() { recorder_->Open("web"); }
  [[nodiscard]] std::string Text() const { return folder_.Read("r.jsonl"); }

  testing::ScratchFolder folder_;
  testing::FakeClock clock_;
  std::shared_ptr<testing::ScriptedTransport> server_ =
      std::make_shared<testing::ScriptedTransport>(clock_);
  std::shared_ptr<Recorder> recorder_ =
      std::make_shared<Recorder>((folder_ / "r.jsonl").string(), Logger(), clock_);
};

TEST_F(RecordingTransportTest, ACharacterThatArrivesInTwoPartsIsRecordedWhole) {
  const auto transport = WithRecordedStreams(server_, recorder_);
  const auto stream = transport->Open({.target = "/api/v1/pods?watch=true"});
  server_->SendToWatch("/api/v1/pods", "a\xc3");
  static_cast<void>(stream->Read(1s));
  EXPECT_THAT(Text(), HasSubstr(R"("bytes":"a")"));
  server_->SendToWatch("/api/v1/pods", "\xbc!");
  static_cast<void>(stream->Read(1s));
  EXPECT_THAT(Text(), HasSubstr("\"bytes\":\"\xc3\xbc!\""));
}

TEST_F(RecordingTransportTest, EachEntryHasTheTimeSinceTheStart) {
  clock_.Advance(1500ms);
  recorder_->Write({{"stream", 1}});
  EXPECT_THAT(Text(), HasSubstr(R"({"at":1500,"stream":1})"));
}

TEST_F(RecordingTransportTest, OnlyCallsWithATraceAreRecorded) {
  server_->Respond("GET", "/a", 200, "first");
  server_->Respond("GET", "/b", 200, "second");
  const auto transport = WithRecordedCalls(server_, recorder_);
  transport->Call({.target = "/a"});
  transport->Call({.target = "/b", .traceparent = "00-1-2-01"});
  EXPECT_THAT(Text(), AllOf(HasSubstr("second"), Not(HasSubstr("first"))));
}

}  // namespace
}  // namespace kopp
