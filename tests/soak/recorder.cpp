#include "recorder.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <vector>

namespace kopp::soak {
namespace {

using namespace std::chrono_literals;
using informer::AnyObject;
using informer::EventType;
using informer::WatchItem;
using nlohmann::json;

constexpr Duration kPollInterval = 50ms;
constexpr Duration kRecorderTimeout = 1min;

const char* TypeName(EventType type) {
  switch (type) {
    case EventType::kAdded:
      return "ADDED";
    case EventType::kModified:
      return "MODIFIED";
    case EventType::kDeleted:
      break;
  }
  return "DELETED";
}

const char* TypeName(WatchEventType type) {
  if (type == WatchEventType::kAdded) return "ADDED";
  return type == WatchEventType::kModified ? "MODIFIED" : "DELETED";
}

json ListToJson(const std::map<ObjectKey, AnyObject>& objects) {
  json list = json::array();
  for (const auto& [key, object] : objects) list.push_back(ToJson(object.metadata()));
  return list;
}

json ListToJson(const std::vector<ConfigMap>& maps) {
  json list = json::array();
  for (const ConfigMap& map : maps) list.push_back(ToJson(map.metadata));
  return list;
}

}  // namespace

TruthRecorder::TruthRecorder(Client client, LogFile& log) : client_(std::move(client)), log_(log) {
  const auto page = client_.ListPage<ConfigMap>({}, {.limit = 0});
  log_.Write({{"initial", ListToJson(page.objects)}, {"version", page.resource_version}});
  thread_ = std::jthread([this, from = page.resource_version](const std::stop_token& stop) {
    try {
      Watch(from, stop);
    } catch (...) {
      if (!stop.stop_requested()) progress_.Lock()->second = std::current_exception();
      progressed_.notify_all();
    }
  });
}

void TruthRecorder::Watch(const std::string& from, const std::stop_token& stop) {
  auto watcher = client_.With(stop).Watch<ConfigMap>({}, {.resource_version = from});
  while (const auto event = watcher.Next()) {
    if (event->type == WatchEventType::kError) {
      throw std::runtime_error("the watch of the recorder failed: " + event->problem);
    }
    if (event->type != WatchEventType::kBookmark) {
      log_.Write({{"type", TypeName(event->type)}, {"object", ToJson(event->object.metadata)}});
    }
    progress_.Lock()->first = event->resource_version;
    progressed_.notify_all();
  }
}

void TruthRecorder::AwaitVersion(const std::string& version) {
  Clock& clock = Clock::Real();
  const TimePoint deadline = SaturatingAdd(clock.Now(), kRecorderTimeout);
  {
    auto progress = progress_.Lock();
    const auto is_done = [&] {
      return progress->second != nullptr || progress->first == version ||
             IsOlderResourceVersion(version, progress->first);
    };
    while (!is_done()) {
      if (clock.Now() >= deadline) {
        throw std::runtime_error("the recorder's watch did not reach version " + version +
                                 " within 1 min");
      }
      clock.WaitUntil(progress.lock(), progressed_, deadline);
    }
  }
  ThrowFailure();
}

void TruthRecorder::Finish() {
  const auto page = client_.ListPage<ConfigMap>({}, {.limit = 0});
  thread_ = {};
  ThrowFailure();
  log_.Write({{"final", ListToJson(page.objects)}});
}

void TruthRecorder::ThrowFailure() {
  if (const std::exception_ptr failure = progress_.Lock()->second) std::rethrow_exception(failure);
}

/// Records the items of a watch. The initial events of a watch are recorded as a list.
class RecordingSource::Stream final : public informer::WatchStream {
 public:
  Stream(std::unique_ptr<informer::WatchStream> inner, RecordingSource& source, bool initial)
      : inner_(std::move(inner)), source_(source), initial_(initial) {}

  WatchItem Next(Duration timeout) override {
    // The transport measures real time; the informer has a faster clock.
    WatchItem item = inner_->Next(std::min<Duration>(timeout, kPollInterval));
    if (initial_) {
      RecordInitial(item);
    } else if (item.type == WatchItem::Type::kEvent) {
      Write({{"entry", "event"},
             {"type", TypeName(item.event_type)},
             {"object", ToJson(item.object.metadata())}});
    } else if (item.type == WatchItem::Type::kBookmark) {
      Write({{"entry", "bookmark"}, {"version", item.resource_version}});
    }
    return item;
  }

 private:
  void RecordInitial(const WatchItem& item) {
    if (item.type == WatchItem::Type::kEvent) {
      if (item.event_type == EventType::kDeleted) {
        objects_.erase(item.object.key());
      } else {
        objects_.insert_or_assign(item.object.key(), item.object);
      }
    }
    if (!item.initial_events_end) return;
    initial_ = false;
    Write(
        {{"entry", "list"}, {"version", item.resource_version}, {"objects", ListToJson(objects_)}});
    Write({{"entry", "watch"}, {"version", item.resource_version}});
  }
  void Write(json line) {
    line["informer"] = source_.informer_;
    source_.log_.Write(line);
  }

  std::unique_ptr<informer::WatchStream> inner_;
  RecordingSource& source_;
  bool initial_;
  std::map<ObjectKey, AnyObject> objects_;
};

informer::ListResult RecordingSource::List(const informer::ListRequest& options,
                                           const std::function<void(AnyObject)>& on_object,
                                           std::stop_token stop) {
  if (options.limit == 1) return source_.List(options, on_object, std::move(stop));
  if (options.continue_token.empty()) listed_.clear();
  informer::ListResult result = source_.List(
      options,
      [&](AnyObject object) {
        listed_.insert_or_assign(object.key(), object);
        on_object(std::move(object));
      },
      std::move(stop));
  if (result.continue_token.empty()) {
    log_.Write({{"informer", informer_},
                {"entry", "list"},
                {"version", result.resource_version},
                {"objects", ListToJson(listed_)}});
  }
  return result;
}

std::unique_ptr<informer::WatchStream> RecordingSource::Watch(const informer::WatchRequest& options,
                                                              std::stop_token stop) {
  auto stream = source_.Watch(options, std::move(stop));
  if (!options.send_initial_events) {
    log_.Write(
        {{"informer", informer_}, {"entry", "watch"}, {"version", options.resource_version}});
  }
  return std::make_unique<Stream>(std::move(stream), *this, options.send_initial_events);
}

void RecordedHandler::AddTo(informer::Informer<ConfigMap>& informer, informer::Delivery delivery) {
  using Ptr = std::shared_ptr<const ConfigMap>;
  registration_ = informer.AddHandler(
      informer::EventHandler<ConfigMap>{
          .on_add = [this](const Ptr& map, bool) { RecordCall("add", *map); },
          .on_update = [this](const Ptr&, const Ptr& map) { RecordCall("update", *map); },
          .on_delete = [this](const Ptr& map, bool) { RecordCall("delete", *map); }},
      {.name = name_, .delivery = delivery});
  log_.Write({{"informer", informer_}, {"entry", "added"}, {"handler", name_}});
}

void RecordedHandler::RecordSync(const std::stop_token& stop) {
  if (!registration_.WaitForSync(stop)) return;
  log_.Write({{"informer", informer_}, {"entry", "synced"}, {"handler", name_}});
}

void RecordedHandler::RecordCall(const std::string& type, const ConfigMap& map) {
  log_.Write({{"informer", informer_},
              {"entry", "handler"},
              {"handler", name_},
              {"type", type},
              {"object", ToJson(map.metadata)}});
  auto versions = versions_.Lock();
  if (type == "delete") {
    versions->erase(KeyOf(map));
  } else {
    versions->insert_or_assign(KeyOf(map), map.metadata.resourceVersion);
  }
}

RecordedInformer::RecordedInformer(const std::string& name, Transport& transport, Clock& clock,
                                   bool use_watch_list, LogFile& log)
    : name_(name),
      log_(log),
      http_source_(transport, ConfigMap::kKind, DecodeAny<ConfigMap>),
      source_(http_source_, log, name),
      direct_handler_(name, "direct", log),
      queued_handler_(name, "queued", log),
      informer_(source_, {.clock = clock, .use_watch_list = use_watch_list}) {
  direct_handler_.AddTo(informer_, informer::Delivery::kInformerThread);
  queued_handler_.AddTo(informer_, informer::Delivery::kOwnThread);
  thread_ = std::jthread([this](const std::stop_token& stop) { informer_.Run(stop); });
  sync_thread_ = std::jthread([this](const std::stop_token& stop) {
    direct_handler_.RecordSync(stop);
    queued_handler_.RecordSync(stop);
  });
}

void RecordedInformer::RecordStore(const std::string& entry) {
  json objects = json::array();
  for (const auto& map : informer_.store().List()) objects.push_back(ToJson(map->metadata));
  log_.Write({{"informer", name_}, {"entry", entry}, {"objects", objects}});
}

bool RecordedInformer::HandlersAreUpToDate() {
  std::map<ObjectKey, std::string> stored;
  for (const auto& map : informer_.store().List()) {
    stored.emplace(KeyOf(*map), map->metadata.resourceVersion);
  }
  return direct_handler_.Versions() == stored && queued_handler_.Versions() == stored;
}

void RecordedInformer::Finish(const std::string& version, TimePoint deadline) {
  Clock& clock = Clock::Real();
  const auto is_done = [&] {
    return informer_.version().HasReached(version) && HandlersAreUpToDate();
  };
  while (!is_done() && clock.Now() < deadline)
    SleepUntil(clock, SaturatingAdd(clock.Now(), 20ms), {});
  RecordStore("final");
}

}  // namespace kopp::soak
