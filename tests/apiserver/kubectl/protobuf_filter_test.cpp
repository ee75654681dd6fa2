#include "protobuf/protobuf_filter.hpp"

#include "all_extensions.hpp"
#include "crd/server_catalog.hpp"
#include "environment/extended_api_server.hpp"
#include "json/media_types.hpp"
#include "protobuf/protobuf.hpp"
#include "support/hang_timeout.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/fault.hpp>
#include <kopp/transport.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using testing::Fault;

const std::string config_maps_path = "/api/v1/namespaces/default/configmaps";
const std::string protobuf_type(kProtobufType);

class ProtobufFilterTest : public ::testing::Test {
 protected:
  ApiResponse Create(const std::string& name) {
    return server_.transport().Call(
        {.method = "POST",
         .target = config_maps_path,
         .body = *EncodeProtobuf(
             {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}}),
         .content_type = protobuf_type,
         .accept = protobuf_type});
  }

  ApiResponse Get(const std::string& name) {
    return server_.transport().Call(
        {.target = config_maps_path + '/' + name, .accept = protobuf_type});
  }

  static json Decode(const ApiResponse& response) {
    return DecodeProtobuf(ReadProtobufEnvelope(response.body)).value();
  }

  testing::ExtendedApiServer server_{AllExtensions()};
};

TEST_F(ProtobufFilterTest, TheAuditLogContainsObjectsInJson) {
  Create("a");

  EXPECT_EQ(server_.Requests().back()["objectRef"]["name"], "a");
}

TEST_F(ProtobufFilterTest, AnInjectedErrorIsEncoded) {
  server_.Inject({.type = Fault::Type::kConflict, .verb = "create", .name = "a"});

  const ApiResponse response = Create("a");

  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(Decode(response)["kind"], "Status");
}

TEST_F(ProtobufFilterTest, AMalformedBodyCannotBeDecoded) {
  Create("a");
  server_.Inject({.type = Fault::Type::kMalformedBody, .verb = "get"});

  EXPECT_THROW((void)ReadProtobufEnvelope(Get("a").body), std::invalid_argument);
}

TEST_F(ProtobufFilterTest, AMalformedEventIsAFrameThatCannotBeDecoded) {
  Create("a");
  server_.Inject({.type = Fault::Type::kMalformedBody, .verb = "watch"});

  const auto stream =
      server_.transport().Open({.target = config_maps_path + "?watch=1", .accept = protobuf_type});
  const std::string_view bytes = stream->Read(testing::kHangTimeout).bytes;

  ASSERT_GT(bytes.size(), 4U);
  EXPECT_EQ(static_cast<unsigned char>(bytes[2]) * 256U + static_cast<unsigned char>(bytes[3]),
            bytes.size() - 4);
  EXPECT_EQ(bytes[4], '{');
}

// A FieldsV1 is a message, but its JSON form is no object.
TEST_F(ProtobufFilterTest, ABodyWhoseKindIsNoObjectIsRejected) {
  const auto field = [](int number, const std::string& bytes) {
    return static_cast<char>(number << 3 | 2) + std::string(1, static_cast<char>(bytes.size())) +
           bytes;
  };
  for (const std::string kind : {"FieldsV1", "Time", "MicroTime", "Verbs"}) {
    const std::string type = field(1, "v1") + field(2, kind);
    const std::string body = std::string("k8s\0", 4) + field(1, type) + field(2, field(1, "5"));
    const ApiResponse response = server_.transport().Call({.method = "POST",
                                                           .target = config_maps_path,
                                                           .body = body,
                                                           .content_type = protobuf_type});
    EXPECT_EQ(response.status, 400) << kind << ": " << response.body;
  }
}

/// Returns a Lease whose time is not valid. Validation does not let clients create one.
class InvalidLease final : public RequestHandler {
 public:
  ServerResponse Handle(const ServerRequest& /*request*/) override {
    return {.body = R"({"kind": "Lease", "apiVersion": "coordination.k8s.io/v1",
                        "spec": {"renewTime": "yesterday"}})",
            .content_type = protobuf_type};
  }
};

TEST_F(ProtobufFilterTest, AnObjectThatCannotBeEncodedIsAServerError) {
  testing::FakeClock clock;
  ServerContext context(clock, 1, {.clock = clock}, {}, {.catalog = ServerCatalog()});
  InvalidLease lease;
  ProtobufFilter filter(context, lease);

  const ServerResponse response = filter.Handle({.method = "GET", .accept = protobuf_type});

  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(DecodeProtobuf(ReadProtobufEnvelope(response.body.text())).value()["code"], 500);
}

TEST_F(ProtobufFilterTest, ADroppedWatchEndsWithinAFrame) {
  Create("a");
  server_.Inject({.type = Fault::Type::kDropWatch, .verb = "watch", .bytes = 20});

  const auto stream =
      server_.transport().Open({.target = config_maps_path + "?watch=1", .accept = protobuf_type});
  const std::string_view bytes = stream->Read(testing::kHangTimeout).bytes;

  ASSERT_EQ(bytes.size(), 4U + 20U);
  EXPECT_EQ(bytes[3], 21);
}

}  // namespace
}  // namespace kopp::apiserver
