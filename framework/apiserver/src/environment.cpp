#include "changes.hpp"
#include "journal.hpp"
#include "log_tail.hpp"
#include "manifests.hpp"
#include "telling_transport.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <thread>

#include <nlohmann/json.hpp>

#include <kopp/testing/environment.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::testing {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr Duration kNowAndThen = 20ms;

std::string NameOf(const Kind& kind, const ObjectKey& key) {
  return std::string(kind.kind) + ' ' + key.ToString();
}

std::string Paragraph(const std::string& title, const std::vector<std::string>& lines) {
  std::string text = '\n' + title + (lines.empty() ? " none" : "");
  for (const std::string& line : lines) text += "\n  " + line;
  return text;
}

std::vector<std::string> Lines(const std::vector<apiserver::Journal::Write>& writes) {
  std::vector<std::string> lines;
  lines.reserve(writes.size());
  for (const auto& write : writes) lines.push_back(write.what + write.refusal);
  return lines;
}

}  // namespace

class Environment::Impl {
 public:
  explicit Impl(EnvironmentOptions given)
      : options(std::move(given)),
        server(
            {.clock = options.clock, .on_request = [this](std::string_view) { changes.Tell(); }}),
        past_faults(server.TransportPastFaults(), [this] { changes.Tell(); }),
        client(past_faults, "test"),
        to_server(server.TransportAs(options.name)),
        log({.verbosity = options.verbosity,
             .write = [this](std::string_view line) { log_tail.Write(line); },
             .clock = options.clock}),
        manager({.name = options.name,
                 .watch_namespace = options.watch_namespace,
                 .log = log,
                 .transport = to_server,
                 .clock = options.clock}) {}

  [[nodiscard]] apiserver::Journal journal() const { return {server.Requests(), options.name}; }

  /// What became of the operator, for who does not see what they wait for.
  [[nodiscard]] std::string Account();
  /// The object that is waited for, for the same.
  [[nodiscard]] std::string Look(const Kind& kind, const ObjectKey& key) const;
  /// Blocks until `holds`, or until there is no more hope. Returns which.
  bool Await(const std::function<bool()>& holds, Duration between);
  /// Until the manager has run. Returns its exit code.
  int Run(const std::stop_token& stop);
  /// Fails the calls that the server holds back: by a clock that stands still they have no end, and
  /// neither has an operator that is to stop.
  void BreakOff();

  const EnvironmentOptions options;
  apiserver::Changes changes;
  apiserver::LogTail log_tail;
  ApiServer server;
  apiserver::TellingTransport past_faults;
  Client client;
  std::shared_ptr<Transport> to_server;  // the operator's way
  Logger log;
  Manager manager;
  Guarded<std::optional<int>> exit_code;  // once the manager has run
  std::jthread thread;                    // last: it uses everything above
};

std::string Environment::Impl::Account() {
  const std::optional<int> ended = *exit_code.Lock();
  const std::string state = ended               ? "has ended with code " + std::to_string(*ended)
                            : thread.joinable() ? "is at work"
                                                : "was not started";
  const apiserver::Journal seen = journal();
  return "\nthe operator " + state + Paragraph("its writes:", Lines(seen.writes())) +
         Paragraph("its Events:", seen.events()) + "\nits log ends with:\n" + log_tail.Text();
}

std::string Environment::Impl::Look(const Kind& kind, const ObjectKey& key) const {
  try {
    if (auto object = client.Get(kind, key)) {
      (*object)["metadata"].erase("managedFields");
      return NameOf(kind, key) + " is\n" + object->dump(2);
    }
    std::string others;
    for (const json& other : client.List(kind)) {
      const json& metadata = other.at("metadata");
      const ObjectKey found{metadata.value("namespace", ""), metadata.value("name", "")};
      others += (others.empty() ? " " : ", ") + found.ToString();
    }
    return "there is no " + NameOf(kind, key) +
           "; of its kind there are:" + (others.empty() ? " none" : others);
  } catch (const ApiError& error) {  // the server has no such kind
    return error.what();
  }
}

bool Environment::Impl::Await(const std::function<bool()>& holds, Duration between) {
  const Clock& clock = Clock::Real();
  const TimePoint deadline = After(clock.Now(), options.patience);
  for (;;) {
    const auto seen = changes.count();
    const bool ended = exit_code.Lock()->has_value();
    if (holds()) return true;
    if (ended || clock.Now() >= deadline) return false;
    changes.Await(seen, std::min(deadline, After(clock.Now(), between)));
  }
}

int Environment::Impl::Run(const std::stop_token& stop) {
  try {
    return manager.Run(stop);
  } catch (const std::exception& error) {  // the test has put it together wrongly
    log_tail.Write(std::string("the manager cannot run: ") + error.what() + '\n');
    return 1;
  }
}

void Environment::Impl::BreakOff() {
  server.ClearFaults();  // first: what comes after the restart is not held back
  server.Restart();
}

Environment::Environment(EnvironmentOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

Environment::~Environment() {
  impl_->thread.request_stop();
  impl_->BreakOff();
}

ApiServer& Environment::server() { return impl_->server; }
const Client& Environment::client() { return impl_->client; }
Manager& Environment::manager() { return impl_->manager; }

void Environment::Install(const std::filesystem::path& path) {
  const apiserver::Manifests manifests = apiserver::ReadManifestFiles({path});
  apiserver::Load(impl_->past_faults, manifests.first);
  apiserver::Load(impl_->past_faults, manifests.custom);
}

void Environment::InstallObject(const json& object) {
  apiserver::Load(impl_->past_faults, {{.object = object, .origin = "the test's object"}});
}

void Environment::Start() {
  if (impl_->thread.joinable() || *impl_->exit_code.Lock()) {
    throw std::logic_error("the operator was started already");
  }
  impl_->thread = std::jthread([impl = impl_.get()](const std::stop_token& stop) {
    const int code = impl->Run(stop);
    *impl->exit_code.Lock() = code;
    impl->changes.Tell();
  });
}

int Environment::Stop() {
  if (impl_->thread.joinable()) {
    impl_->thread.request_stop();
    const auto has_ended = [&] { return impl_->exit_code.Lock()->has_value(); };
    if (!impl_->Await(has_ended, Duration::max())) impl_->BreakOff();
    impl_->thread.join();
  }
  return impl_->exit_code.Lock()->value_or(0);
}

std::unique_ptr<Cache> Environment::NewCache() {
  return std::make_unique<Cache>(impl_->past_faults, impl_->options.watch_namespace, impl_->log,
                                 impl_->options.clock);
}

Result Environment::ReconcileOnce(Cache& cache, const ObjectKey& key, const Reconciler& reconcile) {
  for (const Kind& kind : cache.Kinds()) {  // an informer would wait for one that is not there
    static_cast<void>(impl_->client.List(kind));
  }
  cache.Start();
  cache.WaitForSync({});
  cache.Stop();  // from here on nothing changes under the reconcile
  const Client client(*impl_->to_server, impl_->options.name);
  const Logger log = impl_->log.With({{"object", key}});
  EventRecorder events(client, impl_->options.name, log, impl_->options.clock);
  Context context{key, client, cache, events, log, {}};
  return reconcile(key, context);
}

Verdict Environment::AwaitObject(const Kind& kind, const ObjectKey& key,
                                 const std::function<bool(const std::string*)>& holds) {
  const auto look = [&] {
    const auto object = impl_->client.Get(kind, key);
    const std::string text = object ? object->dump() : "";
    return holds(object ? &text : nullptr);
  };
  if (impl_->Await(look, Duration::max())) return {};
  return Verdict(impl_->Look(kind, key) + impl_->Account());
}

Verdict Environment::Eventually(const std::function<bool()>& holds) {
  if (impl_->Await(holds, kNowAndThen)) return {};
  return Verdict("it did not come to be" + impl_->Account());
}

std::vector<std::string> Environment::Writes() const { return Lines(impl_->journal().writes()); }

json Environment::Sent(std::string_view write) const {
  const apiserver::Journal journal = impl_->journal();
  const auto& writes = journal.writes();
  const auto found = std::find_if(writes.rbegin(), writes.rend(),
                                  [&](const auto& each) { return each.what == write; });
  if (found != writes.rend()) return found->sent;
  throw std::out_of_range("no write \"" + std::string(write) + '"' +
                          Paragraph("the operator's writes:", Lines(writes)));
}

std::vector<std::string> Environment::Events() const { return impl_->journal().events(); }

std::string Environment::Log() const { return impl_->log_tail.Text(); }

}  // namespace kopp::testing
