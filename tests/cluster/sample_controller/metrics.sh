# shellcheck shell=bash disable=SC2154 # shared with ../sample_controller_test.sh
# Checks the metrics that the controller serves at --metrics-bind-address: on a real API server over
# HTTPS to users who may get /metrics, else over plain HTTP.

# Those of controller-runtime, without those of webhooks. Two more exist after the first event:
# rest_client_request_retries_total and, with --kube-api-qps,
# rest_client_rate_limiter_duration_seconds.
readonly metric_families=(
  certwatcher_read_certificate_errors_total certwatcher_read_certificate_total
  controller_runtime_active_workers controller_runtime_max_concurrent_reconciles
  controller_runtime_reconcile_errors_total controller_runtime_reconcile_panics_total
  controller_runtime_reconcile_time_seconds controller_runtime_reconcile_timeouts_total
  controller_runtime_reconcile_total controller_runtime_terminal_reconcile_errors_total
  leader_election_master_status leader_election_slowpath_total
  process_cpu_seconds_total process_max_fds process_open_fds process_resident_memory_bytes
  process_start_time_seconds process_virtual_memory_bytes
  rest_client_rate_limiter_duration_seconds rest_client_request_duration_seconds
  rest_client_request_size_bytes rest_client_requests_total rest_client_response_size_bytes
  workqueue_adds_total workqueue_depth workqueue_longest_running_processor_seconds
  workqueue_queue_duration_seconds workqueue_retries_total workqueue_unfinished_work_seconds
  workqueue_work_duration_seconds
)

# The series that the queries of kubebuilder's grafana/controller-runtime-metrics.json select, and the
# labels by which they group and name them. Prometheus adds job, instance, namespace and pod.
# shellcheck disable=SC2054 # the commas separate labels
readonly grafana_series=(
  controller_runtime_active_workers:controller
  controller_runtime_reconcile_total:
  controller_runtime_reconcile_errors_total:
  workqueue_depth:
  workqueue_queue_duration_seconds_bucket:name,le
  workqueue_adds_total:name
  workqueue_unfinished_work_seconds:
  workqueue_work_duration_seconds_bucket:name,le
  workqueue_retries_total:name
)

check_metrics() {
  check "/metrics serves the workqueue metrics of client-go with the controller's counts" workqueue_metrics
  restart_for_metrics
  check "/metrics has every metric of controller-runtime" metrics_of_controller_runtime
  check "The queries of kubebuilder's Grafana dashboard find series" grafana_queries
  local secured="Over HTTPS, only users who may get /metrics get it"
  if [[ $server == real ]]; then check "$secured" secured_metrics; else skip_check "$secured" "kopp-apiserver has no reviews of access"; fi
  process_stop "$state" controller TERM
  start_controller_process
}

workqueue_metrics() {
  use_new_namespace metrics
  create_foo counted counted 1
  eventually_equals counted deployment_names
  eventually_matches '^workqueue_adds_total\{controller="foo",name="foo"\} [1-9]' scrape
  eventually_matches '^workqueue_depth\{controller="foo",name="foo",priority="0"\} 0$' scrape
  eventually_matches '^workqueue_work_duration_seconds_count\{controller="foo",name="foo"\} [1-9]' scrape
  eventually_matches '^workqueue_unfinished_work_seconds\{controller="foo",name="foo"\} 0$' scrape
}

deployment_names() { kubectl get deployments -o 'jsonpath={.items[*].metadata.name}'; }

# Starts the controller with leader election and, on a real API server, with HTTPS.
restart_for_metrics() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$state/metrics.key" \
    -out "$state/metrics.crt" -subj /CN=metrics -addext subjectAltName=IP:127.0.0.1 -days 1 2>/dev/null
  process_stop "$state" controller TERM
  local -a flags=(--leader-elect --leader-election-namespace default --kube-api-qps 1000)
  if [[ $server == real ]]; then
    flags+=(--metrics-secure --metrics-cert-path "$state" --metrics-cert-name metrics.crt --metrics-cert-key metrics.key)
    # shellcheck disable=SC2034 # the function kubectl reads it
    namespace=default
    kubectl create serviceaccount stranger >/dev/null
    kubectl create serviceaccount scraper >/dev/null
    kubectl create clusterrole scraper --verb=get --non-resource-url=/metrics >/dev/null
    kubectl create clusterrolebinding scraper --clusterrole=scraper --serviceaccount=default:scraper >/dev/null
  fi
  start_controller_process "" "${flags[@]}"
  disown -a # do not report when it ends
}

metrics_of_controller_runtime() {
  use_new_namespace all-metrics
  create_foo a a 1
  eventually_equals 0 available_replicas a
  local page
  page=$(scrape)
  matches '^leader_election_master_status\{name="sample-controller"\} 1$' echo "$page"
  diff --label expected --label missing -u <(printf '%s\n' "${metric_families[@]}" | sort) \
    <(sed -nE 's/^# TYPE ([a-z_]+) .*/\1/p' <<<"$page" | grep -Fx "$(printf '%s\n' "${metric_families[@]}")" | sort)
}

grafana_queries() {
  local page series labels label pattern
  page=$(scrape)
  for series in "${grafana_series[@]}"; do
    labels=${series#*:} pattern="^${series%%:*}\\{"
    for label in ${labels//,/ }; do
      matches "$pattern([^}]*,)?$label=\"[^\"]" echo "$page"
    done
    matches "$pattern.*\\} [0-9]" echo "$page"
  done
}

secured_metrics() {
  equals 200 status_of_scrape scraper
  equals 403 status_of_scrape stranger
  equals 401 status_of_scrape
}

status_of_scrape() { # [SERVICE-ACCOUNT]
  local -a header=()
  [[ $# == 0 ]] || header=(-H "Authorization: Bearer $(kubectl -n default create token "$1")")
  curl --silent --show-error --cacert "$state/metrics.crt" -o /dev/null -w '%{http_code}' "${header[@]}" \
    "https://$(metrics_address)/metrics"
}

scrape() {
  if [[ -e $state/metrics.crt && $server == real ]]; then
    curl --silent --show-error --fail --cacert "$state/metrics.crt" \
      -H "Authorization: Bearer $(kubectl -n default create token scraper)" "https://$(metrics_address)/metrics"
  else
    curl --silent --show-error --fail "http://$(metrics_address)/metrics"
  fi
}

metrics_address() { controller_log | sed -n 's/.*"Serving metrics" address="\([^"]*\)".*/\1/p'; }
