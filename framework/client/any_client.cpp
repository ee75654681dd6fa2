#include "client/resource_path.hpp"
#include "client/response_check.hpp"
#include "open_stream.hpp"
#include "owned_uids.hpp"
#include "tracing/call_tracing.hpp"
#include "written_object.hpp"

#include <chrono>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

#include <kopp/detail/any_client.hpp>
#include <kopp/informer/detail/json_splitter.hpp>

// Reads, and the parts that all calls share.

namespace kopp {
namespace {

using detail::CollectionPath;
using detail::ObjectPath;
using detail::WithQuery;

constexpr int kDefaultPageSize = 500;
constexpr int kMaxListRestarts = 3;  // a list expires 5 to 10 minutes after its first page
constexpr Duration kLogIdleTimeout = std::chrono::seconds(30);
constexpr Kind kPodKind{"v1", "Pod", "pods"};

/// Returns the value of the query parameter resourceVersionMatch.
const char* QueryValue(ResourceVersionMatch match) {
  if (match == ResourceVersionMatch::kDefault) return "";
  return match == ResourceVersionMatch::kExact ? "Exact" : "NotOlderThan";
}

std::string PositiveOrEmpty(int number) { return number > 0 ? std::to_string(number) : ""; }

/// Returns the target of a request for the first or the next page.
std::string ListTarget(const std::string& path, const Selector& selector,
                       const ListOptions& options) {
  const bool is_first = options.continue_token.empty();
  return WithQuery(
      path, {{"labelSelector", selector.labels.ToString()},
             {"fieldSelector", selector.fields.ToString()},
             {"limit", PositiveOrEmpty(options.limit)},
             {"continue", options.continue_token},
             {"resourceVersion", is_first ? options.resource_version : ""},
             {"resourceVersionMatch", is_first ? QueryValue(options.resource_version_match) : ""}});
}

/// Parses a list response.
ListPage<std::string> SplitList(std::string_view body) {
  ListPage<std::string> page;
  JsonSplitter splitter(JsonSplitter::Mode::kListItems);
  splitter.Feed(body);
  while (const auto object = splitter.Next()) page.objects.emplace_back(object->text);
  auto metadata = DecodeListResponse(splitter).metadata;
  page.continue_token = std::move(metadata.continue_token);
  page.remaining = metadata.remainingItemCount;
  page.resource_version = std::move(metadata.resourceVersion);
  return page;
}

}  // namespace

AnyClient::AnyClient(Transport& transport, std::string field_manager, std::stop_token stop)
    : transport_(&transport),
      field_manager_(std::move(field_manager)),
      stop_(std::move(stop)),
      owned_uids_(std::make_shared<detail::OwnedUids>()) {}

/// Returns the namespace of a request for `ns`, which may be empty.
std::string AnyClient::NamespaceFor(const Kind& kind, const std::string& ns) const {
  if (namespace_.empty() || kind.scope == Scope::kCluster) return ns;
  if (ns.empty() || ns == namespace_) return namespace_;
  throw std::invalid_argument("this client is for the namespace \"" + namespace_ +
                              "\" only, but a request is for the namespace \"" + ns + "\"");
}

ApiResponse AnyClient::Send(const ApiRequest& request) const {
  ApiResponse response =
      tracing_ ? tracing_->Call(*transport_, request, stop_) : transport_->Call(request, stop_);
  if (response.status < 200 || response.status >= 300) {
    throw ApiError::FromBody(request.method + " " + request.target, response.status, response.body,
                             response.retry_after);
  }
  // The response to a deletion is not always decoded.
  const bool may_be_empty = request.method == "DELETE" && response.body.empty();
  if (!may_be_empty) detail::RequireJsonObject(request.method, request.target, response.body);
  return response;
}

std::string AnyClient::Call(const ApiRequest& request) const { return Send(request).body; }

std::optional<std::string> AnyClient::Get(const Kind& kind, const ObjectKey& key,
                                          const GetOptions& options) const {
  try {
    return Call({.target = WithQuery(ObjectPath(kind, KeyFor(kind, key), options.subresource),
                                     {{"resourceVersion", options.resource_version}})});
  } catch (const ApiError& error) {
    if (detail::IsNotFoundByServer(error)) return std::nullopt;
    throw;
  }
}

std::vector<std::string> AnyClient::List(const Kind& kind, const Selector& selector,
                                         const ListOptions& options) const {
  ListOptions next = options;
  for (int restarts = 0;; ++restarts) {
    std::vector<std::string> objects;
    next.continue_token = options.continue_token;
    try {
      do {
        auto page = ReadPage(kind, selector, next);
        std::move(page.objects.begin(), page.objects.end(), std::back_inserter(objects));
      } while (!next.continue_token.empty());
      return objects;
    } catch (const ApiError& error) {
      // The API server has compacted the version of the first page. The next try reads newer pages.
      const bool can_restart = !next.continue_token.empty() && options.continue_token.empty();
      if (!error.IsGone() || !can_restart || restarts == kMaxListRestarts) throw;
    }
  }
}

/// Halves options.limit until the page is not larger than TransportOptions::max_body.
ListPage<std::string> AnyClient::ReadPage(const Kind& kind, const Selector& selector,
                                          ListOptions& options) const {
  const std::string path = CollectionPath(kind, NamespaceFor(kind, selector.ns));
  for (;; options.limit = options.limit > 0 ? options.limit / 2 : kDefaultPageSize) {
    try {
      auto page = SplitList(Call({.target = ListTarget(path, selector, options)}));
      options.continue_token = page.continue_token;
      return page;
    } catch (const TransportError& error) {
      if (error.kind() != TransportError::Kind::kTooLarge || options.limit == 1) throw;
      if (options.resource_version == "0") {  // for this version the API server ignores the limit
        options.resource_version.clear();
        options.resource_version_match = ResourceVersionMatch::kDefault;
      }
    }
  }
}

AnyWatcher AnyClient::Watch(const Kind& kind, AnyHttpSource::Decoder decode, Selector selector,
                            const WatchOptions& options) const {
  selector.ns = NamespaceFor(kind, selector.ns);
  (void)CollectionPath(kind, selector.ns);  // throws for an invalid namespace
  return {*transport_, kind, std::move(decode), std::move(selector), options, stop_};
}

std::optional<Scale> AnyClient::GetScale(const Kind& kind, const ObjectKey& key) const {
  const auto text = Get(kind, key, {.subresource = "scale"});
  return text ? std::optional(Decode<Scale>(*text)) : std::nullopt;
}

PodLogStream AnyClient::PodLogs(const ObjectKey& key, const PodLogOptions& options) const {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const std::string tail_lines = options.tail_lines ? number(*options.tail_lines) : "";
  const std::string since = options.since ? number(options.since->count()) : "";
  // The log is plain text, an error is JSON.
  const ApiRequest request{.target = WithQuery(ObjectPath(kPodKind, KeyFor(kPodKind, key), "log"),
                                               {{"container", options.container},
                                                {"follow", options.follow ? "true" : ""},
                                                {"previous", options.previous ? "true" : ""},
                                                {"timestamps", options.timestamps ? "true" : ""},
                                                {"tailLines", tail_lines},
                                                {"sinceSeconds", since}}),
                           .accept = "application/json, */*",
                           .traceparent = tracing_ ? tracing_->parent.Traceparent() : ""};
  return {OpenStream(*transport_, request, "GET", stop_),
          options.follow ? Duration::max() : kLogIdleTimeout};
}

}  // namespace kopp
