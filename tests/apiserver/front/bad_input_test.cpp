// What is no HTTP, too much of it, or too little.
#include "front_fixture.hpp"

#include <vector>

namespace kopp {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kTooLargeHead = "HTTP/1.1 431 Request Header Fields Too Large\r\n";

std::string WithBody(std::size_t size) {
  return "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
         std::string(size, 'b');
}

/// What is refused, with the status that says so. Each time somebody else is answered meanwhile.
struct Refused {
  std::string name{};
  std::string bytes{};
  int status = 400;
};

void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }

class FrontRefusalTest : public FrontTest, public ::testing::WithParamInterface<Refused> {};

TEST_P(FrontRefusalTest, IsAnsweredAndClosedAndNobodyElseNotices) {
  Serve();
  RawClient other(port());
  other.Send("GET /other HT");
  RawClient client(port());

  client.Send(GetParam().bytes);

  EXPECT_THAT(client.ReadToEnd(),
              StartsWith("HTTP/1.1 " + std::to_string(GetParam().status) + ' '));
  other.Send("TP/1.1\r\nHost: test\r\n\r\n");
  EXPECT_EQ(other.Read().body, "/other");
}

std::string RequestText(const std::string& target, const std::string& headers = "Host: test\r\n") {
  return "GET " + target + " HTTP/1.1\r\n" + headers + "\r\n";
}

const std::string chunked = "Host: test\r\nTransfer-Encoding: chunked\r\n";

INSTANTIATE_TEST_SUITE_P(
    What, FrontRefusalTest,
    ::testing::Values(
        Refused{"Garbage", "\x01\x02\x03garbage\r\n\r\n"},
        Refused{"Tls",
                std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + "\r\n\r\n"},
        Refused{"AnotherVersion", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
        Refused{"NulInATarget", "GET /a" + std::string(1, '\0') + "b HTTP/1.1\r\nHost: t\r\n\r\n"},
        Refused{"NoTarget", "GET  HTTP/1.1\r\nHost: t\r\n\r\n"},
        Refused{"NoPath", RequestText("page")}, Refused{"HalfAPercent", RequestText("/a%4")},
        Refused{"NoHexadecimalPercent", RequestText("/a%zzb")},
        Refused{"NoHost", RequestText("/", "")},
        Refused{"TwoHosts", RequestText("/", "Host: a\r\nHost: b\r\n")},
        Refused{"TwoLengths",
                RequestText("/", "Host: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n")},
        Refused{"ANegativeLength", RequestText("/", "Host: a\r\nContent-Length: -1\r\n")},
        Refused{"ALengthThatIsNone", RequestText("/", "Host: a\r\nContent-Length: 1x\r\n")},
        Refused{"ALengthWithoutEnd",
                RequestText("/", "Host: a\r\nContent-Length: 99999999999999999999999\r\n")},
        Refused{"LengthAndChunks", RequestText("/", chunked + "Content-Length: 1\r\n")},
        Refused{"AChunkSizeThatIsNone", RequestText("/", chunked) + "xyz\r\n"},
        Refused{"ANegativeChunkSize", RequestText("/", chunked) + "-5\r\nhello\r\n"},
        Refused{"AChunkThatIsLonger", RequestText("/", chunked) + "2\r\nhello\r\n"},
        Refused{"AHeaderWithoutColon", RequestText("/", "Host: a\r\nnonsense\r\n")},
        Refused{"AnotherEncoding", RequestText("/", "Host: a\r\nTransfer-Encoding: gzip\r\n"), 501},
        Refused{"AnotherExpectation", RequestText("/", "Host: a\r\nExpect: wonders\r\n"), 417},
        Refused{"AHeadWithoutEnd", "GET / HTTP/1.1\r\nX: " + std::string(1 << 20, 'x'), 431},
        Refused{"TrailersWithoutEnd",
                RequestText("/", chunked) + "0\r\nX: " + std::string(1 << 20, 'x'), 431},
        Refused{"TooLargeABody", WithBody((3 << 20) + 1), 413},
        Refused{"TooLargeAChunk",
                RequestText("/", chunked) + "300001\r\n" + std::string((3 << 20) + 1, 'b') +
                    "\r\n0\r\n\r\n",
                413}),
    [](const auto& each) { return each.param.name; });

TEST_F(FrontTest, AHeadOf64KibIsTaken) {
  Serve();
  RawClient client(port());
  const std::string start = "GET / HTTP/1.1\r\nHost: test\r\nX: ";

  client.Send(start + std::string((64 << 10) - start.size() - 4, 'x') + "\r\n\r\n");

  EXPECT_EQ(client.Read().status, 200);
}

TEST_F(FrontTest, AHeadOfMoreIsRefused) {
  Serve();
  RawClient client(port());
  const std::string start = "GET / HTTP/1.1\r\nHost: test\r\nX: ";

  client.Send(start + std::string((64 << 10) - start.size() - 3, 'x') + "\r\n\r\n");

  EXPECT_THAT(client.ReadToEnd(), StartsWith(kTooLargeHead));
}

TEST_F(FrontTest, ABodyOf3MibIsTaken) {
  std::size_t size = 0;
  answer_ = [&](const Ask& ask) {
    size = ask.body.size();
    return Reply{};
  };
  Serve();
  RawClient client(port());

  client.Send(WithBody(3 << 20));

  EXPECT_EQ(client.Read().status, 200);
  EXPECT_EQ(size, 3U << 20);
}

TEST_F(FrontTest, ABodyOfMoreIsRefusedAsTheRealServerDoes) {
  Serve();
  RawClient client(port());

  EXPECT_TRUE(client.Send(WithBody(5 << 20))) << "it can be sent to its end";

  const auto answer = client.Read();
  EXPECT_EQ(answer.status, 413);
  EXPECT_THAT(answer.body, HasSubstr(R"("reason":"RequestEntityTooLarge")"));
  EXPECT_THAT(answer.body, HasSubstr(R"("message":"Request entity too large: limit is 3145728")"));
}

TEST_F(FrontTest, WhoWaitsToSendTooMuchIsRefusedInstead) {
  Serve();
  RawClient client(port());

  client.Send(
      "POST / HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 4000000\r\n\r\n");

  EXPECT_EQ(client.Read().status, 413);
}

TEST_F(FrontTest, BytesThatAreNoTextDoNotReachTheServer) {
  std::string agent;
  answer_ = [&](const Ask& ask) {
    agent = ask.user_agent;
    return Reply{};
  };
  Serve();
  RawClient client(port());

  client.SendGet("/",
                 "User-Agent: a\xff"
                 "b\r\n");

  EXPECT_EQ(client.Read().status, 200);
  EXPECT_EQ(agent, "a?b");
}

// Deadlines.

TEST_F(FrontTest, AHalfSentRequestHasAnEnd) {
  options_.request_timeout = 50ms;
  Serve();
  RawClient silent(port());
  RawClient half(port());
  RawClient bodiless(port());

  half.Send("GET /pa");
  bodiless.SendGet("/", "Content-Length: 10\r\n");

  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_EQ(half.ReadToEnd(), "");
  EXPECT_EQ(bodiless.ReadToEnd(), "");
}

TEST_F(FrontTest, ARequestThatComesByteByByteHasAnEnd) {
  options_.request_timeout = 50ms;
  Serve();
  RawClient client(port());

  client.Send("GET /page?");

  EXPECT_TRUE(client.IsClosedWhileItSends("x"));
}

TEST_F(FrontTest, AConnectionThatIsNotUsedAgainIsClosed) {
  options_.idle_timeout = 50ms;
  Serve();
  RawClient client(port());

  client.SendGet("/page");
  EXPECT_EQ(client.Read().body, "/page");

  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(FrontTest, AnAnswerThatIsNotTakenIsGivenUp) {
  const std::string large(32 << 20, 'x');  // more than any socket's buffers take
  answer_ = [&](const Ask&) { return Reply{.body = large}; };
  options_.write_timeout = 50ms;
  options_.max_connections = 1;
  Serve();
  RawClient deaf(port());
  deaf.SendGet("/");
  EXPECT_TRUE(deaf.HearsWithin(5s));

  RawClient next(port());
  next.SendGet("/", "Connection: close\r\n");
  EXPECT_TRUE(next.HearsWithin(5s)) << "when the first is given up";

  EXPECT_LT(deaf.ReadToEnd().size(), large.size());
}

// Connections.

TEST_F(FrontTest, HalfOpenConnectionsDoNotKeepOthersWaiting) {
  options_.max_connections = 8;
  Serve();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<RawClient>(port()));
    clients.back()->Send("GET /page HTTP/1.1\r\n");
  }

  EXPECT_EQ(Get("/page").status, 200);
}

TEST_F(FrontTest, TheConnectionThatWaitedLongestMakesRoomForAnother) {
  options_.max_connections = 2;
  Serve();
  RawClient first(port());
  first.SendGet("/page");
  EXPECT_EQ(first.Read().status, 200);
  RawClient second(port());
  second.SendGet("/page");
  EXPECT_EQ(second.Read().status, 200);

  EXPECT_EQ(Get("/page").status, 200);

  EXPECT_TRUE(first.IsClosedWithin(5s));
  second.SendGet("/page");
  EXPECT_EQ(second.Read().status, 200);
}

TEST_F(FrontTest, ClientsThatVanishLeaveRoom) {
  options_.max_connections = 4;
  Serve();
  for (int i = 0; i < 50; ++i) {
    RawClient client(port());
    client.Send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\nhalf");
  }

  EXPECT_EQ(Get("/page").status, 200);
}

}  // namespace
}  // namespace kopp
