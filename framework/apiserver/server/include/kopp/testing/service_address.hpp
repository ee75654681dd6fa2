#pragma once

#include <string>

#include <kopp/informer/object_key.hpp>

namespace kopp::testing {

/// Where an API server finds a port of a Service, like curl's --resolve.
struct ServiceAddress {
  ObjectKey service{};
  int port = 443;         ///< of the Service
  std::string address{};  ///< "127.0.0.1:9443"
};

}  // namespace kopp::testing
