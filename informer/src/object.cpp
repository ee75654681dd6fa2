#include <algorithm>

#include <kopp/informer/metadata_only.hpp>
#include <kopp/informer/object.hpp>

namespace kopp {

KOPP_DEFINE_FIELDS(OwnerReference, apiVersion, kind, name, uid, controller, blockOwnerDeletion)
KOPP_DEFINE_FIELDS(ObjectMeta, name, generateName, KOPP_FIELD(ns, "namespace"), uid,
                   resourceVersion, generation, creationTimestamp, deletionTimestamp, labels,
                   annotations, ownerReferences, finalizers)
KOPP_DEFINE_FIELDS(PartialObjectMetadata, metadata)

const OwnerReference* ControllerOf(const ObjectMeta& metadata) {
  const auto& owners = metadata.ownerReferences;
  const auto found = std::find_if(owners.begin(), owners.end(),
                                  [](const OwnerReference& owner) { return owner.controller; });
  return found == owners.end() ? nullptr : &*found;
}

bool IsOlderResourceVersion(std::string_view a, std::string_view b) {
  // "0" means "any version" in a request. It is not the version of an object.
  const auto is_positive_number = [](std::string_view text) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit) && text.front() != '0';
  };
  if (!is_positive_number(a) || !is_positive_number(b)) return false;
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace kopp
