# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# Checks that neither a deeply nested object nor a restored etcd stops the controller.

check_recovery() {
  local deep="A Foo that is nested 600 levels deep stops neither a running nor a starting controller"
  local restored="After etcd is restored from a backup, the running controller reconciles the next Foo"
  local later="After etcd is restored and newer writes exceed the cached versions, the reconnected controller reconciles the next Foo"
  if [[ $server == real ]]; then
    check "$deep" deep_foo
    check "$restored" etcd_restored
    check "$later" etcd_restored_and_changed
  else
    skip_check "$deep" "kopp-apiserver rejects deep objects"
    skip_check "$restored" "kopp-apiserver has no etcd"
    skip_check "$later" "kopp-apiserver has no etcd"
  fi
}

deep_foo() {
  use_new_namespace deep
  kubectl patch crd foos.samplecontroller.k8s.io --type=json -p '[{"op": "add", "value": true,
    "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-preserve-unknown-fields"}]'
  eventually_matches created create_deep_foo
  equals yes at_least 600 count_brackets_of_deep_foo
  eventually_equals 1 replicas deep
  create_foo a a 2
  eventually_equals 2 replicas a
  process_stop "$state" controller TERM
  start_controller_process
  create_foo b b 3
  eventually_equals 3 replicas b
  kubectl delete foo deep
}

create_deep_foo() {
  local brackets
  printf -v brackets '%*s' 600 ''
  printf '{"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo", "metadata": {"name": "deep"},
    "spec": {"deploymentName": "deep", "replicas": 1, "deep": %s}}' "${brackets// /[}${brackets// /]}" |
    kubectl create -f -
}

count_brackets_of_deep_foo() { kubectl get foo deep -o json | tr -cd '[' | wc -c; } # too deep for jq

# The controller's watches fail while the API server is down. After the restore, resourceVersions are lower.
etcd_restored() {
  use_new_namespace restored
  create_foo a a 1
  eventually_equals 0 available_replicas a
  local before round
  before=$(process_id "$state" controller)
  "$cluster" backup-etcd "$state"
  create_foo lost lost 1
  eventually_equals 1 replicas lost
  for round in {1..20}; do kubectl annotate foo a "round=$round" --overwrite; done
  "$cluster" restore-etcd "$state"
  equals "" uid foo/lost
  create_foo b b 2
  patience=120 eventually_equals 2 replicas b
  patch_foo_spec a '{"replicas":3}'
  eventually_equals 3 replicas a
  equals "$before" process_id "$state" controller
}

etcd_restored_and_changed() {
  use_new_namespace restored-and-changed
  create_foo a a 1
  eventually_equals 1 replicas a
  "$cluster" backup-etcd "$state"
  patch_foo_spec a '{"replicas":2}'
  eventually_equals 2 replicas a
  local id round
  id=$(process_id "$state" controller)
  kill -STOP "$id"
  "$cluster" restore-etcd "$state"
  create_foo b b 2
  for round in {1..30}; do kubectl annotate namespace default "round=$round" --overwrite; done
  kill -CONT "$id"
  eventually_equals 2 replicas b
  eventually_equals 1 replicas a
  equals "$id" process_id "$state" controller
}
