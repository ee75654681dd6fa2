#include "all_kinds.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include <kopp/informer/metadata_only.hpp>
#include <kopp/k8s/view.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

struct PodPhase {
  static constexpr Kind kKind = Pod::kKind;
  struct Status {
    std::string phase;
  };
  ObjectMeta metadata;
  Status status;
};
KOPP_FIELDS(PodPhase::Status, phase)
KOPP_FIELDS(PodPhase, metadata, status)

struct PodOfANewerKubernetes {
  static constexpr Kind kKind = Pod::kKind;
  static constexpr bool kIsView = false;
  ObjectMeta metadata;
};
KOPP_FIELDS(PodOfANewerKubernetes, metadata)

/// A kind of the group of an operator.
struct ExamplePod {
  static constexpr Kind kKind{"example.com/v1", "Pod", "pods"};
  ObjectMeta metadata;
};
KOPP_FIELDS(ExamplePod, metadata)

struct Certificate {
  static constexpr Kind kKind{"cert-manager.io/v1", "Certificate", "certificates"};
  static constexpr bool kIsView = true;
  ObjectMeta metadata;
};
KOPP_FIELDS(Certificate, metadata)

template <ApiObject T>
bool IsTyped() {
  return k8s::kIsTypedKind<T> && std::ranges::any_of(k8s::kTypedKinds, [](const Kind& kind) {
           return kind.api_version == T::kKind.api_version && kind.kind == T::kKind.kind &&
                  kind.plural == T::kKind.plural && kind.scope == T::kKind.scope;
         });
}

TEST(ViewTest, NoTypeOfALibraryKindIsAView) {
#define KOPP_K8S_EXPECT_NO_VIEW(Type, key) \
  EXPECT_TRUE(IsTyped<Type>()) << (key);   \
  EXPECT_FALSE(IsView<Type>()) << (key);
  KOPP_K8S_ALL_KINDS(KOPP_K8S_EXPECT_NO_VIEW)
}

TEST(ViewTest, AnotherStructOfALibraryKindIsAViewUnlessItSaysOtherwise) {
  EXPECT_TRUE(IsView<PodPhase>());
  EXPECT_FALSE(IsView<PodOfANewerKubernetes>());
}

TEST(ViewTest, AStructOfAnotherKindIsAViewIfItSaysSo) {
  EXPECT_FALSE(IsView<ExamplePod>());
  EXPECT_TRUE(IsView<Certificate>());
}

TEST(ViewTest, MetadataOnlyIsAView) {
  EXPECT_TRUE(IsView<MetadataOnly<Pod>>());
  EXPECT_TRUE(IsView<MetadataOnly<ExamplePod>>());
}

}  // namespace
}  // namespace kopp
