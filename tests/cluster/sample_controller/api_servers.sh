# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# Checks the controller with two API servers on one etcd, as in a highly available cluster. A proxy
# stands for the load balancer. kubectl always uses the first server.

readonly churned_foos=20 paged_foos=502 # a page has 500
# The bytes of a connection before the first page of a list ends.
readonly bytes_of_half_a_page=100000

check_api_servers() {
  if [[ $server != real ]]; then
    skip_check "The faults of two API servers" "kopp-apiserver has no etcd"
    return
  fi
  start_second_server
  use_network -2
  check "After Foos are created and deleted again and again at full speed, each has its Deployment" churn
  check "If an API server is suspended, a change is reconciled within 120 s through another one" suspended_server
  check "Behind an API server whose state is older, no cache goes back, and nothing is listed again" lagging_server
  check "A rolling restart of two API servers leads to at most one list per kind and restart" rolling_restart
  check "A list is repeated once if etcd is compacted between its pages, and no half list is applied" \
    compaction_between_pages
  stop_using_network
}

# Without snapshots, this server reads each page after the first from etcd.
start_second_server() {
  CLUSTER_FLAGS=--feature-gates=ListFromCacheSnapshot=false "$cluster" start-apiserver "$state" -2
  disown -a # do not report when it is killed
}

# Records versions, objects and queue length of the controller in $state/samples-NAMESPACE while the
# check runs.
start_samples() {
  local name
  name=samples-$namespace
  sample_metrics_until "$state/$name.end" >"$state/$name" 2>/dev/null &
}
end_samples() { touch "$state/samples-$namespace.end"; }

sample_metrics_until() { # FILE
  local address
  address=$(metrics_address)
  until [[ -e $1 || ! -e $state/cluster ]]; do
    curl --silent --fail "http://$address/metrics" | awk '
      /^kopp_informer_resource_version\{.*kind="Foo"/ { foo = $NF }
      /^kopp_informer_resource_version\{.*kind="Deployment"/ { deployment = $NF }
      /^kopp_informer_objects\{.*kind="Foo"/ { objects = $NF }
      /^workqueue_depth\{/ { depth += $NF }
      END { print foo, deployment, objects, depth + 0 }'
    sleep 0.05
  done
}

samples() { cat "$state/samples-$namespace"; }
count_samples() { samples | wc -l; }
versions_that_went_back() {
  samples | awk '$1 < foo || $2 < deployment { print "after", foo, deployment ": " $0 } { foo = $1; deployment = $2 }'
}
longest_queue() { samples | awk '$4 > longest { longest = $4 } END { print longest + 0 }'; }
fewest_foos() { samples | awk 'NR == 1 || $3 < fewest { fewest = $3 } END { print fewest }'; }

at_most() { # NUMBER COMMAND...: prints yes if the command's output is NUMBER or less
  (($("${@:2}") <= $1)) && echo yes
}

count_foos() { kubectl get foos --all-namespaces -o name | wc -l; }

churn() {
  use_new_namespace churn
  start_samples
  local even odd foos_before
  foos_before=$(count_foos) # of other checks; resyncs queue them, too
  send_foo_calls "POST DELETE" "range(750) * 2 % $churned_foos" &
  even=$!
  send_foo_calls "POST DELETE" "range(750) * 2 % $churned_foos + 1" &
  odd=$!
  wait "$even"
  wait "$odd"
  send_foo_calls POST "range(0; $churned_foos; 2)"
  eventually_equals "$((churned_foos / 2)) reconciled" collect_garbage_and_count
  eventually_equals "$(count_foos)" informer_metric objects Foo
  eventually_equals yes at_least 20 count_samples
  end_samples
  equals yes at_most $((foos_before + churned_foos)) longest_queue
  equals "" versions_that_went_back
}

send_foo_calls() { # METHODS ORDER
  send_calls "$@" '{deploymentName: "d\(.)", replicas: 1}' --fail-early
}

# Deletes the Deployments of deleted Foos, as the garbage collector of a full cluster does.
collect_garbage_and_count() {
  local -a garbage
  mapfile -t garbage < <(kubectl get foos,deployments -o json | jq -r '
    [.items[] | select(.kind == "Foo").metadata.uid] as $foos
    | .items[] | select(.kind == "Deployment" and (.metadata.ownerReferences[0].uid | IN($foos[]) | not)).metadata.name')
  ((${#garbage[@]} == 0)) || kubectl delete deployment "${garbage[@]}" >/dev/null
  count_reconciled_foos
}

# Creates Foo a with one replica. Succeeds when both watches of the controller work.
create_foo_with_status() {
  create_foo a a 1
  eventually_equals 1 replicas a
  set_available_replicas a 1
  eventually_equals 1 available_replicas a
}

# The kernel of a suspended server still acknowledges what it receives. The load balancer sends new
# connections to the other one.
suspended_server() {
  use_new_namespace suspended
  create_foo_with_status
  local lists
  lists=$(lists_of_informers)
  await_bookmarks
  connect_to ""
  suspend apiserver-2
  patch_foo_spec a '{"replicas":3}'
  patience=120 eventually_equals 3 replicas a
  equals "$lists" lists_of_informers
}

# Suspends a program until the check has ended.
suspend() { # NAME
  local id
  id=$(process_id "$state" "$1")
  # shellcheck disable=SC2064  # expand the process id now
  trap "kill -CONT $id" EXIT
  kill -STOP "$id"
}

lagging_server() {
  use_new_namespace lagging
  reconnect_to ""
  create_foo_with_status
  eventually_equals 1 replicas_in_second_server a
  local lists connections
  lists=$(lists_of_informers)
  suspend etcd-link
  patch_foo_spec a '{"replicas":2}'
  create_foo b b 1
  eventually_equals 2 replicas a
  eventually_equals 0 available_replicas b

  start_samples
  connections=$(count_connections)
  reconnect_to -2
  eventually_equals yes at_least $((connections + 2)) count_connections
  patch_foo_spec a '{"replicas":3}'
  sleep 3
  equals 1 replicas_in_second_server a # its cache is older than that of the controller
  kill -CONT "$(process_id "$state" etcd-link)"
  eventually_equals 3 replicas a
  eventually_equals yes at_least 20 count_samples
  end_samples
  equals "" versions_that_went_back
  equals "$lists" lists_of_informers
}

# Reads from the watch cache of the second API server.
replicas_in_second_server() { # FOO
  kubectl --server "https://127.0.0.1:$(<"$state/port-2")" get --raw \
    "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/$namespace/foos/$1?resourceVersion=0" | jq .spec.replicas
}

# A restarted server has no history: its watches start at its first list.
rolling_restart() {
  use_new_namespace rolling-restart
  reconnect_to -2
  create_foo_with_status
  local lists foo_lists deployment_lists
  lists=$(lists_of_informers)
  foo_lists=$(informer_metric lists_total Foo)
  deployment_lists=$(informer_metric lists_total Deployment)
  start_samples
  connect_to ""
  process_stop "$state" apiserver-2 TERM
  start_second_server
  patch_foo_spec a '{"replicas":2}'
  eventually_equals 2 replicas a
  equals "$lists" lists_of_informers
  connect_to -2
  "$cluster" kill-apiserver "$state"
  "$cluster" start-apiserver "$state"
  patch_foo_spec a '{"replicas":3}'
  eventually_equals 3 replicas a
  end_samples
  equals "" versions_that_went_back
  equals yes at_most $((foo_lists + 1)) informer_metric lists_total Foo
  equals yes at_most $((deployment_lists + 1)) informer_metric lists_total Deployment
}

count_in_log() { controller_log | grep -cF "$1"; }

# The controller lists all Foos in pages if the Foo that changed last is gone after an interruption.
compaction_between_pages() {
  use_new_namespace pages
  send_calls POST "range($paged_foos)" '{deploymentName: ""}' --fail-early
  local foos lists
  foos=$(count_foos)
  eventually_equals "$foos" informer_metric objects Foo
  lists=$(informer_metric lists_total Foo)
  start_samples
  interrupt_network
  kubectl delete foo "f$((paged_foos - 1))"
  reconnect_to -2 "$bytes_of_half_a_page"
  eventually_equals 1 grep -cFx holding "$state/network.log"
  kubectl annotate namespace pages written=later # so that the version of the page is not the newest
  "$cluster" compact-etcd "$state"
  equals "$foos" informer_metric objects Foo
  kill -s USR2 "$(process_id "$state" network)"
  eventually_equals $((foos - 1)) informer_metric objects Foo
  equals yes at_least 1 count_in_log 'The provided continue parameter is too old'
  equals $((lists + 1)) informer_metric lists_total Foo
  eventually_equals yes at_least 10 count_samples
  end_samples
  equals yes at_least $((foos - 1)) fewest_foos
  equals "" versions_that_went_back
}
