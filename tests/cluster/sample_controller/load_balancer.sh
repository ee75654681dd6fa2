# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# Checks the controller behind a load balancer that drops connections.

check_load_balancer() {
  check "Behind a load balancer that closes quiet connections, watches are opened again without errors" quiet_connections
  check "A leader whose connections all become silent at once keeps its Lease, and its watches are opened again" silent_leader
  stop_using_network
}

# With a back-off that grows with each end of a watch, ten watches of a kind would take minutes.
quiet_connections() {
  use_new_namespace quiet
  network_mode=(drop-quiet 5)
  use_network
  create_foo before before 1
  eventually_equals 1 replicas before
  patience=120 eventually_equals yes at_least 20 count_closed_connections
  create_foo after after 1
  eventually_equals 1 replicas after
  equals "" errors_of_informers
}

count_closed_connections() { grep -cFx closed "$state/network.log"; }
# A request may take longer than 5 s on a slow machine, so only the errors of informers count.
errors_of_informers() { controller_log | grep '^E.*Reflector' | head -n 3; }

# The first list gives all Foos to several workers at once, so that the pool has several connections.
silent_leader() {
  use_new_namespace silent-leader
  process_stop "$state" controller TERM
  local name id silenced
  for name in a b c d e f; do create_foo "$name" "$name" 1; done
  use_network "" --leader-elect --leader-election-namespace default --max-concurrent-reconciles 8
  eventually_matches '^[^ ]+_[^ ]+$' lease_holder
  for name in a b c d e f; do eventually_equals 1 replicas "$name"; done
  equals yes at_least 6 count_connections # two watches, and more than the Lease needs
  id=$(process_id "$state" controller)
  silenced=$(date -u +%FT%T)
  silence_connections
  patience=120 eventually_equals yes lease_is_renewed_after "$silenced"
  patience=120 eventually_matches 'silent while new connections to the server work' controller_log
  create_foo after after 1
  patience=120 eventually_equals 1 replicas after
  equals "$id" process_id "$state" controller
  equals "" lost_leases_in_controller_log
}

# Prints yes if the Lease was renewed 15 s after TIME: its duration, after which another replica takes it.
lease_is_renewed_after() { # TIME
  local renewed
  renewed=$(kubectl -n default get lease sample-controller -o 'jsonpath={.spec.renewTime}')
  (($(date -d "$renewed" +%s) > $(date -d "$1Z" +%s) + 15)) && echo yes
}
lost_leases_in_controller_log() { controller_log | grep -F "leader election lost"; }
