# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# The scenarios whose writes are compared, each in its own namespace. Each step waits until the
# controller has reacted to the previous one, so the writes and their order are deterministic.
# Source this file. It uses the functions of ../check.sh and ../sample_controller/foos.sh.

readonly scenarios=(create scale no-replicas drift delete-child foreign-child empty-name rename
  delete-foo recreate-foo restart api-server-restart)

scenario_create() {
  create_foo a a-deployment 1
  eventually_equals 0 available_replicas a
  set_available_replicas a-deployment 1
  eventually_equals 1 available_replicas a
}

scenario_scale() {
  create_foo a a 1
  eventually_equals 0 available_replicas a
  set_available_replicas a 1
  eventually_equals 1 available_replicas a
  patch_foo_spec a '{"replicas":3}'
  eventually_equals 3 replicas a
  set_available_replicas a 3
  eventually_equals 3 available_replicas a
  patch_foo_spec a '{"replicas":2}'
  eventually_equals 2 replicas a
  set_available_replicas a 2
  eventually_equals 2 available_replicas a
}

scenario_no_replicas() {
  create_foo a a
  eventually_equals 0 available_replicas a
  kubectl scale deployment a --replicas=4
  set_available_replicas a 4
  eventually_equals 4 available_replicas a
}

# The controller does not react to changed labels and images. It writes the Deployment only if the
# number of replicas is wrong. Then it replaces the whole Deployment, which reverts the other
# changes too.
scenario_drift() {
  create_foo a a 2
  eventually_equals 0 available_replicas a
  kubectl label deployment a foreign=label
  kubectl annotate deployment a foreign=annotation
  kubectl patch deployment a --type=json \
    -p '[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:1.27"}]'
  set_available_replicas a 1
  eventually_equals 1 available_replicas a
  kubectl scale deployment a --replicas=5
  eventually_equals 2 replicas a
  set_available_replicas a 2
  eventually_equals 2 available_replicas a
}

scenario_delete_child() {
  create_foo a a 2
  eventually_equals 0 available_replicas a
  set_available_replicas a 2
  eventually_equals 2 available_replicas a
  kubectl delete deployment a
  eventually_equals 2 replicas a
  eventually_equals 0 available_replicas a
}

scenario_foreign_child() {
  kubectl create deployment taken --image=somebody/else --replicas=3
  create_foo a taken 1
  eventually_matches ErrResourceExists kubectl get events
  kubectl delete deployment taken
  eventually_equals 1 replicas taken
  eventually_equals 0 available_replicas a
}

scenario_empty_name() {
  create_foo never "" 1
  create_foo later "" 2
  patch_foo_spec later '{"deploymentName":"later"}'
  eventually_equals 2 replicas later
  eventually_equals 0 available_replicas later
}

scenario_rename() {
  create_foo a old 1
  eventually_equals 0 available_replicas a
  set_available_replicas old 1
  eventually_equals 1 available_replicas a
  patch_foo_spec a '{"deploymentName":"new"}'
  eventually_equals 1 replicas new
  eventually_equals 0 available_replicas a
  kubectl delete deployment old # the Foo still owns it but no longer names it
  set_available_replicas new 1
  eventually_equals 1 available_replicas a
}

scenario_delete_foo() {
  create_foo a a 1
  eventually_equals 0 available_replicas a
  kubectl delete foo a
  set_available_replicas a 1
  kubectl delete deployment a
  create_foo marker marker 1
  eventually_equals 0 available_replicas marker
}

scenario_recreate_foo() {
  create_foo a a 1
  eventually_equals 0 available_replicas a
  kubectl delete foo a
  create_foo a a 2
  eventually_matches ErrResourceExists kubectl get events
  kubectl delete deployment a
  eventually_equals 2 replicas a
  eventually_equals 0 available_replicas a
}

scenario_restart() {
  create_foo untouched untouched 1
  create_foo scaled scaled 1
  create_foo bereft bereft 1
  local name
  for name in untouched scaled bereft; do eventually_equals 0 available_replicas "$name"; done
  process_stop "$state" controller TERM
  patch_foo_spec scaled '{"replicas":4}'
  kubectl delete deployment bereft
  create_foo added added 3
  set_available_replicas untouched 1
  start_controller_process
  eventually_equals 4 replicas scaled
  eventually_equals 1 replicas bereft
  eventually_equals 0 available_replicas added
  eventually_equals 1 available_replicas untouched
}

scenario_api_server_restart() {
  create_foo a a 1
  eventually_equals 0 available_replicas a
  "$cluster" kill-apiserver "$state"
  "$cluster" start-apiserver "$state"
  patch_foo_spec a '{"replicas":2}'
  eventually_equals 2 replicas a
  set_available_replicas a 2
  eventually_equals 2 available_replicas a
}
