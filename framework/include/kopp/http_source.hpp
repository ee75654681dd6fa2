#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/informer/source.hpp>
#include <kopp/transport.hpp>

namespace kopp {

namespace detail {

/// A LIST, cut into its items as it arrives.
informer::ListResult ListItems(Transport& transport, const Kind& kind, std::string_view ns,
                               const informer::ListOptions& options,
                               const std::function<void(std::string_view item)>& each,
                               const std::stop_token& stop);

/// A WATCH, cut into its events; those that are no event of `kind` are told as skipped.
class EventReader {
 public:
  enum class What { kAdded, kModified, kDeleted, kBookmark, kSkipped, kSilent, kEnd };
  struct Event {
    What what = What::kEnd;
    std::string object = {};  ///< JSON text
    std::string resource_version = {};
    std::string problem = {};
  };

  EventReader(Transport& transport, const Kind& kind, std::string_view ns,
              const informer::WatchOptions& options, const std::stop_token& stop);
  ~EventReader();
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  /// As WatchStream::Next.
  Event Next(Duration limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Names an object that does not fit its view.
std::string DescribeMisfit(const Kind& kind, std::string_view object, const char* problem);

}  // namespace detail

/// The objects of a kind as an API server has them, of one namespace or of all.
template <Object T>
class HttpSource final : public informer::Source<T> {
 public:
  /// `transport` outlives the source.
  explicit HttpSource(Transport& transport, std::string ns = {})
      : transport_(transport), ns_(std::move(ns)) {}

  informer::ListResult List(const informer::ListOptions& options,
                            const std::function<void(std::shared_ptr<const T>)>& each,
                            std::stop_token stop) override {
    std::vector<std::string> skipped;
    const auto take = [&](std::string_view item) {
      std::string problem;
      if (auto object = DecodeFitting(item, problem)) {
        each(std::move(object));
      } else {
        skipped.push_back(std::move(problem));
      }
    };
    auto result = detail::ListItems(transport_, T::kKind, ns_, options, take, stop);
    result.skipped = std::move(skipped);
    return result;
  }

  std::unique_ptr<informer::WatchStream<T>> Watch(const informer::WatchOptions& options,
                                                  std::stop_token stop) override {
    return std::make_unique<Stream>(transport_, ns_, options, stop);
  }

 private:
  /// Null, and the problem, for an object that does not fit the view.
  static std::shared_ptr<const T> DecodeFitting(std::string_view text, std::string& problem) {
    try {
      return std::make_shared<const T>(Decode<T>(text));
    } catch (const DecodeError& error) {
      if (error.kind() == DecodeError::Kind::kMalformed) throw;
      problem = detail::DescribeMisfit(T::kKind, text, error.what());
      return nullptr;
    }
  }

  class Stream final : public informer::WatchStream<T> {
   public:
    Stream(Transport& transport, std::string_view ns, const informer::WatchOptions& options,
           const std::stop_token& stop)
        : reader_(transport, T::kKind, ns, options, stop) {}

    informer::WatchItem<T> Next(Duration limit) override {
      using What = detail::EventReader::What;
      using Item = informer::WatchItem<T>;
      using informer::EventType;
      detail::EventReader::Event event = reader_.Next(limit);
      Item item{.resource_version = std::move(event.resource_version),
                .problem = std::move(event.problem)};
      switch (event.what) {
        case What::kAdded:
          item.type = EventType::kAdded;
          break;
        case What::kModified:
          item.type = EventType::kModified;
          break;
        case What::kDeleted:
          item.type = EventType::kDeleted;
          break;
        case What::kBookmark:
          item.what = Item::What::kBookmark;
          return item;
        case What::kSkipped:
          item.what = Item::What::kSkipped;
          return item;
        case What::kSilent:
          item.what = Item::What::kSilent;
          return item;
        case What::kEnd:
          item.what = Item::What::kEnd;
          return item;
      }
      item.object = DecodeFitting(event.object, item.problem);
      item.what = item.object ? Item::What::kEvent : Item::What::kSkipped;
      return item;
    }

   private:
    detail::EventReader reader_;
  };

  Transport& transport_;
  std::string ns_;
};

}  // namespace kopp
