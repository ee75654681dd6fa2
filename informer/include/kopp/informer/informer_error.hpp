#pragma once

#include <exception>
#include <string>

#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::informer {

/// An exception in an informer: a list or watch failed, or a handler threw.
struct InformerError {
  std::exception_ptr error;   ///< for example ApiError, DecodeError or TransportError
  std::string informer = {};  ///< InformerOptions::name
  /// HandlerOptions::name of the handler that threw; empty if a list or watch failed.
  std::string handler = {};
  ObjectKey key = {};  ///< the object for which the handler was called; empty for a list or watch
  /// The number of failures since the last success, including this one: of lists and watches, or of
  /// calls of this handler.
  int consecutive_failures = 0;
  /// The time until the list or watch is repeated. Calls of a handler are not repeated.
  Duration retry_in{};
};

}  // namespace kopp::informer
