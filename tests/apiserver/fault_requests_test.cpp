// Faults of requests: what is answered, and whether it was done.
#include "faulty_server.hpp"

#include <chrono>
#include <stop_token>
#include <thread>

#include <gmock/gmock.h>

#include <kopp/informer/api_error.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class FaultRequestsTest : public FaultyServer {
 protected:
  std::string VersionOf(const std::string& name) {
    return (*Find(name))["metadata"]["resourceVersion"];
  }
  /// What a request that fails so says.
  std::string Failure(TransportError::Kind kind, const std::string& target) {
    try {
      Ask(target);
    } catch (const TransportError& error) {
      EXPECT_EQ(error.kind(), kind);
      return error.what();
    }
    return "there was an answer";
  }
  static std::vector<std::string> NamesIn(const json& list) {
    std::vector<std::string> names;
    for (const json& item : list["items"]) names.push_back(item["metadata"]["name"]);
    return names;
  }
};

TEST_F(FaultRequestsTest, AConflictIsTheRealServersAndNothingIsDone) {
  const json made = Make("a");
  server_.Inject({.what = What::kConflict, .times = 1});

  const Response answer = Ask(std::string(kMaps) + "/a", "PUT", made.dump());

  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(json::parse(answer.body),
            json({{"kind", "Status"},
                  {"apiVersion", "v1"},
                  {"metadata", json::object()},
                  {"status", "Failure"},
                  {"message",
                   "Operation cannot be fulfilled on configmaps \"a\": the object has been "
                   "modified; please apply your changes to the latest version and try again"},
                  {"reason", "Conflict"},
                  {"details", {{"name", "a"}, {"kind", "configmaps"}}},
                  {"code", 409}}));
  EXPECT_EQ(made["metadata"]["resourceVersion"], VersionOf("a"));
}

TEST_F(FaultRequestsTest, ACreateThatConflictsExistsAlready) {
  server_.Inject({.what = What::kConflict, .times = 1});

  try {
    Make("a");
    FAIL() << "it was made";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.IsAlreadyExists());
    EXPECT_EQ(error.status().message, "configmaps \"a\" already exists");
  }
  EXPECT_FALSE(Find("a"));
}

TEST_F(FaultRequestsTest, AReadHasNoConflict) {
  Make("a");
  server_.Inject({.what = What::kConflict});

  EXPECT_TRUE(Find("a"));
}

TEST_F(FaultRequestsTest, AListOfALostVersionIsGone) {
  server_.Inject({.what = What::kGone, .times = 1});

  const Response answer = Ask(kMaps);

  EXPECT_EQ(answer.status, 410);
  const json status = json::parse(answer.body);
  EXPECT_EQ(status["reason"], "Expired");
  EXPECT_EQ(status["message"], "The resourceVersion for the provided list is too old.");
}

TEST_F(FaultRequestsTest, APageThatIsGoneSaysThatItsTokenIs) {
  server_.Inject({.what = What::kGone, .times = 1});

  EXPECT_THAT(AskJson(std::string(kMaps) + "?continue=abc")["message"],
              HasSubstr("The provided continue parameter is too old"));
}

TEST_F(FaultRequestsTest, TooManyRequestsSaysWhenToComeAgain) {
  server_.Inject({.what = What::kTooManyRequests, .times = 1, .retry_after = 2500ms});

  const Response answer = Ask(kMaps);

  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.retry_after, Duration(3s));
  const json status = json::parse(answer.body);
  EXPECT_EQ(status["reason"], "TooManyRequests");
  EXPECT_EQ(status["details"], json({{"retryAfterSeconds", 3}}));
}

TEST_F(FaultRequestsTest, AServersErrorHasItsReason) {
  for (const auto& [code, reason] :
       {std::pair{500, "InternalError"}, {503, "ServiceUnavailable"}, {504, "Timeout"}}) {
    server_.Inject({.what = What::kServerError, .times = 1, .status = code});
    const Response answer = Ask(kMaps);
    EXPECT_EQ(answer.status, code);
    EXPECT_EQ(json::parse(answer.body)["reason"], reason);
  }
}

TEST_F(FaultRequestsTest, ABadGatewayIsNoStatus) {
  server_.Inject({.what = What::kServerError, .times = 1, .status = 502});

  const Response answer = Ask(kMaps);

  EXPECT_EQ(answer.status, 502);
  EXPECT_EQ(answer.body, "Bad Gateway\n");
}

TEST_F(FaultRequestsTest, ARefusalIsInTheAuditLogAsItWasAnswered) {
  Make("a");
  server_.Inject({.what = What::kConflict, .times = 1});
  EXPECT_THROW(Change("a", "1"), ApiError);

  const json entry = server_.Requests().back();

  EXPECT_EQ(entry["verb"], "patch");
  EXPECT_EQ(entry["responseStatus"]["code"], 409);
  EXPECT_EQ(entry["responseStatus"]["reason"], "Conflict");
  EXPECT_EQ(entry["requestObject"]["data"]["value"], "1");
}

TEST_F(FaultRequestsTest, ARefusedConnectionIsUnreachableAndNobodyHears) {
  const std::size_t asked = server_.Requests().size();
  server_.Inject({.what = What::kRefuse, .times = 1});

  EXPECT_EQ(Failure(TransportError::Kind::kUnreachable, kMaps),
            "GET /api/v1/namespaces/default/configmaps: connection refused: is the API server "
            "running there?");
  EXPECT_EQ(server_.Requests().size(), asked);
}

TEST_F(FaultRequestsTest, WhatAResetConnectionAskedForWasDone) {
  server_.Inject({.what = What::kReset, .times = 1});

  EXPECT_THROW(Make("a"), TransportError);

  EXPECT_TRUE(Find("a"));
}

TEST_F(FaultRequestsTest, AResetSaysThatThereWasNoAnswer) {
  server_.Inject({.what = What::kReset, .times = 1});

  EXPECT_THAT(Failure(TransportError::Kind::kBroken, kMaps),
              HasSubstr("the server closed the connection without an answer"));
}

TEST_F(FaultRequestsTest, AStaleListIsTheOneOfThenWithItsVersion) {
  const json a = Make("a");
  Make("b");
  Make("c");
  server_.Inject({.what = What::kStaleList, .times = 1, .versions = 2});

  const json list = AskJson(std::string(kMaps) + "?resourceVersion=0");

  EXPECT_EQ(NamesIn(list), std::vector<std::string>{"a"});
  EXPECT_EQ(list["metadata"]["resourceVersion"], a["metadata"]["resourceVersion"]);
  EXPECT_EQ(NamesIn(AskJson(kMaps)).size(), 3);
}

TEST_F(FaultRequestsTest, AStaleListHeedsTheOtherOptions) {
  Make("a");
  Make("b");
  Make("c");
  server_.Inject({.what = What::kStaleList, .times = 1, .versions = 1});

  EXPECT_EQ(NamesIn(AskJson(std::string(kMaps) + "?fieldSelector=metadata.name%3Db")),
            std::vector<std::string>{"b"});
}

TEST_F(FaultRequestsTest, WhereThePastIsForgottenAStaleListIsNew) {
  Make("a");
  server_.Compact();
  server_.Inject({.what = What::kStaleList, .times = 1, .versions = 1});

  EXPECT_EQ(NamesIn(AskJson(kMaps)), std::vector<std::string>{"a"});
}

TEST_F(FaultRequestsTest, AListWhoseVersionGoesBackHasTheNewestObjects) {
  const std::string version = Make("a")["metadata"]["resourceVersion"];
  server_.Inject({.what = What::kBackwardsVersion, .times = 1, .versions = 2});

  const json list = AskJson(kMaps);

  EXPECT_EQ(list["metadata"]["resourceVersion"], std::to_string(std::stoi(version) - 2));
  EXPECT_EQ(list["items"][0]["metadata"]["resourceVersion"], version);
}

TEST_F(FaultRequestsTest, TheVersionOfAnObjectMayGoBack) {
  const std::string version = Make("a")["metadata"]["resourceVersion"];
  server_.Inject({.what = What::kBackwardsVersion, .verb = "get", .times = 1, .versions = 1});

  EXPECT_EQ(VersionOf("a"), std::to_string(std::stoi(version) - 1));
}

TEST_F(FaultRequestsTest, ATruncatedBodyIsNoAnswer) {
  server_.Inject({.what = What::kTruncatedBody, .times = 1, .bytes = 10});

  EXPECT_THAT(Failure(TransportError::Kind::kBroken, kMaps),
              HasSubstr("the connection ended in the middle of the answer"));
}

TEST_F(FaultRequestsTest, ABodyThatIsTruncatedFarBehindItsEndLacksAByte) {
  server_.Inject({.what = What::kTruncatedBody, .times = 1, .bytes = 1'000'000});

  EXPECT_THROW(Ask(kMaps), TransportError);
}

TEST_F(FaultRequestsTest, AWriteWithATruncatedAnswerWasDone) {
  server_.Inject({.what = What::kTruncatedBody, .times = 1});

  EXPECT_THROW(Make("a"), TransportError);

  EXPECT_TRUE(Find("a"));
}

TEST_F(FaultRequestsTest, AMalformedBodyBeginsWellAndIsNoJson) {
  server_.Inject({.what = What::kMalformedBody, .times = 1});

  const Response answer = Ask(kMaps);

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.front(), '{');
  EXPECT_FALSE(json::accept(answer.body));
}

TEST_F(FaultRequestsTest, FaultsOfAllRequestsAreFaultsOfDiscoveryToo) {
  server_.Inject({.what = What::kServerError});

  EXPECT_EQ(Ask("/api").status, 500);
  EXPECT_EQ(Ask("/readyz").status, 500);
}

}  // namespace
}  // namespace kopp
