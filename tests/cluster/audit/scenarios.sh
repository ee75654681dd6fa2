# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# The script of steps whose writes are compared, each in a namespace of its own. A step waits until
# the controller has answered the one before: so what is written, and in which order, is determined.
# Sourced; the words are those of ../check.sh and ../sample_controller/foos.sh.

readonly scenarios=(create scale no-replicas drift delete-child foreign-child empty-name rename
  delete-foo recreate-foo restart api-server-restart)

scenario_create() {
  foo a a-deployment 1
  becomes 0 20 status a
  make_available a-deployment 1
  becomes 1 20 status a
}

scenario_scale() {
  foo a a 1
  becomes 0 20 status a
  make_available a 1
  becomes 1 20 status a
  change_foo a '{"replicas":3}'
  becomes 3 20 replicas a
  make_available a 3
  becomes 3 20 status a
  change_foo a '{"replicas":2}'
  becomes 2 20 replicas a
  make_available a 2
  becomes 2 20 status a
}

scenario_no_replicas() {
  foo a a
  becomes 0 20 status a
  kubectl scale deployment a --replicas=4
  make_available a 4
  becomes 4 20 status a
}

# Labels and images may drift; only a wrong number of replicas has the Deployment written, and then
# whole, which takes the rest back too.
scenario_drift() {
  foo a a 2
  becomes 0 20 status a
  kubectl label deployment a foreign=label
  kubectl annotate deployment a foreign=annotation
  kubectl patch deployment a --type=json \
    -p '[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:1.27"}]'
  make_available a 1
  becomes 1 20 status a
  kubectl scale deployment a --replicas=5
  becomes 2 20 replicas a
  make_available a 2
  becomes 2 20 status a
}

scenario_delete_child() {
  foo a a 2
  becomes 0 20 status a
  make_available a 2
  becomes 2 20 status a
  kubectl delete deployment a
  becomes 2 20 replicas a
  becomes 0 20 status a
}

scenario_foreign_child() {
  make deployment taken --image=somebody/else --replicas=3
  foo a taken 1
  shows ErrResourceExists 20 kubectl get events
  kubectl delete deployment taken
  becomes 1 60 replicas taken
  becomes 0 20 status a
}

scenario_empty_name() {
  foo never "" 1
  foo later "" 2
  change_foo later '{"deploymentName":"later"}'
  becomes 2 20 replicas later
  becomes 0 20 status later
}

scenario_rename() {
  foo a old 1
  becomes 0 20 status a
  make_available old 1
  becomes 1 20 status a
  change_foo a '{"deploymentName":"new"}'
  becomes 1 20 replicas new
  becomes 0 20 status a
  kubectl delete deployment old # the Foo's still, but no longer wanted
  make_available new 1
  becomes 1 20 status a
}

scenario_delete_foo() {
  foo a a 1
  becomes 0 20 status a
  kubectl delete foo a
  make_available a 1
  kubectl delete deployment a
  foo marker marker 1
  becomes 0 20 status marker
}

scenario_recreate_foo() {
  foo a a 1
  becomes 0 20 status a
  kubectl delete foo a
  foo a a 2
  shows ErrResourceExists 20 kubectl get events
  kubectl delete deployment a
  becomes 2 60 replicas a
  becomes 0 20 status a
}

scenario_restart() {
  foo untouched untouched 1
  foo scaled scaled 1
  foo bereft bereft 1
  local name
  for name in untouched scaled bereft; do becomes 0 20 status "$name"; done
  process_stop "$state" controller TERM
  change_foo scaled '{"replicas":4}'
  kubectl delete deployment bereft
  foo added added 3
  make_available untouched 1
  controller_start
  becomes 4 20 replicas scaled
  becomes 1 20 replicas bereft
  becomes 0 20 status added
  becomes 1 20 status untouched
}

scenario_api_server_restart() {
  foo a a 1
  becomes 0 20 status a
  "$cluster" kill-apiserver "$state"
  "$cluster" start-apiserver "$state"
  change_foo a '{"replicas":2}'
  becomes 2 60 replicas a
  make_available a 2
  becomes 2 60 status a
}
