#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <kopp/cache_options.hpp>
#include <kopp/client.hpp>
#include <kopp/client_options.hpp>
#include <kopp/events.hpp>
#include <kopp/flags.hpp>
#include <kopp/leader_election.hpp>
#include <kopp/log.hpp>
#include <kopp/serving/metrics_server_options.hpp>
#include <kopp/tracing.hpp>
#include <kopp/transport.hpp>
#include <kopp/transport/observing_transport.hpp>
#include <kopp/transport/retrying_transport.hpp>
#include <kopp/webhook/webhook_server_options.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// How a Manager serves and computes health checks.
struct HealthOptions {
  /// --health-probe-bind-address: the address that serves /healthz, /readyz and /livez over plain
  /// HTTP; "0": they are not served.
  std::string bind_address = "0";

  /// The time without progress after which /healthz and /livez fail, so that the kubelet restarts
  /// the container: a reconcile that does not return, a queue with work from which none is done, an
  /// informer without a response of the API server, log lines that are not written. 0: never. At
  /// least 10 minutes are advisable; longer than your longest reconcile.
  Duration liveness_limit = std::chrono::minutes(30);
};

/// How a Manager serves debug pages.
struct DebugOptions {
  /// --debug-bind-address: the address that serves the debug pages at /debug/ over plain HTTP; "0":
  /// none. They show flags and the metadata of objects to all who can connect: use loopback.
  /// While they are served, all controllers keep reasons (see ControllerOptions::reasons).
  std::string bind_address = "0";
  /// The flags and their values, for the debug pages; Options::FromCommandLine sets it.
  std::vector<std::pair<std::string, std::string>> flag_values{};
};

/// The options of a Manager. Every field has a default.
///
///     Options{.name = "web-operator", .watch_namespace = "web"}
struct Options {
  /// What Manager::Run does.
  enum class Action {
    kRun,            ///< runs the controllers
    kCheck,          ///< --check: prints whether the program could run, without changing anything
    kPrintRbac,      ///< --print-rbac: prints the Roles that the program needs
    kPrintCrd,       ///< --print-crd: prints the CustomResourceDefinitions of the program
    kPrintWebhooks,  ///< --print-webhooks: prints the webhook configurations of the program
    kUninstallWebhooks,  ///< --uninstall-webhooks: deletes the webhook configurations
  };
  Action action = Action::kRun;

  /// --install-crds: call Manager::InstallCrds at the start, before the caches.
  bool install_crds = false;

  /// The name of the program: its user agent, the source of its Events, and the field manager of
  /// Manager::client(). That of a controller is `name`, a slash and the name of the controller.
  std::string name = "kopp";
  std::string version{};  ///< of the program, for the user agent

  std::string kubeconfig{};  ///< --kubeconfig: a file; empty: LoadConfig searches
  std::string context{};     ///< --context: a context of the kubeconfig; empty: current-context
  std::string master{};      ///< --master: address of the API server; empty: from the kubeconfig

  /// --namespace: the only namespaces to watch, separated by commas; empty:
  /// CacheOptions::namespaces, which also gives their selectors. A kind with namespaces of its own
  /// in CacheOptions::ByObject keeps them.
  std::string watch_namespace{};
  CacheOptions cache{};  ///< which objects the manager's cache watches

  /// --http-transport: the HTTP library for calls; watches always use Boost.Beast.
  TransportOptions::Calls http_transport = TransportOptions::Calls::kBeast;

  /// Field validation of the writes of the manager's client.
  FieldValidation field_validation = FieldValidation::kWarn;

  double kube_api_qps = 0;  ///< --kube-api-qps: see RateLimit::qps
  int kube_api_burst = 0;   ///< --kube-api-burst: see RateLimit::burst
  RetryPolicy retry{};      ///< retry policy of API calls; `{.max_tries = 1}` disables retries

  MetricsServerOptions metrics{};  ///< --metrics-bind-address and further flags
  HealthOptions health{};          ///< --health-probe-bind-address
  DebugOptions debug{};            ///< --debug-bind-address
  WebhookServerOptions webhook{};  ///< --webhook-port and further flags

  EventRecorderOptions events{};  ///< of the Events of controllers and of leader election

  LeaderElectionOptions leader_election{};  ///< --leader-elect and further flags

  /// --max-concurrent-reconciles: the workers of each controller that does not set
  /// ControllerOptions::workers.
  int max_concurrent_reconciles = 1;
  /// --kind-concurrency: the same for the controllers of one kind: "Foo.samplecontroller.k8s.io" →
  /// 4.
  std::map<std::string, int> kind_concurrency{};
  /// --sync-period: ControllerOptions::sync_period of each controller that does not set it, 10 %
  /// shorter or longer at random.
  Duration sync_period = std::chrono::hours(10);

  /// --graceful-shutdown-timeout: the time that running reconciles and webhooks have to finish
  /// after a stop; a negative time is no limit. Keep it below terminationGracePeriodSeconds of the
  /// Pod.
  Duration graceful_shutdown_timeout = std::chrono::seconds(30);

  /// --record: writes what the operator reads from its API server, and its reconciles, to this new
  /// file, for kopp::testing::Recording. The file contains whole objects, except the data of
  /// Secrets; only the user of the process can read it. It grows without limit. Empty: nothing is
  /// recorded. Further clusters are not recorded.
  std::string record{};

  /// Whether Manager::Run and --check fail if the program contains, anywhere, a read of a view that
  /// no cache of the manager watches: the read would throw. Not with `transport`, because a program
  /// of tests may contain several operators. Set it to false if the program also reads another
  /// cache, such as a StandaloneCache or that of a second manager, or if it watches the view later:
  /// by a controller that is added while the manager runs, Controller::Watch, Cache::Acquire, or
  /// Cache::InformerFor in a runnable.
  bool reject_unwatched_reads = true;

  Logger log{};  ///< -v, --vmodule, --logging-format, --log-sampling and the flags --zap-…

  /// Creates a span for each reconcile and each of its API calls. Null: none. See Tracer.
  std::shared_ptr<Tracer> tracer{};

  /// Called for each request to the API server, also for each retry. Empty: not called.
  RequestObserver on_request{};

  /// Returns the transport to use, for example a decorator of `transport`, which sends a request
  /// once. The policies for retries, rate and observers are applied to the result. Empty:
  /// unchanged. client-go: rest.Config.WrapTransport.
  std::function<std::shared_ptr<Transport>(std::shared_ptr<Transport> transport)> wrap_transport{};
  /// Returns the client to use, for example a copy in one namespace. Empty: unchanged.
  /// controller-runtime: NewClient.
  std::function<Client(Client client)> configure_client{};

  /// For tests: used instead of a connection to an API server; no configuration is loaded.
  std::shared_ptr<Transport> transport{};
  Clock& clock = Clock::Real();  ///< must outlive the Manager

  /// Parses the command line, the environment and the file of --config. The flags are named as in
  /// operators written in Go; `--help` lists them. Accepts one or two dashes, and `--flag value` or
  /// `--flag=value`. The value of a flag is taken from the command line, else from the environment
  /// ($KOPP_KUBE_API_QPS for --kube-api-qps; $WATCH_NAMESPACE, too, for --namespace), else from the
  /// file, else it is the default. `about` is the first paragraph of the help. `flags` are those of
  /// the program itself; their variables are set. `name` is set to the base name of argv[0].
  ///
  /// Exits the process with code 0 after --help and --version, and with code 2, after one line on
  /// standard error, for an unknown flag or an invalid value. Call it at the start of main. Throws
  /// std::logic_error if one of `flags` has the name of a flag of kopp.
  static Options FromCommandLine(int argc, const char* const* argv, std::string_view about = {},
                                 const Flags& flags = {});
};

/// Parses the command line as Options::FromCommandLine does, but neither prints nor exits. `getenv`
/// returns an environment variable, or nullopt if it is not set; empty: std::getenv is used. An
/// invalid command line is returned as EarlyExit, not thrown.
[[nodiscard]] std::variant<Options, EarlyExit> ParseCommandLine(
    int argc, const char* const* argv, std::string_view about = {},
    const std::function<std::optional<std::string>(const std::string&)>& getenv = {},
    const Flags& flags = {});

}  // namespace kopp
