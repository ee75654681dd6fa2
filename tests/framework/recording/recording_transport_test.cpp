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

/// Checks that the recording has no "canary", plain or in Base64.
class RedactionTest : public RecordingTransportTest {
 protected:
  /// Records a call whose response is `response`.
  void Call(const std::string& method, const std::string& target, const std::string& request,
            const std::string& response) {
    server_->Respond(method, target, 200, response);
    WithRecordedCalls(server_, recorder_)
        ->Call({.method = method, .target = target, .body = request, .traceparent = "00-1-2-01"});
  }
  void ExpectNoSecrets() const {
    EXPECT_THAT(Text(), AllOf(HasSubstr("redacted-"), Not(HasSubstr("canary")),
                              Not(HasSubstr("Y2FuYXJ5"))));
  }
};

TEST_F(RedactionTest, TheDataOfASecretIsRemovedFromRequestsAndResponses) {
  Call("POST", "/api/v1/namespaces/shop/secrets", R"({"stringData":{"a":"canary"}})",
       R"({"data":{"a":"Y2FuYXJ5"},"metadata":{"name":"web","annotations":)"
       R"({"kubectl.kubernetes.io/last-applied-configuration":"canary","kept":"yes"}}})");
  ExpectNoSecrets();
  EXPECT_THAT(Text(), HasSubstr(R"(\"kept\":\"yes\")"));
}

TEST_F(RedactionTest, TheDataOfASecretIsRemovedFromPatchesAndLists) {
  Call("PATCH", "/api/v1/namespaces/shop/secrets/web",
       R"([{"op":"add","path":"/data/a","value":"Y2FuYXJ5"},{"op":"add","path":"/stringData",)"
       R"("value":{"a":"canary"}},{"op":"replace","path":"","value":{"data":{"a":"Y2FuYXJ5"}}}])",
       "{}");
  Call("GET", "/api/v1/secrets", "", R"({"items":[{"data":{"a":"Y2FuYXJ5"}}]})");
  ExpectNoSecrets();
}

TEST_F(RedactionTest, ABodyOfASecretThatIsNotJsonIsRemoved) {
  Call("POST", "/api/v1/namespaces/shop/secrets", "stringData: {a: canary}", "canary");
  ExpectNoSecrets();
}

TEST_F(RedactionTest, TokensAreRemovedFromTokenRequestsAndTokenReviews) {
  Call("POST", "/api/v1/namespaces/shop/serviceaccounts/web/token", R"({"spec":{}})",
       R"({"status":{"token":"canary"}})");
  Call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", R"({"spec":{"token":"canary"}})",
       R"({"spec":{"token":"canary"},"status":{"authenticated":true}})");
  ExpectNoSecrets();
}

TEST_F(RedactionTest, SecretValuesAreRemovedFromTheMessagesOfErrors) {
  const std::string target = "/api/v1/namespaces/shop/secrets";
  server_->Respond("PATCH", target, 400,
                   R"x({"kind":"Status","status":"Failure","message":"Secret in version \"v1\" )x"
                   R"x(cannot be handled: {\"a\":\"can\\nary\"}","details":{"causes":[)x"
                   R"x({"message":"expected string, got 271828"},{"message":"Y2FuCmFyeQ=="}]}})x");
  WithRecordedCalls(server_, recorder_)
      ->Call({.method = "PATCH",
              .target = target,
              .body = R"({"stringData":{"a":"can\nary","b":271828}})",
              .traceparent = "00-1-2-01"});
  EXPECT_THAT(Text(),
              AllOf(HasSubstr("cannot be handled: {"), HasSubstr("expected string, got redacted-"),
                    Not(HasSubstr("nary")), Not(HasSubstr("271828"))));
}

TEST_F(RedactionTest, AnExceptionHasTheMessageOfTheRecordedResponse) {
  Redactor redactor;
  const std::string response =
      redactor.RedactResponse("/api/v1/namespaces/shop/secrets", R"({"stringData":{"a":"canary"}})",
                              R"({"kind":"Status","status":"Failure","message":"got canary"})");
  EXPECT_THAT(response, HasSubstr("got redacted-"));
  const std::string text = redactor.RedactText("create Secret: got canary (400)");
  EXPECT_THAT(text, AllOf(HasSubstr("create Secret: got redacted-"), HasSubstr(" (400)"),
                          Not(HasSubstr("canary"))));
}

TEST_F(RedactionTest, TheMessageOfARequestThatIsNotJsonIsRemoved) {
  Redactor redactor;
  EXPECT_THAT(redactor.RedactResponse(
                  "/api/v1/namespaces/shop/secrets", "stringData: {a: canary}",
                  R"({"kind":"Status","status":"Failure","message":"in line 1: a: canary"})"),
              AllOf(HasSubstr("redacted-"), Not(HasSubstr("canary"))));
}

TEST_F(RedactionTest, OtherMessagesOfErrorsAreRecordedAsTheyAre) {
  Redactor redactor;
  EXPECT_THAT(redactor.RedactResponse(
                  "/api/v1/namespaces/shop/secrets", R"({"stringData":{"a":"abc"}})",
                  R"({"kind":"Status","status":"Failure","message":"abcd already exists"})"),
              HasSubstr("abcd already exists"));
}

TEST_F(RedactionTest, OtherKindsAreRecordedAsTheyAre) {
  Call("POST", "/api/v1/namespaces/secrets/configmaps", R"({"data": {"a":"canary"}})", "{}");
  EXPECT_THAT(Text(), HasSubstr(R"({\"data\": {\"a\":\"canary\"}})"));
}

TEST_F(RedactionTest, EqualValuesHaveEqualPlaceholdersInTheFieldsDataAndStringData) {
  const Redactor redactor;
  const std::string target = "/api/v1/namespaces/shop/secrets";
  const std::string plain = redactor.Redact(target, R"({"stringData":{"a":"canary"}})");
  const std::string other = redactor.Redact(target, R"({"stringData":{"a":"another"}})");
  EXPECT_EQ(plain, redactor.Redact(target, R"({"stringData":{"a":"canary"}})"));
  EXPECT_NE(plain, other);
  EXPECT_NE(plain, Redactor().Redact(target, R"({"stringData":{"a":"canary"}})"));
}

TEST_F(RedactionTest, TheDataOfSecretsIsRemovedFromStreamsThatArriveInParts) {
  const auto transport = WithRecordedStreams(server_, recorder_);
  const auto stream = transport->Open({.target = "/api/v1/secrets?watch=true"});
  const std::string event = R"({"type":"ADDED","object":{"data":{"a":"Y2FuYXJ5"}}})";
  server_->SendToWatch("/api/v1/secrets", event.substr(0, event.size() - 8));
  static_cast<void>(stream->Read(1s));
  EXPECT_THAT(Text(), Not(HasSubstr("ADDED")));
  server_->SendToWatch("/api/v1/secrets", event.substr(event.size() - 8) + "\n");
  static_cast<void>(stream->Read(1s));
  EXPECT_THAT(Text(), AllOf(HasSubstr("ADDED"), Not(HasSubstr("Y2FuYXJ5"))));
}

TEST_F(RedactionTest, TheDataOfSecretsIsRemovedFromAStreamedList) {
  server_->Respond("GET", "/api/v1/secrets", 200, R"({"items":[{"data":{"a":"Y2FuYXJ5"}}]})");
  const auto stream = WithRecordedStreams(server_, recorder_)->Open({.target = "/api/v1/secrets"});
  while (stream->Read(1s).state != Stream::State::kEnd) {
  }
  EXPECT_THAT(Text(),
              AllOf(HasSubstr("items"), HasSubstr(R"("end":true)"), Not(HasSubstr("Y2FuYXJ5"))));
}

}  // namespace
}  // namespace kopp
