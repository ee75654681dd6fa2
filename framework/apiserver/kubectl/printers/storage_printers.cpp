// The cells of the kinds of storage.k8s.io, scheduling.k8s.io and node.k8s.io.
#include "kubectl/printers/printers.hpp"

#include <string>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

Cell Boolean(std::string pointer) {
  return [pointer = std::move(pointer)](const json& object, const std::string&) {
    return IsTrueAt(object, pointer);
  };
}

/// Returns the name, and whether the class is the default for claims without a class.
json StorageClassName(const json& storage_class, const std::string&) {
  const std::string name = StringAt(storage_class, "/metadata/name");
  for (const char* group : {"storageclass.kubernetes.io", "storageclass.beta.kubernetes.io"}) {
    if (StringAt(storage_class,
                 std::string("/metadata/annotations/") + group + "~1is-default-class") == "true") {
      return name + " (default)";
    }
  }
  return name;
}

json TokenAudiences(const json& driver, const std::string&) {
  const json& requests = ValueAt(driver, "/spec/tokenRequests");
  if (requests.empty()) return "<unset>";
  std::vector<std::string> audiences;
  for (const json& request : requests) audiences.push_back(StringAt(request, "/audience"));
  return Join(audiences);
}

json LifecycleModes(const json& driver, const std::string&) {
  std::vector<std::string> modes;
  for (const json& mode : ValueAt(driver, "/spec/volumeLifecycleModes")) modes.push_back(mode);
  return OrDefault(Join(modes), "<none>");
}

}  // namespace

CellsByKind StorageCells() {
  return {
      {"StorageClass",
       {StorageClassName, Text("/provisioner"), Text("/reclaimPolicy"), Text("/volumeBindingMode"),
        Boolean("/allowVolumeExpansion"), Age()}},
      {"CSIDriver",
       {Name(), Boolean("/spec/attachRequired"), Boolean("/spec/podInfoOnMount"),
        Boolean("/spec/storageCapacity"), TokenAudiences, Boolean("/spec/requiresRepublish"),
        LifecycleModes, Age()}},
      {"CSINode", {Name(), ItemCount({"/spec/drivers"}), Age()}},
      {"CSIStorageCapacity", {Name(), Text("/metadata/creationTimestamp")}},
      {"VolumeAttachment",
       {Name(), Text("/spec/attacher"), Text("/spec/source/persistentVolumeName"),
        Text("/spec/nodeName"), Boolean("/status/attached"), Age()}},
      {"VolumeAttributesClass", {Name(), Text("/driverName"), Age()}},
      {"PriorityClass",
       {Name(), Number("/value"), Boolean("/globalDefault"), Age(), Text("/preemptionPolicy")}},
      {"RuntimeClass", {Name(), Text("/handler"), Age()}},
  };
}

}  // namespace kopp::apiserver
