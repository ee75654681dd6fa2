#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <kopp/informer/source.hpp>
#include <kopp/transport.hpp>

namespace kopp {

/// The objects of a kind as an API server has them, of one namespace or of all, each decoded as it
/// arrives. Those that do not fit their view, and events that are about something else, are skipped
/// and told of.
class AnyHttpSource final : public informer::AnySource {
 public:
  /// `decode` makes an object from JSON text; throws DecodeError. `transport` outlives the source.
  using Decoder = informer::AnyObject (*)(std::string_view text);
  AnyHttpSource(Transport& transport, const Kind& kind, Decoder decode, std::string ns = {})
      : transport_(transport), kind_(kind), decode_(decode), ns_(std::move(ns)) {}

  informer::ListResult List(const informer::ListOptions& options,
                            const std::function<void(informer::AnyObject)>& each,
                            std::stop_token stop) override;
  std::unique_ptr<informer::WatchStream> Watch(const informer::WatchOptions& options,
                                               std::stop_token stop) override;

 private:
  class Events;
  informer::AnyObject DecodeFitting(std::string_view text, std::string& problem) const;

  Transport& transport_;
  Kind kind_;
  Decoder decode_;
  std::string ns_;
};

/// What an AnyHttpSource of the view `T` decodes with.
template <Object T>
informer::AnyObject DecodeAny(std::string_view text) {
  return std::make_shared<const T>(Decode<T>(text));
}

}  // namespace kopp
