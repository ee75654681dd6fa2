#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <kopp/workqueue/item_hash.hpp>
#include <kopp/workqueue/queue.hpp>

namespace kopp::workqueue {
namespace {

constexpr std::uint64_t kSeed = 0x7f00'1234'5678;

std::string Bytes(std::uint64_t word) {
  std::string bytes(sizeof word, '\0');
  std::memcpy(bytes.data(), &word, sizeof word);
  return bytes;
}

TEST(HashBytesTest, ChangingOneByteChangesTheHashAtEveryLength) {
  for (std::size_t length = 1; length <= 70; ++length) {
    const std::string bytes(length, 'a');
    for (std::size_t position = 0; position < length; ++position) {
      std::string changed = bytes;
      changed[position] = 'b';
      EXPECT_NE(HashBytes(bytes, kSeed), HashBytes(changed, kSeed)) << position << " of " << length;
    }
    EXPECT_NE(HashBytes(bytes, kSeed), HashBytes(bytes + '\0', kSeed)) << length;
  }
}

TEST(HashBytesTest, KeysThatContainThePublicConstantsDoNotCollide) {
  for (const std::uint64_t constant : {detail::kGoldenRatio, detail::kEulerNumber}) {
    std::set<std::uint64_t> hashes;
    for (std::uint64_t i = 0; i < 100; ++i) {
      hashes.insert(HashBytes(Bytes(constant) + Bytes(i), kSeed));
      hashes.insert(HashBytes(Bytes(i) + Bytes(constant), kSeed));
      hashes.insert(HashBytes(Bytes(constant) + Bytes(i) + "tail", kSeed));
      hashes.insert(HashBytes(Bytes(i) + Bytes(constant) + "tail", kSeed));
    }
    EXPECT_EQ(hashes.size(), 400);
  }
}

TEST(HashBytesTest, ObjectKeysSpreadEvenlyOverTheBitsOfTheHash) {
  constexpr std::size_t kKeys = 1 << 14;
  for (const int shift : {0, 16, 32, 48}) {
    std::set<std::uint64_t> seen;
    for (std::size_t i = 0; i < kKeys; ++i) {
      seen.insert(HashBytes("namespace/object-" + std::to_string(i), kSeed) >> shift & (kKeys - 1));
    }
    // Random hashes occupy a fraction of 1 - 1/e of the slots
    EXPECT_NEAR(static_cast<double>(seen.size()), 0.632 * kKeys, 0.02 * kKeys) << shift;
  }
}

// A string type whose comparison and std::hash ignore case.
struct CaseInsensitive : std::string {
  using std::string::string;
  [[nodiscard]] std::string Lower() const {
    std::string lower = *this;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
  }
  friend bool operator==(const CaseInsensitive& a, const CaseInsensitive& b) {
    return a.Lower() == b.Lower();
  }
};

}  // namespace
}  // namespace kopp::workqueue

template <>
struct std::hash<kopp::workqueue::CaseInsensitive> {
  std::size_t operator()(const kopp::workqueue::CaseInsensitive& item) const {
    return std::hash<std::string>{}(item.Lower());
  }
};

namespace kopp::workqueue {
namespace {

TEST(ItemHashTest, ATypeDerivedFromStringUsesItsOwnStdHash) {
  Queue<CaseInsensitive> queue;
  queue.Add("Web");
  queue.Add("web");

  EXPECT_EQ(queue.Len(), 1);
}

}  // namespace
}  // namespace kopp::workqueue
