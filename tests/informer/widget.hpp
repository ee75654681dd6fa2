#pragma once

#include <string>
#include <utility>

#include <kopp/informer/object.hpp>

namespace kopp::testing {

/// An object of a namespaced kind for tests. The With functions change a temporary and return it,
/// so that calls can be chained: MakeWidget().WithSize(3).
struct Widget {
  static constexpr Kind kKind{"example.test/v1", "Widget", "widgets"};
  struct Spec {
    int size = 0;
  };
  ObjectMeta metadata;
  Spec spec;

  Widget WithName(std::string name) && {
    metadata.name = std::move(name);
    return std::move(*this);
  }
  Widget InNamespace(std::string ns) && {
    metadata.ns = std::move(ns);
    return std::move(*this);
  }
  Widget WithSize(int size) && {
    spec.size = size;
    return std::move(*this);
  }
  Widget WithUid(std::string uid) && {
    metadata.uid = std::move(uid);
    return std::move(*this);
  }
  Widget WithResourceVersion(std::string version) && {
    metadata.resourceVersion = std::move(version);
    return std::move(*this);
  }
  Widget AddOwnerReference(OwnerReference owner) && {
    metadata.ownerReferences.push_back(std::move(owner));
    return std::move(*this);
  }
};
KOPP_FIELDS(Widget::Spec, size)
KOPP_FIELDS(Widget, metadata, spec)

/// Returns a Widget in the namespace "default"; its uid is "uid-" + `name`.
inline Widget MakeWidget(const std::string& name = "a") {
  return Widget{}.InNamespace("default").WithName(name).WithUid("uid-" + name);
}

}  // namespace kopp::testing
