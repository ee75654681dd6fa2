#pragma once

#include <kopp/k8s/apps/v1/deployment.hpp>
#include <kopp/k8s/core/v1/config_map.hpp>
#include <kopp/k8s/core/v1/namespace.hpp>
#include <kopp/k8s/core/v1/pod.hpp>
#include <kopp/k8s/core/v1/secret.hpp>
#include <kopp/k8s/core/v1/service.hpp>

namespace kopp {

// Short names for the kinds that most operators use. kopp::k8s has the types of further kinds. To
// cache only the fields that a program reads, define a view of the kind; see the concept ApiObject.

using ConfigMap = k8s::core::v1::ConfigMap;
using Deployment = k8s::apps::v1::Deployment;
using Namespace = k8s::core::v1::Namespace;
using Pod = k8s::core::v1::Pod;
using Secret = k8s::core::v1::Secret;
using Service = k8s::core::v1::Service;

}  // namespace kopp
