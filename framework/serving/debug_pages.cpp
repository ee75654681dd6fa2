#include "debug_page.hpp"
#include "debug_tables.hpp"
#include "net/url_query.hpp"

#include <charconv>
#include <string_view>

#include <kopp/serving/debug.hpp>

namespace kopp {
namespace {

using debug::Page;

constexpr std::size_t kMaxErrorBytes = 1024;
constexpr std::size_t kMaxObjects = 100;
constexpr const char* kRoot = "/debug/";
constexpr const char* kObjects = "/debug/caches/";

/// The debug pages of one program. Thread-safe.
class DebugSite {
 public:
  DebugSite(DebugSource source, Clock& clock) : source_(std::move(source)), clock_(clock) {}

  [[nodiscard]] HttpResponse Serve(const HttpRequest& request) const {
    std::string_view path = request.path;
    bool as_json = path.ends_with(".json");
    if (as_json) path.remove_suffix(std::string_view(".json").size());
    const auto parameters = detail::ParseQuery(request.query);
    const auto format = parameters.find("format");
    as_json = as_json || (format != parameters.end() && format->second == "json");

    const auto page = PageAt(path == "/debug" ? kRoot : path);
    if (!page) return {.status = 404, .body = "there is no such debug page; see /debug/\n"};
    HttpResponse response{.headers = {{"Cache-Control", "no-store"}}};
    if (as_json) {
      response.body = ToJson(*page);
      response.content_type = "application/json";
    } else {
      response.body = ToHtml(*page, Links());
      response.content_type = "text/html; charset=utf-8";
      response.headers.emplace_back("Content-Security-Policy",
                                    "default-src 'none'; style-src 'unsafe-inline'; "
                                    "frame-ancestors 'none'; form-action 'none'");
    }
    return response;
  }

 private:
  [[nodiscard]] debug::Navigation Links() const {
    debug::Navigation links{{kRoot, "Overview"}};
    if (source_.queues) links.emplace_back("/debug/queues", "Queues");
    if (source_.caches) links.emplace_back("/debug/caches", "Caches");
    if (source_.caches) links.emplace_back("/debug/watches", "Watches");
    if (source_.reconciles) links.emplace_back("/debug/reconciles", "Reconciles");
    if (source_.webhooks) links.emplace_back("/debug/webhooks", "Webhooks");
    if (source_.leadership) links.emplace_back("/debug/leadership", "Leadership");
    if (source_.flags) links.emplace_back("/debug/flags", "Flags");
    return links;
  }

  [[nodiscard]] std::optional<Page> PageAt(std::string_view path) const {
    if (path == kRoot) return Overview();
    if (path == "/debug/queues" && source_.queues) return Queues();
    if (path == "/debug/caches" && source_.caches) {
      return Page{"Caches", "/debug/caches", {Caches()}};
    }
    if (path == "/debug/watches" && source_.caches) return Watches();
    if (path.starts_with(kObjects)) return Objects(path);
    if (path == "/debug/reconciles" && source_.reconciles) {
      return Page{
          "Last reconciles", "/debug/reconciles", {debug::ReconcilesTable(source_.reconciles())}};
    }
    if (path == "/debug/webhooks" && source_.webhooks) {
      return Page{"Webhooks", "/debug/webhooks", {debug::WebhooksTable(source_.webhooks())}};
    }
    if (path == "/debug/leadership" && source_.leadership) {
      return Page{
          "Leader election", "/debug/leadership", {debug::LeadershipTable(source_.leadership())}};
    }
    if (path == "/debug/flags" && source_.flags) {
      return Page{"Flags", "/debug/flags", {debug::ValuesTable("flags", "", source_.flags())}};
    }
    return std::nullopt;
  }

  [[nodiscard]] Page Overview() const {
    Page page{.title = "Overview", .path = kRoot};
    const auto add = [&page](debug::Table table, const char* title) {
      table.title = title;
      page.tables.push_back(std::move(table));
    };
    if (source_.program) add(debug::ValuesTable("program", "", source_.program()), "Program");
    if (source_.leadership) add(debug::LeadershipTable(source_.leadership()), "Leader election");
    if (source_.queues) add(debug::QueuesTable(source_.queues(), clock_.Now()), "Queues");
    if (source_.caches) add(Caches(), "Caches");
    return page;
  }

  [[nodiscard]] Page Queues() const {
    const auto queues = source_.queues();
    const TimePoint now = clock_.Now();
    return {"Queues",
            "/debug/queues",
            {debug::QueuesTable(queues, now), debug::ItemsTable(queues, now)}};
  }

  [[nodiscard]] Page Watches() const {
    const auto caches = source_.caches();
    return {
        "Watches", "/debug/watches", {debug::WatchesTable(caches), debug::HandlersTable(caches)}};
  }

  [[nodiscard]] debug::Table Caches() const {
    return debug::CachesTable(source_.caches(), source_.objects ? kObjects : "");
  }

  /// Returns the page of the objects of the cache whose index is at the end of `path`.
  [[nodiscard]] std::optional<Page> Objects(std::string_view path) const {
    if (!source_.objects || !source_.caches) return std::nullopt;
    const std::string_view digits = path.substr(std::string_view(kObjects).size());
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    const auto caches = source_.caches();
    const bool is_index = error == std::errc() && end == digits.data() + digits.size();
    if (!is_index || index >= caches.size()) return std::nullopt;
    const informer::InformerStatus& cache = caches[index];
    return Page{"Objects of " + cache.kind,
                std::string(path),
                {debug::ObjectsTable(cache, source_.objects(cache, kMaxObjects))}};
  }

  const DebugSource source_;
  Clock& clock_;
};

}  // namespace

void ReconcileHistory::Add(ReconcileRecord record) {
  if (capacity_ == 0) return;
  if (record.error.size() > kMaxErrorBytes) record.error.resize(kMaxErrorBytes);
  ReconcileRecord removed;  // destroyed without the lock
  auto records = records_.Lock();
  if (records->size() == capacity_) {
    removed = std::move(records->back());
    records->pop_back();
  }
  records->push_front(std::move(record));
}

std::vector<ReconcileRecord> ReconcileHistory::Records() const {
  auto records = records_.Lock();
  return {records->begin(), records->end()};
}

HttpServer::Handler DebugPages(DebugSource source, Clock& clock) {
  return [site = std::make_shared<const DebugSite>(std::move(source), clock)](
             const HttpRequest& request) { return site->Serve(request); };
}

}  // namespace kopp
