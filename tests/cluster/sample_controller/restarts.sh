# shellcheck shell=bash disable=SC2154 # shared with ../sample_controller_test.sh
# Checks restarts of the controller and the API server: no change that is made meanwhile is lost.

check_restarts() {
  check "SIGTERM stops the controller with exit code 0" ends_on_sigterm
  check "Foos that exist before the controller starts get their Deployments" foos_before_start
  check "A killed and restarted controller processes the changes made while it was down" controller_killed
  check "After an API server is killed and restarted, the same controller process handles the next change" \
    api_server_killed
  check "A controller that authenticates with a client certificate reconciles Foos" client_certificate
}

ends_on_sigterm() {
  process_stop "$state" controller
  start_controller_process
  local id
  id=$(process_id "$state" controller)
  use_new_namespace sigterm
  create_foo a a 1
  eventually_equals 1 replicas a
  kill -TERM "$id"
  eventually_equals "" controller_is_running
  wait "$id" # fails if its exit code is not 0
}

foos_before_start() {
  equals "" controller_is_running
  use_new_namespace at-start
  create_foo a a 2
  create_foo b b 3
  start_controller_process
  eventually_equals 2 replicas a
  eventually_equals 3 replicas b
}

controller_killed() {
  use_new_namespace controller-killed
  create_foo scaled scaled 1
  create_foo deleted deleted 2
  eventually_equals 0 available_replicas scaled
  eventually_equals 0 available_replicas deleted
  process_stop "$state" controller KILL
  patch_foo_spec scaled '{"replicas":5}'
  kubectl delete deployment deleted
  start_controller_process
  eventually_equals 5 replicas scaled
  eventually_equals 2 replicas deleted
}

api_server_killed() {
  use_new_namespace api-server-killed
  create_foo a a 1
  eventually_equals 0 available_replicas a
  local before
  before=$(process_id "$state" controller)
  "$cluster" kill-apiserver "$state"
  eventually_matches refused kubectl get foos
  "$cluster" start-apiserver "$state"
  patch_foo_spec a '{"replicas":4}'
  eventually_equals 4 replicas a
  kubectl delete deployment a
  eventually_equals 4 replicas a
  equals "$before" process_id "$state" controller
}

client_certificate() {
  process_stop "$state" controller TERM
  start_controller_process "$state/sample-controller-certificate.kubeconfig"
  use_new_namespace certificate
  create_foo a a 2
  eventually_equals 2 replicas a
  eventually_equals 0 available_replicas a
}
