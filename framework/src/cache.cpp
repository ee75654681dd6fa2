#include <kopp/cache.hpp>

namespace kopp {

std::vector<Kind> Cache::Kinds() const {
  std::vector<Kind> kinds;
  for (const auto& [type, entry] : entries_) kinds.push_back(entry->kind());
  return kinds;
}

void Cache::Start() {
  for (const auto& [type, entry] : entries_) {
    log_.Info("Starting EventSource", {{"kind", entry->kind().kind}});
    threads_.emplace_back([entry = entry.get()](const std::stop_token& stop) { entry->Run(stop); });
  }
}

bool Cache::WaitForSync(const std::stop_token& stop) const {
  return std::all_of(entries_.begin(), entries_.end(),
                     [&](const auto& entry) { return entry.second->WaitForSync(stop); });
}

void Cache::Stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

void Cache::ThrowNotWatched(const Kind& kind) {
  throw std::logic_error("the cache does not watch the view of " + std::string(kind.kind) +
                         ": add .Owns<…>() or .Watches<…>() to the controller, or ask the client");
}

informer::InformerOptions Cache::OptionsFor(const Kind& kind) const {
  const auto report = [log = log_.With({{"kind", kind.kind}})](const std::string& problem,
                                                               bool minor) {
    minor ? log.V(4).Info("Reflector goes on", {{"reason", problem}})
          : log.Error("Reflector error", {{"err", problem}});
  };
  return {.clock = clock_, .on_problem = report};
}

}  // namespace kopp
