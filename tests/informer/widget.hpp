#pragma once

#include <string>
#include <utility>

#include <kopp/informer/object.hpp>

namespace kopp::testing {

/// A kind that stands for any.
struct Widget {
  static constexpr Kind kKind{"example.test/v1", "Widget", "widgets"};
  struct Spec {
    int size = 0;
  };
  ObjectMeta metadata;
  Spec spec;

  Widget Named(std::string name) && {
    metadata.name = std::move(name);
    return std::move(*this);
  }
  Widget In(std::string ns) && {
    metadata.ns = std::move(ns);
    return std::move(*this);
  }
  Widget Sized(int size) && {
    spec.size = size;
    return std::move(*this);
  }
  Widget WithUid(std::string uid) && {
    metadata.uid = std::move(uid);
    return std::move(*this);
  }
  Widget AtVersion(std::string version) && {
    metadata.resourceVersion = std::move(version);
    return std::move(*this);
  }
  Widget OwnedBy(OwnerReference owner) && {
    metadata.ownerReferences.push_back(std::move(owner));
    return std::move(*this);
  }
};
KOPP_FIELDS(Widget::Spec, size)
KOPP_FIELDS(Widget, metadata, spec)

/// "default/a", uid "uid-a" unless said otherwise.
inline Widget AWidget(const std::string& name = "a") {
  return Widget{}.In("default").Named(name).WithUid("uid-" + name);
}

}  // namespace kopp::testing
