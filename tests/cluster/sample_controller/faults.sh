# shellcheck shell=bash disable=SC2154 # shared with ../sample_controller_test.sh
# Checks that the controller misses no change when connections, the API server or etcd fail. It
# connects through a proxy, which stands for the network.

check_faults() {
  use_network
  check "Changes made while the connection is lost and etcd is compacted are reconciled" \
    outage_with_compaction
  check "After etcd is killed and restarted, the running controller reconciles the next change" \
    etcd_killed
  check "After the CRD is deleted and created again, the running controller reconciles new Foos" \
    crd_recreated
  check "A change is reconciled within 120 s of the silent loss of all connections" silent_connections
  stop_using_network
}

# The watches cannot continue after the compaction, because a restarted API server has no history.
outage_with_compaction() {
  use_new_namespace outage
  local name before
  for name in scaled drifted recreated; do create_foo "$name" "$name" 1; done
  for name in scaled drifted recreated; do eventually_equals 0 available_replicas "$name"; done
  before=$(process_id "$state" controller)
  interrupt_network
  patch_foo_spec scaled '{"replicas":4}'
  kubectl delete deployment drifted
  kubectl delete foo recreated
  create_foo recreated recreated 5
  create_foo new new 2
  "$cluster" compact-etcd "$state"
  "$cluster" kill-apiserver "$state"
  "$cluster" start-apiserver "$state"
  resume_network
  eventually_equals 4 replicas scaled
  eventually_equals 1 replicas drifted
  eventually_equals 2 replicas new
  eventually_matches 'already exists' foo_events recreated ErrResourceExists
  kubectl delete deployment recreated # as the garbage collector of a full cluster does
  eventually_equals 5 replicas recreated
  equals "$(uid foo/recreated)" owner_uid recreated
  matches 'too old resource version' controller_log
  equals "$before" process_id "$state" controller
}

etcd_killed() {
  use_new_namespace etcd-killed
  create_foo a a 1
  eventually_equals 0 available_replicas a
  "$cluster" kill-etcd "$state"
  "$cluster" start-etcd "$state"
  eventually_matches patched patch_foo_spec a '{"replicas":3}'
  eventually_equals 3 replicas a
}

crd_recreated() {
  use_new_namespace crd-recreated
  create_foo a a 1
  eventually_equals 0 available_replicas a
  kubectl delete crd foos.samplecontroller.k8s.io
  install_crd crd-status-subresource.yaml
  create_foo b b 2
  patience=120 eventually_equals 2 replicas b
  eventually_equals 0 available_replicas b
}

# A lost connection is noticed when the next bookmark is missing. Bookmarks come once a minute.
silent_connections() {
  use_new_namespace silent
  create_foo a a 1
  eventually_equals 0 available_replicas a
  local lists
  lists=$(lists_of_informers)
  await_bookmarks
  silence_connections
  patch_foo_spec a '{"replicas":3}'
  patience=120 eventually_equals 3 replicas a
  equals "$lists" lists_of_informers
}
