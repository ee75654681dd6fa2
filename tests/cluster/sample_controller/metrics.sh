# shellcheck shell=bash disable=SC2154 # shared with ../sample_controller_test.sh
# Checks the metrics that the controller serves at --metrics-bind-address.

check_metrics() {
  check "/metrics serves the workqueue metrics of client-go with the controller's counts" workqueue_metrics
}

workqueue_metrics() {
  use_new_namespace metrics
  create_foo counted counted 1
  eventually_equals counted 10 deployment_names
  eventually_matches '^workqueue_adds_total\{controller="foo",name="foo"\} [1-9]' 5 scrape
  eventually_matches '^workqueue_depth\{controller="foo",name="foo",priority="0"\} 0$' 5 scrape
  eventually_matches '^workqueue_work_duration_seconds_count\{controller="foo",name="foo"\} [1-9]' 5 scrape
  eventually_matches '^workqueue_unfinished_work_seconds\{controller="foo",name="foo"\} 0$' 5 scrape
}

deployment_names() { kubectl get deployments -o 'jsonpath={.items[*].metadata.name}'; }

scrape() {
  curl --silent --show-error --fail "http://$(metrics_address)/metrics"
}

metrics_address() { controller_log | sed -n 's/.*"Serving metrics" address="\([^"]*\)".*/\1/p'; }
