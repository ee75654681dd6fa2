#include "controller/owner_check.hpp"
#include "environment/audit_reader.hpp"
#include "environment/change_signal.hpp"
#include "environment/manifests.hpp"
#include "environment/operator_webhooks.hpp"
#include "manager/manager_access.hpp"
#include "schema/yaml.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <thread>

#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>
#include <kopp/testing/environment.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::testing {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr Duration kPollInterval = 20ms;

std::string NameOf(const Kind& kind, const ObjectKey& key) {
  return std::string(kind.kind) + ' ' + key.ToString();
}

std::string Paragraph(const std::string& title, const std::vector<std::string>& lines) {
  std::string text = '\n' + title + (lines.empty() ? " none" : "");
  for (const std::string& line : lines) text += "\n  " + line;
  return text;
}

std::vector<std::string> Lines(const std::vector<apiserver::AuditReader::Write>& writes) {
  std::vector<std::string> lines;
  lines.reserve(writes.size());
  for (const auto& write : writes) lines.push_back(write.operation + write.error);
  return lines;
}

/// Returns the binding of a Role or ClusterRole to a user.
json BindingOf(const json& role, const std::string& user) {
  constexpr const char* kGroup = "rbac.authorization.k8s.io";
  const std::string kind = role.at("kind");
  const json& metadata = role.at("metadata");
  return {{"apiVersion", role.at("apiVersion")},
          {"kind", kind + "Binding"},
          {"metadata", metadata},
          {"roleRef", {{"apiGroup", kGroup}, {"kind", kind}, {"name", metadata.at("name")}}},
          {"subjects", {{{"apiGroup", kGroup}, {"kind", "User"}, {"name", user}}}}};
}

}  // namespace

class Environment::Impl {
 public:
  explicit Impl(EnvironmentOptions given)
      : options(std::move(given)),
        server({.clock = options.clock,
                .authorization = options.enforce_permissions ? AuthorizationMode::kRbac
                                                             : AuthorizationMode::kAlwaysAllow,
                .checks_owner_references = options.enforce_permissions,
                .on_request = [this](std::string_view) { changes.Notify(); },
                .call_webhook = [this](const WebhookCall& call) { return webhooks.Call(call); }}),
        fault_free_transport(server.FaultFreeTransport(), [this] { changes.Notify(); }),
        client(Client(fault_free_transport, "test").WithFieldValidation(options.field_validation)),
        operator_transport(server.TransportAs(options.name)),
        log({.verbosity = options.verbosity,
             .write = [this](std::string_view line) { log_tail.Write(line); },
             .clock = options.clock}),
        manager({.name = options.name,
                 .watch_namespace = options.watch_namespace,
                 .cache = options.cache,
                 .field_validation = options.field_validation,
                 .retry = {.max_tries = 1},  // each fault reaches the reconciler
                 .webhook = {.port = -1},    // the server calls them in this process
                 .log = log,
                 .transport = operator_transport,
                 .clock = options.clock}),
        webhooks(options.clock) {}

  /// Returns the options of the cache with the namespaces that the operator watches.
  [[nodiscard]] CacheOptions cache_options() const {
    CacheOptions cache = options.cache;
    RestrictNamespaces(cache, options.watch_namespace);
    return cache;
  }
  /// See EnvironmentOptions::enforce_permissions.
  void GrantPermissions();
  /// See Environment::ServeWebhooks.
  void ServeWebhooks() {
    apiserver::ApplyManifests(fault_free_transport, webhooks.Serve(WebhooksOf(manager)));
  }

  [[nodiscard]] apiserver::AuditReader audit() const { return {server.Requests(), options.name}; }

  /// Returns the operator's state, writes, Events and log, for failure messages.
  [[nodiscard]] std::string DescribeOperator();
  /// Returns the object on the server, or the existing objects of its kind, for failure messages.
  [[nodiscard]] std::string DescribeObject(const Kind& kind, const ObjectKey& key) const;
  /// Blocks until `condition` returns true, and returns true then. Checks it after each write and
  /// every `poll_interval`. Returns false on timeout, or when the operator has ended.
  bool WaitFor(const std::function<bool()>& condition, Duration poll_interval);
  /// Runs the manager until `stop`. Returns its exit code.
  int Run(const std::stop_token& stop);
  /// Stops the manager and aborts its pending calls. Blocks until it has stopped.
  void StopNow();
  /// Makes the operator's pending calls fail, and stops the functions of its webhooks. Calls that
  /// the server delays never end if the clock does not advance, and the operator could not stop.
  void AbortPendingCalls();

  const EnvironmentOptions options;
  apiserver::ChangeSignal changes;
  apiserver::LogTail log_tail;
  ApiServer server;
  apiserver::NotifyingTransport fault_free_transport;
  Client client;
  std::shared_ptr<Transport> operator_transport;
  Logger log;
  Manager manager;
  apiserver::OperatorWebhooks webhooks;
  kopp::detail::Guarded<std::optional<int>> exit_code;  // set when the manager has stopped
  std::jthread thread;                                  // last, because it uses all members above
};

void Environment::Impl::GrantPermissions() {
  if (!options.enforce_permissions) return;
  RbacOptions rbac{.name = options.name};
  for (const auto& [ns, selector] : cache_options().namespaces) rbac.namespaces.push_back(ns);
  std::vector<apiserver::Manifest> manifests;
  for (const json& role : schema::ParseManifests(PrintRbac(manager.Permissions(), rbac))) {
    manifests.push_back({.object = role, .origin = "the Roles of the operator"});
    manifests.push_back({.object = BindingOf(role, options.name), .origin = "their bindings"});
  }
  apiserver::ApplyManifests(fault_free_transport, manifests);
}

std::string Environment::Impl::DescribeOperator() {
  const std::optional<int> code = *exit_code.Lock();
  const std::string state = code ? "has stopped with exit code " + std::to_string(*code)
                            : thread.joinable() ? "is running"
                                                : "was not started";
  const apiserver::AuditReader actions = audit();
  return "\nthe operator " + state + Paragraph("its writes:", Lines(actions.writes())) +
         Paragraph("its last requests:", actions.last_requests()) +
         Paragraph("its Events:", actions.events()) + "\nend of its log:\n" + log_tail.Text();
}

std::string Environment::Impl::DescribeObject(const Kind& kind, const ObjectKey& key) const {
  try {
    const DynamicClient objects = client.Dynamic(kind);
    if (const auto object = objects.Get(key)) {
      json shown = object->Json();
      shown["metadata"].erase("managedFields");
      return NameOf(kind, key) + " is\n" + shown.dump(2);
    }
    std::string others;
    for (const Unstructured& other : objects.List()) {
      others += (others.empty() ? " " : ", ") +
                ObjectKey{other.metadata.ns, other.metadata.name}.ToString();
    }
    return NameOf(kind, key) +
           " does not exist; objects of this kind:" + (others.empty() ? " none" : others);
  } catch (const ApiError& error) {  // the server has no such kind
    return error.what();
  }
}

bool Environment::Impl::WaitFor(const std::function<bool()>& condition, Duration poll_interval) {
  const Clock& clock = Clock::Real();
  const TimePoint deadline = SaturatingAdd(clock.Now(), options.timeout);
  for (;;) {
    const auto last_count = changes.count();
    const bool is_stopped = exit_code.Lock()->has_value();
    if (condition()) return true;
    if (is_stopped || clock.Now() >= deadline) return false;
    changes.Wait(last_count, std::min(deadline, SaturatingAdd(clock.Now(), poll_interval)));
  }
}

int Environment::Impl::Run(const std::stop_token& stop) {
  try {
    return manager.Run(stop);
  } catch (const std::exception& error) {  // the test has configured the manager wrongly
    log_tail.Write(std::string("the manager cannot run: ") + error.what() + '\n');
    return 1;
  }
}

void Environment::Impl::StopNow() {
  if (!thread.joinable()) return;
  thread.request_stop();
  AbortPendingCalls();
  thread.join();
}

void Environment::Impl::AbortPendingCalls() {
  WebhooksOf(manager).RequestStop();
  server.ClearFaults();  // before the restart: requests after it must not be delayed
  server.Restart();
}

Environment::Environment(EnvironmentOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

Environment::~Environment() { impl_->StopNow(); }

ApiServer& Environment::server() { return impl_->server; }
const Client& Environment::client() { return impl_->client; }
Manager& Environment::manager() { return impl_->manager; }

void Environment::Install(const std::filesystem::path& path) {
  const apiserver::Manifests manifests = apiserver::ReadManifests({path});
  apiserver::ApplyManifests(impl_->fault_free_transport, manifests.base);
  apiserver::ApplyManifests(impl_->fault_free_transport, manifests.custom_resources);
}

void Environment::InstallObject(const json& object) {
  apiserver::ApplyManifests(impl_->fault_free_transport,
                            {{.object = object, .origin = "the object passed to InstallObject"}});
}

void Environment::ServeWebhooks() { impl_->ServeWebhooks(); }

void Environment::Start() {
  if (impl_->thread.joinable() || *impl_->exit_code.Lock()) {
    throw std::logic_error("the operator was started already: call Start() only once");
  }
  impl_->GrantPermissions();
  impl_->ServeWebhooks();
  impl_->thread = std::jthread([impl = impl_.get()](const std::stop_token& stop) {
    const int code = impl->Run(stop);
    *impl->exit_code.Lock() = code;
    impl->changes.Notify();
  });
}

ScopedOperator Environment::StartScoped() {
  Start();
  return ScopedOperator(*this);
}

ScopedOperator::~ScopedOperator() { environment_.impl_->StopNow(); }

int Environment::Stop() {
  if (impl_->thread.joinable()) {
    impl_->thread.request_stop();
    const auto is_stopped = [&] { return impl_->exit_code.Lock()->has_value(); };
    if (!impl_->WaitFor(is_stopped, Duration::max())) impl_->AbortPendingCalls();
    impl_->thread.join();
  }
  return impl_->exit_code.Lock()->value_or(0);
}

std::unique_ptr<StandaloneCache> Environment::NewCache() {
  return std::make_unique<StandaloneCache>(impl_->fault_free_transport, impl_->cache_options(),
                                           impl_->log, impl_->options.clock);
}

Result Environment::ReconcileOnce(StandaloneCache& cache, const Target& target,
                                  const Reconciler& reconcile) {
  const ObjectKey& key = target.key;
  // Throws for a kind that the server does not have. An informer would wait for it forever.
  for (const OwningKind& kind : cache.Kinds()) {
    static_cast<void>(impl_->client.Dynamic(kind).List());
  }
  cache.Start();
  cache.WaitForSync({});
  cache.Stop();  // the cache does not change during the reconcile
  const informer::AnyObject object = target.find();
  if (static_cast<bool>(object) != target.must_exist) {
    throw std::invalid_argument(
        target.must_exist
            ? "Environment::Reconcile: the operator's cache does not contain the object; on the "
              "server, " +
                  impl_->DescribeObject(target.kind, key) +
                  "\nCreate the object first; to test the reconcile of a deleted object, call "
                  "ReconcileDeleted"
            : "Environment::ReconcileDeleted: " + NameOf(target.kind, key) +
                  " exists: delete it first, or call Reconcile");
  }
  impl_->GrantPermissions();
  const Client client = Client(*impl_->operator_transport, impl_->options.name)
                            .WithFieldValidation(impl_->options.field_validation);
  const Logger log = impl_->log.With({{"namespace", key.ns}, {"name", key.name}});
  EventRecorder events(client, impl_->options.name, log, impl_->options.clock);
  Context context{key, client, cache, events, log, {}, impl_->options.clock};
  OwnerCheck check({.owner = target.kind,
                    .find = [&](const ObjectKey&) { return informer::AnyObject(object); },
                    .watches = [](const Kind&) { return true; },  // only a controller watches
                    .log = log});
  const OwnerCheckScope writes(check, key);
  return reconcile(key, context);
}

WaitResult Environment::AwaitObject(const Kind& kind, const ObjectKey& key,
                                    const std::function<bool(const std::string*)>& condition) {
  const auto check = [&] {
    const auto object = impl_->client.Dynamic(kind).Get(key);
    const std::string text(object ? object->text() : "");
    return condition(object ? &text : nullptr);
  };
  if (impl_->WaitFor(check, Duration::max())) return {};
  return WaitResult(impl_->DescribeObject(kind, key) + impl_->DescribeOperator());
}

WaitResult Environment::Eventually(const std::function<bool()>& condition) {
  if (impl_->WaitFor(condition, kPollInterval)) return {};
  return WaitResult("the condition did not become true" + impl_->DescribeOperator());
}

std::vector<std::string> Environment::Writes() const { return Lines(impl_->audit().writes()); }

json Environment::Sent(std::string_view write) const {
  const apiserver::AuditReader audit = impl_->audit();
  const auto& writes = audit.writes();
  const auto found = std::find_if(writes.rbegin(), writes.rend(),
                                  [&](const auto& each) { return each.operation == write; });
  if (found != writes.rend()) return found->request_object;
  throw std::out_of_range("the operator made no write \"" + std::string(write) + '"' +
                          Paragraph("the operator's writes:", Lines(writes)));
}

std::vector<std::string> Environment::Events() const { return impl_->audit().events(); }

std::string Environment::Log() const { return impl_->log_tail.Text(); }

}  // namespace kopp::testing
