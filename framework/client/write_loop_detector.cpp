#include "client/write_loop_detector.hpp"

#include "net/url_query.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/informer/detail/resource_path.hpp>

namespace kopp::detail {
namespace {

using nlohmann::json;
using Hashes = std::map<std::string, std::size_t>;

constexpr std::size_t kMaxListed = 5;  // fields in a list for people

/// Metadata that no client sets, or that changes with each write.
constexpr std::array kServerMetadata{"resourceVersion", "generation", "managedFields"};

/// Returns the member that identifies each object of a list, or null.
const char* MergeKeyOf(const json& list) {
  for (const char* const key : {"type", "name", "uid", "key"}) {
    const auto has_key = [&](const json& item) {
      return item.is_object() && item.contains(key) && item.at(key).is_string();
    };
    if (!list.empty() && std::ranges::all_of(list, has_key)) return key;
  }
  return nullptr;
}

/// Adds each field below `value`, with the hash of its value. An object and a list element have an
/// entry, too: they may be added and removed.
void AddFields(const json& value, const std::string& path, Hashes& fields) {
  const char* const merge_key = value.is_array() ? MergeKeyOf(value) : nullptr;
  if (value.is_object()) {
    fields.emplace(path, 0);
    for (const auto& [name, member] : value.items()) {
      AddFields(member, path.empty() ? name : path + '.' + name, fields);
    }
  } else if (merge_key != nullptr) {
    for (const json& item : value) {
      const auto& id = item.at(merge_key).get_ref<const std::string&>();
      AddFields(item, path + '[' + merge_key + '=' + id + ']', fields);
    }
  } else {
    fields.emplace(path, std::hash<json>{}(value));
  }
}

std::size_t HashAt(const Hashes& fields, const std::string& path) {
  const auto found = fields.find(path);
  constexpr std::size_t kMissing = 1;
  return found == fields.end() ? kMissing : found->second;
}

/// Returns the fields that have the same value in `next` as in `before`, but another one in `last`.
std::vector<std::string> Returned(const Hashes& before, const Hashes& last, const Hashes& next) {
  std::vector<std::string> returned;
  const auto add = [&](const std::string& path) {
    const std::size_t hash = HashAt(next, path);
    if (hash == HashAt(before, path) && hash != HashAt(last, path)) returned.push_back(path);
  };
  for (const auto& [path, hash] : last) add(path);
  for (const auto& [path, hash] : next) {
    if (!last.contains(path)) add(path);
  }
  return returned;
}

/// Removes the fields of an object or list element that is added and removed as a whole.
void KeepOutermost(std::vector<std::string>& fields) {
  std::ranges::sort(fields);
  const std::set<std::string, std::less<>> all(fields.begin(), fields.end());
  std::erase_if(fields, [&](std::string_view field) {
    for (auto end = field.find_first_of(".["); end != std::string_view::npos;
         end = field.find_first_of(".[", end + 1)) {
      if (end > 0 && all.contains(field.substr(0, end))) return true;
    }
    return false;
  });
}

std::string TextAt(const json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

class WriteLoopDetectingTransport final : public Transport {
 public:
  WriteLoopDetectingTransport(std::shared_ptr<Transport> next, Clock& clock,
                              std::function<void(const WriteLoop&)> on_loop)
      : next_(std::move(next)), on_loop_(std::move(on_loop)), detector_(clock) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    ApiResponse response = next_->Call(request, std::move(stop));
    const bool changes = request.method == "PUT" || request.method == "PATCH";
    if (!changes || response.status < 200 || response.status > 299) return response;
    if (const auto loop = detector_.OnWrite(request.target, response.body)) on_loop_(*loop);
    return response;
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    return next_->Open(request, std::move(stop));
  }

 private:
  const std::shared_ptr<Transport> next_;
  const std::function<void(const WriteLoop&)> on_loop_;
  WriteLoopDetector detector_;
};

}  // namespace

std::string WriteLoop::FieldList() const {
  std::string list;
  for (std::size_t i = 0; i < std::min(fields.size(), kMaxListed); ++i) {
    list += (list.empty() ? "" : ", ") + fields[i];
  }
  if (fields.size() > kMaxListed) {
    list += " and " + std::to_string(fields.size() - kMaxListed) + " more";
  }
  return list;
}

std::string WriteLoop::WriterList() const {
  return writers[0] == writers[1] ? writers[0] : writers[0] + ", " + writers[1];
}

std::optional<WriteLoop> WriteLoopDetector::OnWrite(std::string_view target,
                                                    std::string_view response) {
  const auto path = ParseResourcePath(target);
  if (!path || path->name.empty()) return std::nullopt;
  if (!path->subresource.empty() && path->subresource != "status") return std::nullopt;
  const auto name_end = static_cast<std::size_t>(path->name.data() - target.data());
  const auto object = std::hash<std::string_view>()(target.substr(0, name_end + path->name.size()));
  if (!Count(object)) return std::nullopt;

  const QueryParameters query =
      ParseQuery(target.substr(std::min(target.find('?'), target.size() - 1) + 1));
  if (query.contains("dryRun")) return std::nullopt;
  json written = json::parse(response, nullptr, /*allow_exceptions=*/false);
  if (!written.is_object() || !written.contains("metadata")) return std::nullopt;
  json& metadata = written.at("metadata");
  for (const char* const field : kServerMetadata) metadata.erase(field);
  const auto manager = query.find("fieldManager");
  State state{.writer = manager == query.end() ? "" : manager->second, .fields = {}};
  AddFields(written, "", state.fields);

  WriteLoop loop{.kind = {},
                 .key = {TextAt(metadata, "namespace"), TextAt(metadata, "name")},
                 .uid = TextAt(metadata, "uid"),
                 .fields = {},
                 .writers = {}};
  loop.kind.api_version = TextAt(written, "apiVersion");
  loop.kind.kind = TextAt(written, "kind");
  if (!Add(object, std::move(state), loop)) return std::nullopt;
  return loop;
}

/// Counts a write. Returns whether its response has to be checked.
bool WriteLoopDetector::Count(std::size_t object) {
  const TimePoint now = clock_.Now();
  auto objects = objects_.Lock();
  Writes& writes = objects->writes.GetOr(object, [&] { return Writes{.since = now}; });
  if (now - writes.since > kWindow) writes = {.since = now, .not_before = writes.not_before};
  ++writes.count;
  return writes.count > kUnsuspicious && writes.count <= kUnsuspicious + kMaxChecked &&
         now >= writes.not_before;
}

/// Adds a state of an object. Returns whether it completes a loop, and then sets its fields and
/// writers.
bool WriteLoopDetector::Add(std::size_t object, State state, WriteLoop& loop) {
  const TimePoint now = clock_.Now();
  auto objects = objects_.Lock();
  Writes& writes = objects->writes.GetOr(object, [&] { return Writes{.since = now}; });
  History& history =
      objects->histories.GetOr(object, [&] { return History{.since = writes.since}; });
  if (history.since != writes.since) history = {.since = writes.since};
  auto& states = history.states;
  if (!states.empty() && states.back().fields == state.fields) return false;  // nothing changed
  if (states.size() == 2) {
    std::map<std::string, int> returns;
    for (std::string& path : Returned(states[0].fields, states[1].fields, state.fields)) {
      const auto before = history.returns.find(path);
      const int count = before == history.returns.end() ? 1 : before->second + 1;
      if (count >= kMinReturns) loop.fields.push_back(path);
      returns.emplace(std::move(path), count);
    }
    history.returns = std::move(returns);
    loop.writers = {states[1].writer, state.writer};
    states.erase(states.begin());
  }
  states.push_back(std::move(state));
  if (loop.fields.empty()) return false;
  KeepOutermost(loop.fields);
  std::ranges::sort(loop.writers);
  writes = {.since = now, .not_before = SaturatingAdd(now, kReportInterval)};
  history = {.since = now};
  return true;
}

std::shared_ptr<Transport> WithWriteLoopDetection(std::shared_ptr<Transport> transport,
                                                  Clock& clock,
                                                  std::function<void(const WriteLoop&)> on_loop) {
  return std::make_shared<WriteLoopDetectingTransport>(std::move(transport), clock,
                                                       std::move(on_loop));
}

}  // namespace kopp::detail
