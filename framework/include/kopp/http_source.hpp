#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <kopp/client_options.hpp>
#include <kopp/informer/source.hpp>
#include <kopp/transport.hpp>

namespace kopp {

/// Lists and watches the objects of one kind at the API server: all of them, or those that a filter
/// selects. Each object is decoded as soon as it has arrived. Objects that do not fit the view, and
/// watch events about another kind, are skipped and reported in ListResult::skipped and
/// WatchItem::problem.
///
/// Thread-safe, like the transport. List blocks until the list is complete; List and Watch throw
/// ApiError, TransportError and DecodeError.
class AnyHttpSource final : public informer::AnySource {
 public:
  /// Decodes one object from JSON. Throws DecodeError.
  using Decoder = informer::AnyObject (*)(std::string_view text);
  /// Reads the objects that `filter` selects. `transport` must outlive the source, and the source
  /// its watches.
  AnyHttpSource(Transport& transport, const Kind& kind, Decoder decode, ListFilter filter)
      : transport_(transport), kind_(kind), decode_(decode), filter_(std::move(filter)) {}
  /// Reads the namespace `ns`, or all namespaces if it is empty.
  AnyHttpSource(Transport& transport, const Kind& kind, Decoder decode, std::string ns = {})
      : AnyHttpSource(transport, kind, decode, ListFilter{.ns = std::move(ns)}) {}

  informer::ListResult List(const informer::ListOptions& options,
                            const std::function<void(informer::AnyObject)>& on_object,
                            std::stop_token stop) override;
  std::unique_ptr<informer::WatchStream> Watch(const informer::WatchOptions& options,
                                               std::stop_token stop) override;

 private:
  class HttpWatchStream;
  informer::AnyObject TryDecode(std::string_view text, std::string& problem) const;
  informer::AnyObject TryDecodeItem(std::string_view text, std::string& problem) const;

  Transport& transport_;
  Kind kind_;
  Decoder decode_;
  ListFilter filter_;
};

/// The AnyHttpSource::Decoder of the view `T`.
template <Object T>
informer::AnyObject DecodeAny(std::string_view text) {
  return std::make_shared<const T>(Decode<T>(text));
}

}  // namespace kopp
