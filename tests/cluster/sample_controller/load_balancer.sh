# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# Checks the controller behind a load balancer that drops connections.

check_load_balancer() {
  check "Behind a load balancer that closes quiet connections, watches are opened again without errors" quiet_connections
  check "A leader whose connections all become silent at once keeps its Lease" silent_leader
  start_controller_process
}

# With a back-off that grows with each end of a watch, ten watches of a kind would take minutes.
quiet_connections() {
  use_new_namespace quiet
  process_stop "$state" controller TERM
  network_mode=(drop-quiet 2)
  use_network
  create_foo before before 1
  eventually_equals 1 replicas before
  patience=120 eventually_equals yes at_least 20 count_closed_connections
  create_foo after after 1
  eventually_equals 1 replicas after
  equals "" errors_in_controller_log
  end_network
}

count_closed_connections() { grep -cFx closed "$state/network.log"; }
errors_in_controller_log() { controller_log | grep '^E' | head -n 3; }

# The Foos are reconciled by several workers at once, so that the pool has several connections.
silent_leader() {
  use_new_namespace silent-leader
  use_network "" --leader-elect --leader-election-namespace default --max-concurrent-reconciles 8
  local name id silenced
  eventually_matches . lease_holder
  for name in a b c d e f; do create_foo "$name" "$name" 1; done
  for name in a b c d e f; do eventually_equals 1 replicas "$name"; done
  id=$(process_id "$state" controller)
  silenced=$(date -u +%FT%T)
  silence_connections
  patience=120 eventually_equals yes lease_is_renewed_after "$silenced"
  create_foo after after 1
  patience=120 eventually_equals 1 replicas after
  equals "$id" process_id "$state" controller
  equals "" lost_leases_in_controller_log
  end_network
}

# Prints yes if the Lease was renewed 15 s after TIME: its duration, after which another replica takes it.
lease_is_renewed_after() { # TIME
  local renewed
  renewed=$(kubectl -n default get lease sample-controller -o 'jsonpath={.spec.renewTime}')
  (($(date -d "$renewed" +%s) > $(date -d "$1Z" +%s) + 15)) && echo yes
}
lost_leases_in_controller_log() { controller_log | grep -F "leader election lost"; }

end_network() {
  process_stop "$state" controller TERM
  process_stop "$state" network
  rm "$state/network.log" # the next start writes its port there
}
