#include "hash_trie.hpp"

#include <cstdint>
#include <set>

#include <gtest/gtest.h>

namespace kopp::informer {
namespace {

/// The keys are numbers; many keys have equal hashes for the first seeds.
struct CollidingPolicy {
  using Entry = int;
  using Key = int;
  static Key KeyOf(Entry entry) { return entry; }
  static std::uint64_t Hash(Key key, std::uint64_t seed) {
    return seed < 2 ? 0 : static_cast<std::uint64_t>(key);
  }
};
using Trie = HashTrie<CollidingPolicy>;

std::set<int> ContentOf(const Trie& trie) {
  std::set<int> content;
  trie.ForEach([&](int entry) { return content.insert(entry).second; });
  return content;
}

TEST(HashTrieTest, KeysWithEqualHashesAreDistinguishedByHashesWithAnotherSeed) {
  Trie trie;
  for (int key = 1; key <= 100; ++key) trie.FindOrCreate(key, 1) = key;
  for (int key = 1; key <= 98; ++key) trie.Erase(key, 1);

  EXPECT_EQ(trie.size(), 2);
  EXPECT_EQ(ContentOf(trie), (std::set{99, 100}));
  EXPECT_EQ(trie.Find(1), nullptr);
  ASSERT_NE(trie.Find(99), nullptr);
}

TEST(HashTrieTest, AChangeOfACopyInAnotherTransactionLeavesTheOriginalUnchanged) {
  Trie original;
  for (int key = 1; key <= 3; ++key) original.FindOrCreate(key, 1) = key;
  Trie copy = original;

  copy.Erase(1, 2);
  copy.FindOrCreate(4, 2) = 4;

  EXPECT_EQ(ContentOf(original), (std::set{1, 2, 3}));
  EXPECT_EQ(ContentOf(copy), (std::set{2, 3, 4}));
}

TEST(HashTrieTest, ForEachStopsWhenTheVisitorReturnsFalse) {
  Trie trie;
  for (int key = 1; key <= 10; ++key) trie.FindOrCreate(key, 1) = key;

  int visited = 0;
  EXPECT_FALSE(trie.ForEach([&](int) { return ++visited < 4; }));
  EXPECT_EQ(visited, 4);
}

}  // namespace
}  // namespace kopp::informer
