# shellcheck shell=bash disable=SC2154 # shared with ../sample_controller_test.sh
# Both ends die and come back: nothing that was asked for in between is lost.

check_restarts() {
  check "SIGTERM ends the controller within 5 s with exit code 0" ends_on_sigterm
  check "Foos that are there when the controller starts get their Deployments" there_at_start
  check "A controller killed and started again acts on what changed while it was away" controller_killed
  check "An API server killed and started again: a change made right after is acted on, by the same process" \
    api_server_killed
  check "A controller that logs in with a client certificate works the same" client_certificate
}

ends_on_sigterm() {
  process_stop "$state" controller
  controller_start
  local id
  id=$(process_id "$state" controller)
  in_namespace sigterm
  foo a a 1
  becomes 1 10 replicas a
  kill -TERM "$id"
  becomes "" 5 controller_runs
  wait "$id" # for its exit code, which must be 0
}

there_at_start() {
  is "" controller_runs
  in_namespace at-start
  foo a a 2
  foo b b 3
  controller_start
  becomes 2 10 replicas a
  becomes 3 10 replicas b
}

controller_killed() {
  in_namespace controller-killed
  foo scaled scaled 1
  foo deleted deleted 2
  becomes 0 10 status scaled
  becomes 0 10 status deleted
  process_stop "$state" controller KILL
  change_foo scaled '{"replicas":5}'
  kubectl delete deployment deleted
  controller_start
  becomes 5 10 replicas scaled
  becomes 2 10 replicas deleted
}

api_server_killed() {
  in_namespace api-server-killed
  foo a a 1
  becomes 0 10 status a
  local before
  before=$(process_id "$state" controller)
  "$cluster" kill-apiserver "$state"
  shows refused 5 kubectl get foos
  "$cluster" start-apiserver "$state"
  change_foo a '{"replicas":4}'
  becomes 4 60 replicas a
  kubectl delete deployment a
  becomes 4 60 replicas a
  is "$before" process_id "$state" controller
}

client_certificate() {
  process_stop "$state" controller TERM
  controller_start "$state/sample-controller-certificate.kubeconfig"
  in_namespace certificate
  foo a a 2
  becomes 2 10 replicas a
  becomes 0 10 status a
}
