#include "option_flags.hpp"

#include "base/flag_settings.hpp"
#include "base/quoted.hpp"
#include "flag_parsers.hpp"
#include "net/bind_address.hpp"
#include "webhook_flags.hpp"

#include <chrono>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include <kopp/cache_options.hpp>

namespace kopp::detail {
namespace {

constexpr const char* kServerGroup = "API server";
constexpr const char* kControllersGroup = "Controllers";
constexpr const char* kElectionGroup = "Leader election";
constexpr const char* kEndpointsGroup = "Endpoints";
constexpr const char* kActionsGroup = "Actions";
constexpr const char* kDurationAdvice =
    "write a duration with its unit, such as 500ms, 30s or 1m30s";

bool IsNotNegative(Duration duration) { return duration >= Duration::zero(); }
bool IsPositive(Duration duration) { return duration > Duration::zero(); }

// Text that is not a namespace must not get into request URLs.
bool AreNamespaces(const std::string& text) {
  try {
    static_cast<void>(ParseNamespaces(text));
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

bool IsNamespaceOrEmpty(const std::string& text) {
  return AreNamespaces(text) && text.find(',') == std::string::npos;
}

bool IsAddressOrZero(const std::string& text) { return text == "0" || ParseBindAddress(text); }

std::map<std::string, int> ParseKindConcurrency(const std::vector<std::string>& values) {
  const std::string advice = "write kinds and numbers, such as Foo.samplecontroller.k8s.io=4";
  std::map<std::string, int> concurrency;
  for (const std::string& element : SplitList(JoinList(values))) {
    const auto equals = element.find('=');
    if (equals == 0 || equals == std::string::npos) throw std::invalid_argument(advice);
    concurrency[element.substr(0, equals)] = ParseCount(element.substr(equals + 1), 1, advice);
  }
  return concurrency;
}

void AddServerFlags(Flags& flags, Options& options) {
  flags.Add({.name = "kubeconfig",
             .help = "The kubeconfig file. Without this flag: the files in $KUBECONFIG (separated "
                     "by ':'), else the service account of the Pod, else ~/.kube/config.",
             .type = "FILE",
             .group = kServerGroup},
            options.kubeconfig);
  flags.Add({.name = "context",
             .help = "The context of the kubeconfig to use, instead of its current-context.",
             .type = "NAME",
             .group = kServerGroup},
            options.context);
  flags.Add({.name = "master",
             .help = "The address of the API server, such as https://10.0.0.1:6443. Overrides the "
                     "kubeconfig.",
             .type = "URL",
             .group = kServerGroup},
            options.master);
}

void AddCallFlags(Flags& flags, Options& options) {
  using Calls = TransportOptions::Calls;
  flags.AddParsed({.name = "http-transport",
                   .help = "The HTTP library for requests other than watches: beast or cpprestsdk.",
                   .type = "NAME",
                   .group = kServerGroup},
                  "beast", [&](const std::string& text) {
                    options.http_transport = ParseChoice<Calls>(
                        text, {{"beast", Calls::kBeast}, {"cpprestsdk", Calls::kCppRest}});
                  });
  flags.Add({.name = "kube-api-qps",
             .help = "Maximum calls per second to the API server. Watches are exempt. 0 means no "
                     "limit.",
             .group = kServerGroup,
             .advice = "write a number of 0 or more, such as 20"},
            options.kube_api_qps, [](double qps) { return qps >= 0; });
  flags.Add({.name = "kube-api-burst",
             .help = "Maximum calls sent at once after a pause. 0 means twice --kube-api-qps.",
             .group = kServerGroup,
             .advice = "write a number of 0 or more, such as 40"},
            options.kube_api_burst, [](int burst) { return burst >= 0; });
}

void AddNamespaceFlag(Flags& flags, Options& options) {
  flags.AddParsedList(
      {.name = "namespace",
       .help = "The only namespaces to watch, such as web or web,shop; empty: all namespaces.",
       .type = "NAMES",
       .group = kControllersGroup,
       .aliases = {"namespaces", "watch-namespace"},
       .variables = {"WATCH_NAMESPACE"}},
      "", [&](const std::vector<std::string>& values) {
        const std::string list = JoinList(values);
        if (!AreNamespaces(list)) {
          throw std::invalid_argument(
              "write the names of namespaces, separated by commas, or nothing for all");
        }
        options.watch_namespace = list;
      });
}

void AddControllerFlags(Flags& flags, Options& options) {
  flags.Add({.name = "max-concurrent-reconciles",
             .help = "The number of objects that each controller reconciles at the same time, "
                     "unless the program sets it.",
             .group = kControllersGroup,
             .advice = "write a number of 1 or more, such as 4"},
            options.max_concurrent_reconciles, [](int workers) { return workers >= 1; });
  flags.AddParsedList({.name = "kind-concurrency",
                       .help = "The same for single kinds, such as Foo.samplecontroller.k8s.io=4.",
                       .type = "KIND=NUMBER",
                       .group = kControllersGroup},
                      "", [&](const std::vector<std::string>& values) {
                        options.kind_concurrency = ParseKindConcurrency(values);
                      });
  flags.Add({.name = "sync-period",
             .help = "The interval at which each object is reconciled even if nothing has changed, "
                     "unless the program sets it. 0 means never.",
             .group = kControllersGroup,
             .advice = kDurationAdvice},
            options.sync_period, IsNotNegative);
  flags.Add(
      {.name = "graceful-shutdown-timeout",
       .help = "The time that running reconciles have to finish after SIGTERM or SIGINT, such "
               "as 500ms or 1m30s; then their API calls are cancelled. 0 means at once, a negative "
               "time for ever.",
       .group = kControllersGroup,
       .advice = kDurationAdvice},
      options.graceful_shutdown_timeout);
}

void AddLeaderElectionFlags(Flags& flags, LeaderElectionOptions& options) {
  flags.Add({.name = "leader-elect",
             .help = "Only one of several replicas reconciles: the one that holds a Lease.",
             .group = kElectionGroup},
            options.enabled);
  flags.Add({.name = "leader-election-id",
             .help = "The name of the Lease; empty: the name of the program.",
             .type = "NAME",
             .group = kElectionGroup},
            options.id);
  flags.Add({.name = "leader-election-namespace",
             .help = "The namespace of the Lease; empty: that of the Pod.",
             .type = "NAME",
             .group = kElectionGroup,
             .advice = "write the name of a namespace",
             .variables = {"POD_NAMESPACE", "OPERATOR_NAMESPACE"}},
            options.ns, IsNamespaceOrEmpty);
}

void AddLeaseTimeFlags(Flags& flags, LeaderElectionOptions& options) {
  const auto add_duration = [&](const char* name, const char* help, Duration& value) {
    flags.Add({.name = name, .help = help, .group = kElectionGroup, .advice = kDurationAdvice},
              value, IsPositive);
  };
  add_duration("leader-election-lease-duration",
               "How long other replicas wait after the last renewal of the Lease.",
               options.lease_duration);
  add_duration("leader-election-renew-deadline",
               "How long the leader tries to renew the Lease before it gives up.",
               options.renew_deadline);
  add_duration("leader-election-retry-period",
               "The time between two tries to acquire or renew the Lease.", options.retry_period);
  flags.Add({.name = "leader-election-release-on-cancel",
             .help = "Release the Lease at the end, so that another replica need not wait until it "
                     "expires.",
             .group = kElectionGroup},
            options.release_on_cancel);
}

void AddAddress(Flags& flags, const char* name, const char* help, const char* nothing,
                std::string& value) {
  flags.Add({.name = name,
             .help = help,
             .type = "ADDRESS",
             .group = kEndpointsGroup,
             .advice = std::string(kBindAddressHelp) + ", or 0 for " + nothing},
            value, IsAddressOrZero);
}

void AddMetricsFlags(Flags& flags, Options& options) {
  AddAddress(flags, "metrics-bind-address",
             "Serve Prometheus metrics at /metrics: :8443 on all addresses, 127.0.0.1:8443 on one "
             "of them; 0: no metrics.",
             "no metrics", options.metrics.bind_address);
  flags.Add({.name = "metrics-secure",
             .help = "Serve metrics over HTTPS, to clients that may get the path /metrics.",
             .group = kEndpointsGroup},
            options.metrics.secure);
  const auto add_file = [&](const char* name, const char* help, const char* type,
                            std::string& value) {
    flags.Add({.name = name, .help = help, .type = type, .group = kEndpointsGroup}, value);
  };
  add_file("metrics-cert-path",
           "The folder of the certificate for metrics; empty: a self-signed certificate.", "FOLDER",
           options.metrics.cert_path);
  add_file("metrics-cert-name", "The file of the certificate in this folder.", "FILE",
           options.metrics.cert_name);
  add_file("metrics-cert-key", "The file of the key in this folder.", "FILE",
           options.metrics.cert_key);
}

void AddProbeFlags(Flags& flags, Options& options) {
  AddAddress(flags, "health-probe-bind-address",
             "Serve /healthz, /readyz and /livez over HTTP at this address, such as :8081; 0: no "
             "health checks.",
             "no health checks", options.health.bind_address);
  AddAddress(flags, "debug-bind-address",
             "Serve the debug pages over HTTP at this address, such as 127.0.0.1:8082; 0: none.",
             "no debug pages", options.debug.bind_address);
  flags.Add(
      {.name = "record",
       .help = "Write what the program reads from the API server, and its reconciles, to this "
               "new file, to replay it in a test. The file contains whole objects, except "
               "the data of Secrets.",
       .type = "FILE",
       .group = kServerGroup},
      options.record);
}

void AddActionFlags(Flags& flags, OptionValues& values) {
  flags.Add({.name = "check",
             .help = "Print whether the program could run: the configuration, the API server, its "
                     "kinds, each permission and the clock. Exit with 0, or 1 if there is a "
                     "problem.",
             .group = kActionsGroup},
            values.check);
  flags.Add({.name = "print-rbac",
             .help = "Print the Roles that the program needs with the other flags, and exit.",
             .group = kActionsGroup},
            values.print_rbac);
  flags.Add({.name = "print-crd",
             .help = "Print the CustomResourceDefinitions of the program, and exit.",
             .group = kActionsGroup},
            values.print_crd);
  flags.Add({.name = "print-webhooks",
             .help = "Print the webhook configurations of the program, and exit.",
             .group = kActionsGroup},
            values.print_webhooks);
  flags.Add({.name = "install-crds",
             .help = "Create or update the CustomResourceDefinitions of the program, then run.",
             .group = kActionsGroup},
            values.options.install_crds);
  flags.Add({.name = "install-webhooks",
             .help = "Create or update the webhook configurations of the program when it leads and "
                     "its Service has a ready endpoint.",
             .group = kActionsGroup},
            values.options.webhook.install);
  flags.Add({.name = "uninstall-webhooks",
             .help = "Delete the webhook configurations of the program, and exit.",
             .group = kActionsGroup},
            values.uninstall_webhooks);
}

void RequireOneAction(const OptionValues& values) {
  std::vector<std::string> actions;
  if (values.check) actions.emplace_back("--check");
  if (values.print_rbac) actions.emplace_back("--print-rbac");
  if (values.print_crd) actions.emplace_back("--print-crd");
  if (values.print_webhooks) actions.emplace_back("--print-webhooks");
  if (values.uninstall_webhooks) actions.emplace_back("--uninstall-webhooks");
  if (actions.size() > 1) {
    throw UsageError(actions[0] + " and " + actions[1] + " exclude each other: use one of them");
  }
}

// Flags of operators written in Go that are accepted only with the value that kopp has anyway.
void AddCompatibilityFlags(Flags& flags, OptionValues& values) {
  flags.Add({.name = "enable-http2", .group = ""}, values.enable_http2);
  flags.AddParsed({.name = "pprof-bind-address", .group = ""}, "", [](const std::string& value) {
    if (value.empty() || value == "0") return;
    throw std::invalid_argument("there is no pprof: use --debug-bind-address");
  });
}

}  // namespace

void AddOptionFlags(Flags& flags, OptionValues& values) {
  flags.Add({.name = "config",
             .help = "A YAML file with further flags.",
             .type = "FILE",
             .group = "Configuration"},
            values.config_file);
  AddServerFlags(flags, values.options);
  AddCallFlags(flags, values.options);
  AddNamespaceFlag(flags, values.options);
  AddControllerFlags(flags, values.options);
  AddLeaderElectionFlags(flags, values.options.leader_election);
  AddLeaseTimeFlags(flags, values.options.leader_election);
  AddMetricsFlags(flags, values.options);
  AddProbeFlags(flags, values.options);
  AddWebhookFlags(flags, values.options.webhook);
  AddLogFlags(flags, values.log);
  AddActionFlags(flags, values);
  AddCompatibilityFlags(flags, values);
}

Options ToOptions(OptionValues values, std::string name) {
  if (values.enable_http2) {
    throw UsageError("--enable-http2: the servers use HTTP/1.1 only: remove the flag");
  }
  RequireOneAction(values);
  if (values.check) values.options.action = Options::Action::kCheck;
  if (values.print_rbac) values.options.action = Options::Action::kPrintRbac;
  if (values.print_crd) values.options.action = Options::Action::kPrintCrd;
  if (values.print_webhooks) values.options.action = Options::Action::kPrintWebhooks;
  if (values.uninstall_webhooks) values.options.action = Options::Action::kUninstallWebhooks;
  values.options.name = std::move(name);
  values.options.log = Logger(ToLogOptions(values.log));
  return std::move(values.options);
}

}  // namespace kopp::detail
