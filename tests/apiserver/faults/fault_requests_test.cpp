// Tests of faults of requests: the response, and whether the server executes the request.
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
  /// Returns the error text of a request that fails with an error of this kind.
  std::string Failure(TransportError::Kind kind, const std::string& target) {
    try {
      Call(target);
    } catch (const TransportError& error) {
      EXPECT_EQ(error.kind(), kind);
      return error.what();
    }
    return "the request succeeded";
  }
  static std::vector<std::string> NamesIn(const json& list) {
    std::vector<std::string> names;
    for (const json& item : list["items"]) names.push_back(item["metadata"]["name"]);
    return names;
  }
};

TEST_F(FaultRequestsTest, ConflictReturnsTheStatusOfARealServerAndDoesNotUpdate) {
  const json created = Create("a");
  server_.Inject({.type = Type::kConflict, .times = 1});

  const ApiResponse response = Call(std::string(kMaps) + "/a", "PUT", created.dump());

  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(json::parse(response.body),
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
  EXPECT_EQ(created["metadata"]["resourceVersion"], VersionOf("a"));
}

TEST_F(FaultRequestsTest, ConflictOfACreateIsAlreadyExists) {
  server_.Inject({.type = Type::kConflict, .times = 1});

  try {
    Create("a");
    FAIL() << "the create succeeded";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.IsAlreadyExists());
    EXPECT_EQ(error.status().message, "configmaps \"a\" already exists");
  }
  EXPECT_FALSE(Find("a"));
}

TEST_F(FaultRequestsTest, ConflictDoesNotApplyToAGet) {
  Create("a");
  server_.Inject({.type = Type::kConflict});

  EXPECT_TRUE(Find("a"));
}

TEST_F(FaultRequestsTest, GoneOfAListIs410Expired) {
  server_.Inject({.type = Type::kGone, .times = 1});

  const ApiResponse response = Call(kMaps);

  EXPECT_EQ(response.status, 410);
  const json status = json::parse(response.body);
  EXPECT_EQ(status["reason"], "Expired");
  EXPECT_EQ(status["message"], "The resourceVersion for the provided list is too old.");
}

TEST_F(FaultRequestsTest, GoneOfAListWithAContinueTokenReturnsThatTheTokenIsTooOld) {
  server_.Inject({.type = Type::kGone, .times = 1});

  EXPECT_THAT(GetJson(std::string(kMaps) + "?continue=abc")["message"],
              HasSubstr("The provided continue parameter is too old"));
}

TEST_F(FaultRequestsTest, TooManyRequestsHasRetryAfterRoundedUpToSeconds) {
  server_.Inject({.type = Type::kTooManyRequests, .times = 1, .retry_after = 2500ms});

  const ApiResponse response = Call(kMaps);

  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.retry_after, Duration(3s));
  const json status = json::parse(response.body);
  EXPECT_EQ(status["reason"], "TooManyRequests");
  EXPECT_EQ(status["details"], json({{"retryAfterSeconds", 3}}));
}

TEST_F(FaultRequestsTest, ServerErrorHasTheReasonOfItsCode) {
  for (const auto& [code, reason] :
       {std::pair{500, "InternalError"}, {503, "ServiceUnavailable"}, {504, "Timeout"}}) {
    server_.Inject({.type = Type::kServerError, .times = 1, .status = code});
    const ApiResponse response = Call(kMaps);
    EXPECT_EQ(response.status, code);
    EXPECT_EQ(json::parse(response.body)["reason"], reason);
  }
}

TEST_F(FaultRequestsTest, ServerError502HasAPlainTextBody) {
  server_.Inject({.type = Type::kServerError, .times = 1, .status = 502});

  const ApiResponse response = Call(kMaps);

  EXPECT_EQ(response.status, 502);
  EXPECT_EQ(response.body, "Bad Gateway\n");
}

TEST_F(FaultRequestsTest, TheAuditLogContainsTheInjectedConflict) {
  Create("a");
  server_.Inject({.type = Type::kConflict, .times = 1});
  EXPECT_THROW(SetValue("a", "1"), ApiError);

  const json entry = server_.Requests().back();

  EXPECT_EQ(entry["verb"], "patch");
  EXPECT_EQ(entry["responseStatus"]["code"], 409);
  EXPECT_EQ(entry["responseStatus"]["reason"], "Conflict");
  EXPECT_EQ(entry["requestObject"]["data"]["value"], "1");
}

TEST_F(FaultRequestsTest, ARefusedConnectionIsUnreachableAndNotInTheAuditLog) {
  const std::size_t requests_before = server_.Requests().size();
  server_.Inject({.type = Type::kRefuse, .times = 1});

  EXPECT_EQ(Failure(TransportError::Kind::kUnreachable, kMaps),
            "GET /api/v1/namespaces/default/configmaps: connection refused; check the "
            "address, and that a server is running there");
  EXPECT_EQ(server_.Requests().size(), requests_before);
}

TEST_F(FaultRequestsTest, ResetExecutesTheWrite) {
  server_.Inject({.type = Type::kReset, .times = 1});

  EXPECT_THROW(Create("a"), TransportError);

  EXPECT_TRUE(Find("a"));
}

TEST_F(FaultRequestsTest, ResetIsABrokenConnectionWithoutAResponse) {
  server_.Inject({.type = Type::kReset, .times = 1});

  EXPECT_THAT(Failure(TransportError::Kind::kBroken, kMaps),
              HasSubstr("the server closed the connection without a response; check whether its"));
}

TEST_F(FaultRequestsTest, StaleListReturnsTheOldObjectsAndTheOldResourceVersion) {
  const json a = Create("a");
  Create("b");
  Create("c");
  server_.Inject({.type = Type::kStaleList, .times = 1, .versions = 2});

  const json list = GetJson(std::string(kMaps) + "?resourceVersion=0");

  EXPECT_EQ(NamesIn(list), std::vector<std::string>{"a"});
  EXPECT_EQ(list["metadata"]["resourceVersion"], a["metadata"]["resourceVersion"]);
  EXPECT_EQ(NamesIn(GetJson(kMaps)).size(), 3);
}

TEST_F(FaultRequestsTest, StaleListAppliesTheFieldSelector) {
  Create("a");
  Create("b");
  Create("c");
  server_.Inject({.type = Type::kStaleList, .times = 1, .versions = 1});

  EXPECT_EQ(NamesIn(GetJson(std::string(kMaps) + "?fieldSelector=metadata.name%3Db")),
            std::vector<std::string>{"b"});
}

TEST_F(FaultRequestsTest, StaleListReturnsTheCurrentListAfterCompaction) {
  Create("a");
  server_.Compact();
  server_.Inject({.type = Type::kStaleList, .times = 1, .versions = 1});

  EXPECT_EQ(NamesIn(GetJson(kMaps)), std::vector<std::string>{"a"});
}

TEST_F(FaultRequestsTest, BackwardsVersionOfAListReturnsTheCurrentObjects) {
  const std::string version = Create("a")["metadata"]["resourceVersion"];
  server_.Inject({.type = Type::kBackwardsVersion, .times = 1, .versions = 2});

  const json list = GetJson(kMaps);

  EXPECT_EQ(list["metadata"]["resourceVersion"], std::to_string(std::stoi(version) - 2));
  EXPECT_EQ(list["items"][0]["metadata"]["resourceVersion"], version);
}

TEST_F(FaultRequestsTest, BackwardsVersionLowersTheResourceVersionOfAGet) {
  const std::string version = Create("a")["metadata"]["resourceVersion"];
  server_.Inject({.type = Type::kBackwardsVersion, .verb = "get", .times = 1, .versions = 1});

  EXPECT_EQ(VersionOf("a"), std::to_string(std::stoi(version) - 1));
}

TEST_F(FaultRequestsTest, TruncatedBodyIsABrokenConnection) {
  server_.Inject({.type = Type::kTruncatedBody, .times = 1, .bytes = 10});

  EXPECT_THAT(Failure(TransportError::Kind::kBroken, kMaps),
              HasSubstr("the connection ended in the middle of the response"));
}

TEST_F(FaultRequestsTest, TruncatedBodyCutsAtLeastOneByte) {
  server_.Inject({.type = Type::kTruncatedBody, .times = 1, .bytes = 1'000'000});

  EXPECT_THROW(Call(kMaps), TransportError);
}

TEST_F(FaultRequestsTest, TruncatedBodyExecutesTheWrite) {
  server_.Inject({.type = Type::kTruncatedBody, .times = 1});

  EXPECT_THROW(Create("a"), TransportError);

  EXPECT_TRUE(Find("a"));
}

TEST_F(FaultRequestsTest, MalformedBodyStartsLikeTheResponseButIsNotJson) {
  server_.Inject({.type = Type::kMalformedBody, .times = 1});

  const ApiResponse response = Call(kMaps);

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body.front(), '{');
  EXPECT_FALSE(json::accept(response.body));
}

TEST_F(FaultRequestsTest, AFaultWithoutAFilterAppliesToDiscoveryAndHealthChecks) {
  server_.Inject({.type = Type::kServerError});

  EXPECT_EQ(Call("/api").status, 500);
  EXPECT_EQ(Call("/readyz").status, 500);
}

}  // namespace
}  // namespace kopp
