#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <kopp/client_options.hpp>
#include <kopp/informer/json_object.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/informer/source.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The part of each object that the API server sends.
enum class ObjectForm {
  kComplete,      ///< the whole object
  kMetadataOnly,  ///< PartialObjectMetadata; an API server that does not support it sends kComplete
};

/// An object of a list or an event that was skipped because it does not fit its view.
struct SkippedObject {
  Kind kind = {};              ///< its strings are valid during the call
  const ObjectMeta& metadata;  ///< valid during the call
  const std::string& problem;  ///< a sentence that names the object; valid during the call
};

/// Lists and watches the objects of one kind at the API server: all of them, or those that a
/// Selector selects. Each object is decoded as soon as it has arrived. Objects that do not fit the
/// view, and watch events about another kind, are skipped and reported in ListResult::skipped and
/// WatchItem::problem.
///
/// Thread-safe, like the transport. List blocks until the list is complete; List and Watch throw
/// ApiError, TransportError and DecodeError. A list times out (TransportError::Kind::kTimeout) if
/// no byte arrives for 30 s, and if it takes longer than one minute plus one second for each 4 KiB.
class AnyHttpSource final : public informer::AnySource {
 public:
  /// Decodes an object: a view of it (see DecodeAny), its text, or both. Called by List and
  /// WatchStream::Next. Throws DecodeError; other exceptions are rethrown to their caller.
  using Decoder = std::function<informer::AnyObject(const JsonObject& object)>;
  /// Called for each skipped object whose metadata can be read, by the threads of List and
  /// WatchStream::Next.
  using SkipObserver = std::function<void(const SkippedObject& object)>;
  /// Reads the objects that `selector` selects. `transport` and `clock`, which measures the time of
  /// a list, must outlive the source, and the source its watches.
  AnyHttpSource(Transport& transport, const Kind& kind, Decoder decode, Selector selector,
                Clock& clock = Clock::Real(), ObjectForm form = ObjectForm::kComplete,
                SkipObserver on_skipped = {})
      : transport_(transport),
        clock_(clock),
        kind_(kind),
        decode_(std::move(decode)),
        selector_(std::move(selector)),
        form_(form),
        on_skipped_(std::move(on_skipped)) {}
  /// Reads the namespace `ns`, or all namespaces if it is empty.
  AnyHttpSource(Transport& transport, const Kind& kind, Decoder decode, std::string ns = {},
                Clock& clock = Clock::Real())
      : AnyHttpSource(transport, kind, std::move(decode), Selector{.ns = std::move(ns)}, clock) {}

  informer::ListResult List(const informer::ListRequest& options,
                            const std::function<void(informer::AnyObject)>& on_object,
                            std::stop_token stop) override;
  std::unique_ptr<informer::WatchStream> Watch(const informer::WatchRequest& options,
                                               std::stop_token stop) override;

 private:
  class HttpWatchStream;
  [[nodiscard]] ApiRequest ApiRequestFor(const informer::ListRequest& options,
                                         ObjectForm form) const;
  informer::AnyObject TryDecode(const JsonObject& object, const Decoder& decode,
                                std::string& problem) const;
  informer::AnyObject TryDecodeItem(PaddedText item, const Decoder& decode,
                                    std::string& problem) const;
  void ReportSkipped(const JsonObject& object, const std::string& problem) const;

  Transport& transport_;
  Clock& clock_;
  OwningKind kind_;
  Decoder decode_;
  Selector selector_;
  ObjectForm form_;
  SkipObserver on_skipped_;  // may be empty
};

/// The AnyHttpSource::Decoder of the view `T`.
template <ApiObject T>
informer::AnyObject DecodeAny(const JsonObject& object) {
  return std::make_shared<const T>(object.Decode<T>());
}

}  // namespace kopp
