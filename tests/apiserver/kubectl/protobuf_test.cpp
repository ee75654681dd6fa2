#include "protobuf/protobuf.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Encodes a field of wire type 2.
std::string Bytes(int number, const std::string& bytes) {
  return static_cast<char>(number << 3 | 2) + std::string(1, static_cast<char>(bytes.size())) +
         bytes;
}

/// Encodes a field of wire type 0.
std::string Integer(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}

std::string Entry(const std::string& key, const std::string& value) {
  return Bytes(1, key) + Bytes(2, value);
}

std::string Object(const std::string& kind, const std::string& content) {
  return std::string("k8s\0", 4) + Bytes(1, Bytes(1, "v1") + Bytes(2, kind)) + Bytes(2, content) +
         Bytes(3, "") + Bytes(4, "");
}

std::optional<json> Decode(std::string_view bytes) {
  return DecodeProtobuf(ReadProtobufEnvelope(bytes));
}

TEST(ProtobufTest, ASecretIsDecodedToItsJsonForm) {
  const std::string metadata = Bytes(1, "s") + Bytes(2, "") + Integer(7, 0) + Bytes(8, "") +
                               Bytes(11, Entry("owner", "helm")) + Bytes(11, Entry("b", ""));
  const std::string secret =
      Bytes(1, metadata) + Bytes(2, Entry("release", "H4s")) + Bytes(3, "helm.sh/release.v1");

  EXPECT_EQ(Decode(Object("Secret", secret)),
            R"({"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
                "metadata": {"name": "s", "labels": {"owner": "helm", "b": ""}},
                "data": {"release": "SDRz"}})"_json);
}

TEST(ProtobufTest, AConfigMapIsDecodedToItsJsonForm) {
  const std::string owner = Bytes(1, "Foo") + Bytes(3, "f") + Bytes(5, "v1") + Integer(6, 1);
  const std::string time = Integer(1, 60);
  const std::string entry = Bytes(1, "helm") + Bytes(4, time) + Bytes(7, Bytes(1, R"({"f:a":{}})"));
  const std::string metadata = Bytes(9, time) + Bytes(13, owner) + Bytes(14, "a") + Bytes(14, "b") +
                               static_cast<char>(0x8a) + '\x01' + static_cast<char>(entry.size()) +
                               entry;
  const std::string map = Bytes(1, metadata) + Bytes(2, Entry("k", "v")) +
                          Bytes(3, Entry("raw", "\xff")) + Integer(4, 1);

  EXPECT_EQ(Decode(Object("ConfigMap", map)),
            R"({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"},
                "binaryData": {"raw": "/w=="}, "immutable": true,
                "metadata": {"deletionTimestamp": "1970-01-01T00:01:00Z", "finalizers": ["a", "b"],
                  "ownerReferences": [{"kind": "Foo", "name": "f", "apiVersion": "v1", "controller": true}],
                  "managedFields": [{"manager": "helm", "time": "1970-01-01T00:01:00Z",
                                     "fieldsV1": {"f:a": {}}}]}})"_json);
}

TEST(ProtobufTest, DeleteOptionsAreDecodedToTheirJsonForm) {
  const std::string options = Integer(1, 0) + Bytes(2, Bytes(1, "u")) + Integer(3, 0) +
                              Bytes(4, "Background") + Bytes(5, "All");

  EXPECT_EQ(Decode(Object("DeleteOptions", options)),
            R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,
                "preconditions": {"uid": "u"}, "orphanDependents": false,
                "propagationPolicy": "Background", "dryRun": ["All"]})"_json);
}

TEST(ProtobufTest, UnknownFieldsAreIgnored) {
  const std::string fixed64 = static_cast<char>(9 << 3 | 1) + std::string(8, 'x');
  const std::string fixed32 = static_cast<char>(9 << 3 | 5) + std::string(4, 'x');

  EXPECT_EQ(Decode(Object("Secret", Integer(9, 1) + fixed64 + fixed32 + Bytes(3, "t"))),
            R"({"apiVersion": "v1", "kind": "Secret", "type": "t"})"_json);
}

TEST(ProtobufTest, KindsThatAreNotBuiltInAreNotDecoded) {
  EXPECT_EQ(Decode(Object("Widget", "")), std::nullopt);
}

TEST(ProtobufTest, InvalidBytesAreRejected) {
  const std::string secret = Object("Secret", Bytes(3, "type"));
  for (std::size_t size = 0; size < secret.size(); ++size) {
    try {
      // A prefix is either invalid, or ends between two fields.
      const auto decoded = Decode(std::string_view(secret).substr(0, size));
      EXPECT_TRUE(!decoded || !decoded->contains("type") || size >= secret.size() - 4) << size;
    } catch (const std::invalid_argument&) {
    }
  }
  for (const std::string& content :
       {std::string("\x1a"), std::string("\x1a\x05"), std::string("\x1b"), Integer(3, 1),
        Bytes(5, "x"), std::string("\x1a") + std::string(11, '\xff'), Bytes(1, Bytes(8, "\x08")),
        Bytes(1, Bytes(8, std::string("\x08") + std::string(9, '\xff') + '\x01'))}) {
    EXPECT_THROW((void)Decode(Object("Secret", content)), std::invalid_argument) << content;
  }
  EXPECT_THROW((void)Decode("k8s"), std::invalid_argument);
}

TEST(ProtobufTest, AFieldOfTheWrongWireTypeIsNamedInTheError) {
  try {
    (void)Decode(Object("Secret", Bytes(1, Integer(1, 1))));
    FAIL() << "the message is not valid";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "proto: wrong wireType = 0 for field Name");
  }
}

TEST(ProtobufTest, DeleteOptionsBelongToEveryApiGroup) {
  EXPECT_EQ(DecodeProtobuf({.api_version = "apps/v1", .kind = "DeleteOptions"}),
            R"({"apiVersion": "apps/v1", "kind": "DeleteOptions"})"_json);
}

TEST(ProtobufTest, AWatchEventIsPrecededByItsSize) {
  const std::string object = Object("Secret", Bytes(3, "t"));
  const std::string event =
      Bytes(1, "ADDED") + Bytes(2, Bytes(1, object.substr(0, object.size() - 4)));

  const std::string frame = EncodeWatchFrame(
      R"({"type": "ADDED", "object": {"apiVersion": "v1", "kind": "Secret", "type": "t"}})"_json);

  EXPECT_EQ(frame, std::string(3, '\0') + static_cast<char>(event.size()) + event);
}

TEST(ProtobufTest, InvalidUtf8IsReplaced) {
  const auto decoded = Decode(Object("Secret", Bytes(3, "\xff")));
  EXPECT_EQ((*decoded)["type"], "\xef\xbf\xbd");
}

}  // namespace
}  // namespace kopp::apiserver
