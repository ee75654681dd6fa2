// Tests malformed, too large and unsupported requests to HttpServer.
#include "http_server_fixture.hpp"

namespace kopp {
namespace {

using ::testing::StartsWith;

std::string PostWithBody(std::size_t size) {
  return "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
         std::string(size, 'b');
}

/// Returns `count` chunks of `size` bytes and the end of the body.
std::string RepeatedChunk(std::size_t size, int count) {
  std::string chunks;
  for (int i = 0; i < count; ++i) {
    chunks += "3e8\r\n" + std::string(size, 'b') + "\r\n";
  }
  return chunks + "0\r\n\r\n";
}

/// A request that the server rejects, and the status code of the response.
struct RejectedRequest {
  std::string name{};
  std::string bytes{};
  int status = 400;
};

void PrintTo(const RejectedRequest& request, std::ostream* out) { *out << request.name; }

class HttpServerRejectionTest : public HttpServerTest,
                                public ::testing::WithParamInterface<RejectedRequest> {};

TEST_P(HttpServerRejectionTest, RejectedRequestClosesOnlyItsOwnConnection) {
  options_.max_body = 5000;
  Serve();
  RawClient other(port());
  other.Send("GET /page HT");
  RawClient client(port());

  client.Send(GetParam().bytes);

  EXPECT_THAT(client.ReadToEnd(),
              StartsWith("HTTP/1.1 " + std::to_string(GetParam().status) + ' '));
  other.Send("TP/1.1\r\nHost: test\r\n\r\n");
  EXPECT_EQ(other.Read().body, "hello\n");
}

std::string RequestText(const std::string& target, const std::string& headers = "Host: test\r\n") {
  return "GET " + target + " HTTP/1.1\r\n" + headers + "\r\n";
}

const std::string chunked_headers = "Host: test\r\nTransfer-Encoding: chunked\r\n";

INSTANTIATE_TEST_SUITE_P(
    RejectedRequests, HttpServerRejectionTest,
    ::testing::Values(
        RejectedRequest{"Garbage", "\x01\x02\x03garbage\r\n\r\n"},
        RejectedRequest{
            "TlsClientHello",
            std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + "\r\n\r\n"},
        RejectedRequest{"UnsupportedVersion", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
        RejectedRequest{"NulInTarget",
                        "GET /a" + std::string(1, '\0') + "b HTTP/1.1\r\nHost: t\r\n\r\n"},
        RejectedRequest{"MissingTarget", "GET  HTTP/1.1\r\nHost: t\r\n\r\n"},
        RejectedRequest{"TargetWithoutSlash", RequestText("page")},
        RejectedRequest{"IncompletePercentEncoding", RequestText("/a%4")},
        RejectedRequest{"NonHexadecimalPercentEncoding", RequestText("/a%zzb")},
        RejectedRequest{"MissingHost", RequestText("/", "")},
        RejectedRequest{"TwoHostHeaders", RequestText("/", "Host: a\r\nHost: b\r\n")},
        RejectedRequest{"TwoContentLengths",
                        RequestText("/", "Host: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n")},
        RejectedRequest{"NegativeContentLength",
                        RequestText("/", "Host: a\r\nContent-Length: -1\r\n")},
        RejectedRequest{"NonNumericContentLength",
                        RequestText("/", "Host: a\r\nContent-Length: 1x\r\n")},
        RejectedRequest{"ContentLengthOverflow",
                        RequestText("/", "Host: a\r\nContent-Length: 99999999999999999999999\r\n")},
        RejectedRequest{"ContentLengthWithChunkedEncoding",
                        RequestText("/", chunked_headers + "Content-Length: 1\r\n")},
        RejectedRequest{"NonHexadecimalChunkSize", RequestText("/", chunked_headers) + "xyz\r\n"},
        RejectedRequest{"NegativeChunkSize", RequestText("/", chunked_headers) + "-5\r\nhello\r\n"},
        RejectedRequest{"ChunkLongerThanItsSize",
                        RequestText("/", chunked_headers) + "2\r\nhello\r\n"},
        RejectedRequest{"HeaderWithoutColon", RequestText("/", "Host: a\r\nnonsense\r\n")},
        RejectedRequest{"UnsupportedTransferEncoding",
                        RequestText("/", "Host: a\r\nTransfer-Encoding: gzip\r\n"), 501},
        RejectedRequest{"UnsupportedExpectation",
                        RequestText("/", "Host: a\r\nExpect: wonders\r\n"), 417},
        RejectedRequest{"HeadWithoutEnd", "GET / HTTP/1.1\r\nX: " + std::string(1 << 20, 'x'), 431},
        RejectedRequest{"TrailersWithoutEnd",
                        RequestText("/", chunked_headers) + "0\r\nX: " + std::string(1 << 20, 'x'),
                        431},
        RejectedRequest{"TooLargeBody", PostWithBody(5001), 413},
        RejectedRequest{"TooLargeChunk",
                        RequestText("/", chunked_headers) + "1389\r\n" + std::string(5001, 'b') +
                            "\r\n0\r\n\r\n",
                        413},
        RejectedRequest{"BodyInManyChunksThatIsTooLarge",
                        RequestText("/", chunked_headers) + RepeatedChunk(1000, 6), 413}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace kopp
