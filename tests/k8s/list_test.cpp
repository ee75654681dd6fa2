#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/k8s/core/v1/pod.hpp>
#include <kopp/k8s/list.hpp>

namespace kopp::k8s {
namespace {

using core::v1::EnvVar;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(K8sListTest, AListIsConstructedFromAnInitializerList) {
  const List<EnvVar> list{{.name = "A", .value = "1"}, {.name = "B"}};
  EXPECT_THAT(list, ElementsAre(EnvVar{.name = "A", .value = "1"}, EnvVar{.name = "B"}));
  EXPECT_THAT(List<EnvVar>(), IsEmpty());
}

TEST(K8sListTest, AListIsConstructedFromIterators) {
  const std::vector<EnvVar> variables{{.name = "A"}, {.name = "B"}};
  EXPECT_THAT(List<EnvVar>(variables.begin(), variables.begin() + 1),
              ElementsAre(EnvVar{.name = "A"}));
}

TEST(K8sListTest, ACopyHasItsOwnValues) {
  const List<EnvVar> original{{.name = "A"}};
  List<EnvVar> copy = original;
  copy[0].name = "B";
  EXPECT_EQ(original[0].name, "A");
  copy = original;
  EXPECT_EQ(copy, original);
  copy = {{.name = "C"}, {.name = "D"}};
  EXPECT_EQ(copy.size(), 2);
}

TEST(K8sListTest, AMoveKeepsTheAddressOfTheValues) {
  static_assert(std::is_nothrow_move_constructible_v<List<EnvVar>>);
  static_assert(std::is_nothrow_move_assignable_v<List<EnvVar>>);
  List<EnvVar> original{{.name = "A"}};
  const EnvVar* const address = original.data();
  List<EnvVar> target = std::move(original);
  EXPECT_EQ(target.data(), address);
  List<EnvVar> assigned;
  assigned = std::move(target);
  EXPECT_EQ(assigned.data(), address);
}

TEST(K8sListTest, MovingAVectorIntoAListAndBackDoesNotCopy) {
  std::vector<EnvVar> variables{{.name = "A"}, {.name = "B"}};
  const EnvVar* const address = variables.data();
  core::v1::Container container{.env = std::move(variables)};
  EXPECT_EQ(container.env.data(), address);
  const std::vector<EnvVar> back = std::move(container.env);
  EXPECT_EQ(back.data(), address);
}

TEST(K8sListTest, AVectorMayBeAssignedToAListAndComparedWithIt) {
  const std::vector<EnvVar> variables{{.name = "A"}};
  List<EnvVar> list;
  list = variables;
  EXPECT_EQ(list, variables);
  list = {};
  EXPECT_THAT(list, IsEmpty());
}

TEST(K8sListTest, AFunctionThatTakesAVectorChangesAList) {
  const auto append = [](std::vector<EnvVar>& to) { to.push_back({.name = "B"}); };
  List<EnvVar> list{{.name = "A"}};
  append(list);
  EXPECT_THAT(list, ElementsAre(EnvVar{.name = "A"}, EnvVar{.name = "B"}));
}

TEST(K8sListTest, AnEmptyListIsNotWritten) {
  EXPECT_EQ(Encode(core::v1::Container{.name = "a"}), R"({"name":"a"})");
}

TEST(K8sListTest, AListIsDecodedAsItIsEncoded) {
  const core::v1::Container container{.env = {{.name = "A"}}, .name = "a"};
  EXPECT_EQ(Encode(container), R"({"env":[{"name":"A"}],"name":"a"})");
  EXPECT_EQ(Decode<core::v1::Container>(Encode(container)), container);
}

/// A struct of a program. Its list is compiled with the program.
struct Gateway {
  std::string name = {};
  friend bool operator==(const Gateway&, const Gateway&) = default;
};
KOPP_FIELDS(Gateway, name)
struct Listener {
  List<Gateway> gateways = {};
  friend bool operator==(const Listener&, const Listener&) = default;
};
KOPP_FIELDS(Listener, gateways)

TEST(K8sListTest, AProgramMayHaveListsOfItsOwnStructs) {
  const Listener listener{.gateways = {{.name = "a"}, {.name = "b"}}};
  EXPECT_EQ(Encode(listener), R"({"gateways":[{"name":"a"},{"name":"b"}]})");
  EXPECT_EQ(Decode<Listener>(Encode(listener)), listener);
}

}  // namespace
}  // namespace kopp::k8s
