# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# Checks two replicas of the controller with --leader-elect. They are different users, so that the
# audit log tells their requests apart. The durations are the defaults.

check_leader_election() {
  process_stop "$state" controller TERM
  add_standby
  check "While a leader is stopped, the other replica takes over, and they never both write" stopped_leader
  check "After SIGTERM, the leader releases the Lease and the other replica takes over" released_lease
  check "A leader ends after SIGTERM although the API server hangs" \
    ends_although_server_hangs --leader-elect --leader-election-namespace default
  check "Without leader election, it ends, too" ends_although_server_hangs
  start_controller_process
}

# Gives the user of the second replica the same permissions.
add_standby() {
  namespace=default
  if [[ $server == real ]]; then
    local binding subject='{"kind": "ServiceAccount", "name": "standby", "namespace": "default"}'
    kubectl create serviceaccount standby >/dev/null
    for binding in clusterrolebinding rolebinding; do
      kubectl patch "$binding" sample-controller --type=json \
        -p "[{\"op\": \"add\", \"path\": \"/subjects/-\", \"value\": $subject}]" >/dev/null
    done
  fi
  "$cluster" service-account "$state" default standby
}

start_replica() { # USER [FLAG...]
  process_start "$state" "$1" "$SAMPLE_CONTROLLER" --kubeconfig "$state/$1.kubeconfig" \
    --http-transport "${HTTP_TRANSPORT:-beast}" "${@:2}"
}

start_elected_replica() { start_replica "$1" --leader-elect --leader-election-namespace default; } # USER

replica_is_running() { process_id "$state" "$1" >/dev/null && echo yes; } # USER

lease_holder() {
  kubectl -n default get lease sample-controller --ignore-not-found -o 'jsonpath={.spec.holderIdentity}'
}

# Prints yes if a replica other than the one with identity BEFORE holds the Lease.
lease_has_new_holder() { # BEFORE
  local holder
  holder=$(lease_holder)
  [[ -n $holder && $holder != "$1" ]] && echo yes
}

# Creates Foos until FILE exists or the cluster is removed.
create_foos_until() { # FILE
  local number=0
  until [[ -e $1 || ! -e $state/cluster ]]; do
    number=$((number + 1))
    create_foo "foo-$number" "foo-$number" 1 || true
    sleep 0.2
  done
}

# Prints the writes of Foos and Deployments in a namespace that USER sent. Events do not count: they
# report what has happened before.
writes_of() { # USER
  audit_log | jq -c --arg user "system:serviceaccount:default:$1" --arg namespace "$namespace" '
    select(.user.username == $user and .objectRef.namespace == $namespace
           and (.objectRef.resource | IN("foos", "deployments"))
           and (.verb | IN("create", "update", "patch", "delete")))'
}

count_writes_of() { writes_of "$1" | wc -l; } # USER

# Prints the holder of the Lease that USER wrote last, or "nobody" if it released the Lease.
last_written_holder() { # USER
  audit_log | jq -r --arg user "system:serviceaccount:default:$1" '
    select(.user.username == $user and .objectRef.resource == "leases" and .requestObject != null)
    | .requestObject.spec.holderIdentity | if . // "" == "" then "nobody" else . end' | tail -n 1
}

# Prints yes if the last write of the user FIRST ended before the first one of SECOND began.
writes_are_disjoint() { # FIRST SECOND
  local last first
  last=$(writes_of "$1" | jq -r .stageTimestamp | sort | tail -n 1)
  first=$(writes_of "$2" | jq -r .requestReceivedTimestamp | sort | head -n 1)
  [[ -n $last && -n $first && $last < $first ]] && echo yes || echo "$1 until $last, $2 from $first"
}

stopped_leader() {
  use_new_namespace stopped-leader
  start_elected_replica sample-controller
  local id before code=0
  id=$(process_id "$state" sample-controller)
  eventually_matches '^[^ ]+_[^ ]+$' lease_holder
  before=$(lease_holder)
  start_elected_replica standby
  create_foos_until "$state/enough-foos" >/dev/null 2>&1 &
  eventually_equals yes at_least 5 count_writes_of sample-controller

  kill -STOP "$id"
  eventually_equals yes lease_has_new_holder "$before"
  eventually_equals yes at_least 20 count_writes_of standby
  kill -CONT "$id"

  eventually_equals "" replica_is_running sample-controller
  wait "$id" || code=$?
  echo "exit code $code" && [[ $code == 1 ]]
  matches 'leader election lost' tail -n 20 "$state/sample-controller.log"
  touch "$state/enough-foos"
  equals yes writes_are_disjoint sample-controller standby
  eventually_equals 0 available_replicas foo-1
  equals yes replica_is_running standby
}

released_lease() {
  use_new_namespace released
  start_elected_replica sample-controller
  create_foo a a 1
  eventually_equals 0 available_replicas a
  eventually_equals yes at_least 2 count_writes_of standby
  local before
  before=$(lease_holder)
  kill -TERM "$(process_id "$state" standby)"
  eventually_equals yes lease_has_new_holder "$before"
  create_foo b b 1
  eventually_equals 0 available_replicas b
  eventually_equals yes at_least 2 count_writes_of sample-controller
  equals yes writes_are_disjoint standby sample-controller
  eventually_equals "" replica_is_running standby
  equals nobody last_written_holder standby
}

# Stops the API server as a debugger would, while the controller has work.
ends_although_server_hangs() { # [FLAG...]
  use_new_namespace "hang-$#"
  process_stop "$state" sample-controller TERM
  start_replica sample-controller --graceful-shutdown-timeout 10s "$@"
  local id server_id creator stopped code=0
  id=$(process_id "$state" sample-controller)
  server_id=$(process_id "$state" apiserver)
  create_foo a a 1
  eventually_equals 0 available_replicas a
  create_many_foos >/dev/null 2>&1 &
  creator=$!
  eventually_equals yes at_least 20 count_writes_of sample-controller

  kill -STOP "$server_id"
  kill -TERM "$id"
  stopped=$EPOCHREALTIME
  eventually_equals "" replica_is_running sample-controller || code=$?
  kill -CONT "$server_id"
  echo "ended $(seconds_since "$stopped") after SIGTERM"
  wait "$creator" || true # before the next check, which counts writes
  return "$code"
}

create_many_foos() {
  local number
  for number in {1..200}; do
    printf '{"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo", "metadata": {"name": "many-%s"},
      "spec": {"deploymentName": "many-%s", "replicas": 1}}\n' "$number" "$number"
  done | kubectl create -f -
}
