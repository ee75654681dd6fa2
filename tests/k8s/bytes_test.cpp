#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <kopp/informer/fields.hpp>
#include <kopp/k8s/bytes.hpp>

namespace kopp::k8s {
namespace {

struct Blob {
  Bytes blob = {};
};
KOPP_FIELDS(Blob, blob)

TEST(BytesTest, BytesAreBase64WithPaddingInJson) {
  const std::pair<std::string, std::string> cases[] = {{"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {{'\0', '\xff'}, "AP8="}};
  for (const auto& [bytes, base64] : cases) {
    const std::string text = R"({"blob":")" + base64 + R"("})";
    EXPECT_EQ(Encode(Blob{bytes}), text);
    EXPECT_EQ(Decode<Blob>(text).blob.data, bytes);
  }
}

TEST(BytesTest, EmptyBytesAreOmitted) { EXPECT_EQ(Encode(Blob{}), "{}"); }

TEST(BytesTest, TextThatIsNotBase64IsADecodeError) {
  EXPECT_THROW((void)Decode<Blob>(R"({"blob":"Zg="})"), DecodeError);
  EXPECT_THROW((void)Decode<Blob>(R"({"blob":"Z?=="})"), DecodeError);
  EXPECT_THROW((void)Decode<Blob>(R"({"blob":"Z==="})"), DecodeError);
}

}  // namespace
}  // namespace kopp::k8s
