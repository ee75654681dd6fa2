#include <algorithm>
#include <stdexcept>
#include <utility>

#include <kopp/cache.hpp>

namespace kopp {

/// The source and the informer of one view.
struct Cache::Entry {
  Entry(Transport& transport, const Kind& kind_of_view, AnyHttpSource::Decoder decode,
        std::string ns, informer::InformerOptions options)
      : kind(kind_of_view),
        source(transport, kind, std::move(decode), std::move(ns), options.clock),
        informer(source, std::move(options)) {}

  Kind kind;
  AnyHttpSource source;
  informer::AnyInformer informer;
};

Cache::Cache(Transport& transport, std::string ns, Logger log, Clock& clock)
    : transport_(transport), ns_(std::move(ns)), log_(std::move(log)), clock_(clock) {}

Cache::~Cache() = default;

informer::AnyInformer& Cache::InformerFor(std::type_index view, const Kind& kind,
                                          AnyHttpSource::Decoder decode) {
  auto& entry = entries_[view];
  if (!entry)
    entry = std::make_unique<Entry>(transport_, kind, std::move(decode), ns_, OptionsFor(kind));

  return entry->informer;
}

const informer::AnyInformer& Cache::ExistingInformer(std::type_index view, const Kind& kind) const {
  const auto found = entries_.find(view);
  if (found != entries_.end()) return found->second->informer;
  throw std::logic_error("the cache does not watch this view of " + std::string(kind.kind) +
                         ": add .Owns<…>() or .Watches<…>() to the controller, or use the client");
}

std::vector<Kind> Cache::Kinds() const {
  std::vector<Kind> kinds;
  kinds.reserve(entries_.size());
  for (const auto& [type, entry] : entries_) kinds.push_back(entry->kind);
  return kinds;
}

void Cache::Start() {
  for (const auto& [type, entry] : entries_) {
    log_.Info("Starting EventSource", {{"kind", entry->kind.kind}});
    threads_.emplace_back(
        [entry = entry.get()](const std::stop_token& stop) { entry->informer.Run(stop); });
  }
}

bool Cache::WaitForSync(const std::stop_token& stop) const {
  return std::all_of(entries_.begin(), entries_.end(),
                     [&](const auto& entry) { return entry.second->informer.WaitForSync(stop); });
}

void Cache::Stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

informer::InformerOptions Cache::OptionsFor(const Kind& kind) const {
  const auto report = [log = log_.With({{"kind", kind.kind}})](const std::string& problem,
                                                               bool minor) {
    minor ? log.V(4).Info("Reflector retries", {{"reason", problem}})
          : log.Error("Reflector error", {{"err", problem}});
  };
  return {.clock = clock_, .on_problem = report};
}

}  // namespace kopp
