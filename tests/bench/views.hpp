#pragma once

#include <map>
#include <string>

#include <kopp/informer/object.hpp>
#include <kopp/kinds.hpp>

// The views that the benchmarks of informers cache: the fields that an operator may read.

struct PodView {
  static constexpr kopp::Kind kKind = kopp::Pod::kKind;
  struct Spec {
    std::string nodeName;
    std::string serviceAccountName;
  };
  struct Status {
    std::string phase;
    std::string reason;
    std::string podIP;
    std::string hostIP;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
  Status status;
};
KOPP_FIELDS(PodView::Spec, nodeName, serviceAccountName)
KOPP_FIELDS(PodView::Status, phase, reason, podIP, hostIP)
KOPP_FIELDS(PodView, metadata, spec, status)

struct ConfigMapView {
  static constexpr kopp::Kind kKind = kopp::ConfigMap::kKind;
  kopp::ObjectMeta metadata;
  std::map<std::string, std::string> data;
};
KOPP_FIELDS(ConfigMapView, metadata, data)
