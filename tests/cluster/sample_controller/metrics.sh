# shellcheck shell=bash disable=SC2154 # shared with ../sample_controller_test.sh
# What the controller says about itself at --metrics-bind-address.

check_metrics() {
  check "A scrape counts what the queue did, under the names that dashboards know" scrape_counts
}

scrape_counts() {
  in_namespace metrics
  foo counted counted 1
  becomes counted 10 deployments_named
  shows '^workqueue_adds_total\{controller="foo",name="foo"\} [1-9]' 5 scrape
  shows '^workqueue_depth\{controller="foo",name="foo",priority="0"\} 0$' 5 scrape
  shows '^workqueue_work_duration_seconds_count\{controller="foo",name="foo"\} [1-9]' 5 scrape
  shows '^workqueue_unfinished_work_seconds\{controller="foo",name="foo"\} 0$' 5 scrape
}

deployments_named() { kubectl get deployments -o 'jsonpath={.items[*].metadata.name}'; }

scrape() {
  curl --silent --show-error --fail "http://$(metrics_address)/metrics"
}

metrics_address() { controller_log | sed -n 's/.*"Serving metrics" address="\([^"]*\)".*/\1/p'; }
