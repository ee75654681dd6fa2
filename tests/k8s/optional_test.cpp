#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <kopp/k8s/optional.hpp>

namespace kopp::k8s {
namespace {

/// A struct that contains itself.
struct Node {
  std::string name = {};
  Optional<Node> next = {};
  friend bool operator==(const Node&, const Node&) = default;
};
KOPP_FIELDS(Node, name, next)

TEST(K8sOptionalTest, ADefaultConstructedOptionalIsEmpty) {
  const Optional<Node> empty;
  EXPECT_FALSE(empty);
  EXPECT_FALSE(empty.has_value());
  EXPECT_THROW((void)empty.value(), std::bad_optional_access);
  EXPECT_EQ(empty, Optional<Node>(std::nullopt));
}

TEST(K8sOptionalTest, ACopyHasItsOwnValue) {
  const Optional<Node> original = Node{.name = "a", .next = {{.name = "b"}}};
  Optional<Node> copy = original;
  EXPECT_EQ(copy, original);
  copy->next->name = "c";
  EXPECT_EQ(original->next->name, "b");
  EXPECT_NE(copy, original);
  copy = original;
  EXPECT_EQ(copy.value().next->name, "b");
}

TEST(K8sOptionalTest, AMoveKeepsTheAddressOfTheValue) {
  Optional<Node> original = Node{.name = "a"};
  const Node* const address = &*original;
  Optional<Node> target = std::move(original);
  EXPECT_EQ(&*target, address);
  Optional<Node> assigned;
  assigned = std::move(target);
  EXPECT_EQ(&*assigned, address);
}

TEST(K8sOptionalTest, AValueMayBeReplacedByAPartOfItself) {
  Optional<Node> node = Node{.name = "a", .next = Node{.name = "b"}};
  node = std::move(node->next);  // AddressSanitizer would report a leak
  EXPECT_EQ(node->name, "b");
  EXPECT_FALSE(node->next.has_value());
}

TEST(K8sOptionalTest, ResetRemovesTheValueAndEmplaceReplacesIt) {
  Optional<Node> node = Node{.name = "a"};
  node.emplace();
  EXPECT_EQ(node->name, "");
  node.reset();
  EXPECT_FALSE(node.has_value());
}

TEST(K8sOptionalTest, AnEmptyStructIsWrittenAndAnAbsentOneIsNot) {
  EXPECT_EQ(Encode(Node{.name = "a"}), R"({"name":"a"})");
  EXPECT_EQ(Encode(Node{.name = "a", .next = {{}}}), R"({"name":"a","next":{}})");
  EXPECT_EQ(Decode<Node>(R"({"name":"a","next":{}})"), (Node{.name = "a", .next = {{}}}));
}

}  // namespace
}  // namespace kopp::k8s
