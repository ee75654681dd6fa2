#include "tracing/call_tracing.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>

namespace kopp {

Client Client::With(std::stop_token stop) const {
  Client copy = *this;
  copy.calls_.stop_ = std::move(stop);
  return copy;
}

PodLogStream Client::PodLogs(const ObjectKey& key, const PodLogOptions& options) const {
  return calls_.PodLogs(key, options);
}

Client Client::WithFieldValidation(FieldValidation validation) const {
  Client copy = *this;
  copy.calls_.field_validation_ = validation;
  return copy;
}

Client Client::WithDryRun() const {
  Client copy = *this;
  copy.calls_.dry_run_ = true;
  return copy;
}

Client Client::InNamespace(const std::string& ns) const {
  if (ns.empty()) throw std::invalid_argument("InNamespace needs the name of a namespace");
  Client copy = *this;
  copy.calls_.namespace_ = calls_.NamespaceFor({}, ns);
  return copy;
}

Client Client::WithWriteObserver(WriteObserver& observer) const {
  Client copy = *this;
  copy.calls_.observer_ = &observer;
  return copy;
}

Client Client::WithTracing(Tracer& tracer, const SpanContext& parent) const {
  Client copy = *this;
  copy.calls_.tracing_ = std::make_shared<const detail::CallTracing>(tracer, parent);
  return copy;
}

DynamicClient Client::Dynamic(OwningKind kind) const { return {calls_, std::move(kind)}; }

}  // namespace kopp
