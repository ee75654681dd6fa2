#!/usr/bin/env bash
# Benchmarks kopp's informers against those of client-go and kube-rs (if cargo is installed). All
# programs run in turn RUNS times (default 3). Compares the medians. Prints the table and writes it
# to build/bench.
# - The first part fills a kube-apiserver with 20,000 Pods of 7.4 kB, and then changes 4,000 of them
#   while each program watches.
# - The second part serves 20,000 to 1,000,000 small ConfigMaps with synthetic_apiserver, which
#   changes 10,000 of them per second, and measures the reads of each program's store meanwhile.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
runs=${RUNS:-3}
# shellcheck source=tests/bench/comparison.sh
source "$here/comparison.sh"

readonly pods=${PODS:-20000} updates=4000 read_seconds=3
declare -Ar sizes=([20k]=20000 [200k]=200000 [1m]=1000000)

main() {
  build
  folder=$(mktemp -d)
  at_exit clean_up
  print_fixed_budget >"$out/informer_runs.txt"
  measure_pods
  local size
  for size in 20k 200k 1m; do measure_scale "$size"; done
  { print_machine "$("$KOPP_PROGRAMS/kube-apiserver" --version), client-go $client_go" "$runs" &&
    print_legend && print_table "$out/informer_runs.txt"; } | tee "$out/informer.txt"
}

build() {
  mkdir -p "$out"
  (cd "$root" && cmake --preset release >"$out/build.log" &&
    cmake --build --preset release --target informer_bench informer_load synthetic_apiserver >>"$out/build.log") ||
    { say "the build failed: see $out/build.log"; return 1; }
  programs=$root/build/release/tests/bench
  KOPP_PROGRAMS=$("$here/../cluster/programs.sh")
  export KOPP_PROGRAMS
  go_is_new_enough || install_go
  use_go_cache_folder
  (cd "$here/peers" && go build -o "$out/client-go-informer" ./informer)
  client_go=$(awk '$1 == "k8s.io/client-go" {print $2}' "$here/peers/go.mod")
  build_kube_rs
}

measure_pods() {
  say "informer: starting a kube-apiserver with $pods Pods"
  "$here/../cluster/cluster.sh" up "$folder/cluster" >/dev/null
  kubeconfig=$folder/cluster/admin.kubeconfig
  KUBECONFIG=$kubeconfig "$programs/informer_load" fill "$pods"
  local round form
  for ((round = 1; round <= runs; ++round)); do
    say "informer: Pods: round $round of $runs"
    for form in view whole metadata; do
      measure_events kopp "$form" "$programs/informer_bench"
    done
    for form in typed-json typed-protobuf dynamic metadata; do
      measure_events client-go "$form" "$out/client-go-informer"
    done
    [[ -n $kube_rs ]] || continue
    for form in typed metadata; do measure_events kube-rs "$form" "$kube_rs/informer"; done
  done
  "$here/../cluster/cluster.sh" down "$folder/cluster"
}

measure_scale() { # SIZE
  kubeconfig=$folder/synthetic.kubeconfig
  rm -f "$kubeconfig"
  process_start "$folder" synthetic "$programs/synthetic_apiserver" "${sizes[$1]}" "$kubeconfig"
  await synthetic test -s "$kubeconfig"
  local round
  for ((round = 1; round <= runs; ++round)); do
    say "informer: ${sizes[$1]} ConfigMaps: round $round of $runs"
    measure_reads kopp view "$1" "$programs/informer_bench"
    measure_reads client-go typed-json "$1" "$out/client-go-informer"
    [[ -z $kube_rs ]] || measure_reads kube-rs typed "$1" "$kube_rs/informer"
  done
  process_stop "$folder" synthetic
}

# Measures the first sync, then changes Pods and measures the events.
measure_events() { # NAME FORM PROGRAM
  start_program "$3" pods "$2" events "$updates"
  await program grep -q '^settled_rss' "$folder/program.log"
  KUBECONFIG=$kubeconfig "$programs/informer_load" touch "$updates"
  await program grep -q '^event_cpu' "$folder/program.log"
  record "$1" "${2//-/_}"
}

# Measures the first sync, then reads the store during updates.
measure_reads() { # NAME FORM SIZE PROGRAM
  start_program "$4" configmaps "$2" reads "$read_seconds"
  await program grep -q '^get_p99' "$folder/program.log"
  record "$1" "${2//-/_}_$3"
}

start_program() { # COMMAND...
  rm -f "$folder/program.log"
  process_start "$folder" program env KUBECONFIG="$kubeconfig" "$@"
}

# Appends lines "PROGRAM MEASURE VALUE" to informer_runs.txt.
record() { # NAME PREFIX
  process_stop "$folder" program TERM
  sed -n "s/^[a-z0-9_]* [0-9.e+-]*\$/$1 $2_&/p" "$folder/program.log" >>"$out/informer_runs.txt"
}

# Repeats COMMAND until it succeeds. Fails after five minutes, or if PROGRAM ends without success.
await() { # PROGRAM COMMAND...
  local attempts
  for ((attempts = 0; attempts < 3000; ++attempts)); do
    "${@:2}" 2>/dev/null && return
    if ! process_id "$folder" "$1" >/dev/null; then
      "${@:2}" 2>/dev/null && return
      break
    fi
    sleep 0.1
  done
  say "no success: ${*:2}. The end of the output:"
  tail -n 15 "$folder/$1.log" >&2
  return 1
}

print_legend() {
  cat <<'END'
sync_cpu, sync_wall: seconds until the first sync, of the client; settled_rss: MiB after it, free memory given back; peak_rss: MiB until then
event_cpu: CPU time per change of a Pod, in µs; view: some fields of Pod and ConfigMap; whole: kopp::Whole; client-go starts with a WatchList, the others with a list
20k, 200k, 1m: number of ConfigMaps; object_cpu, object_bytes: CPU time (µs) and heap of the first sync per object;
get: latency of a read from the store while 10,000 events per second arrive, in ns; ± is (max - min) / 2 in percent of the median
END
}

# Limits that do not depend on another program: MiB and nanoseconds.
print_fixed_budget() {
  cat <<'END'
budget view_settled_rss 30
budget whole_settled_rss 100
budget get_p99 1000
END
}

# Costs per object may exceed those of 20,000 objects by 5 %, which is noise.
print_budget() {
  cat <<'END'
view_sync_cpu           client-go dynamic_sync_cpu           less 0.05
view_sync_cpu           client-go typed_json_sync_cpu        less -
view_sync_cpu           client-go typed_protobuf_sync_cpu    less 0.5
view_sync_cpu           kube-rs   typed_sync_cpu             less 0.2
view_sync_wall          client-go typed_protobuf_sync_wall   less -
view_settled_rss        budget    view_settled_rss           less 1
view_settled_rss        client-go dynamic_settled_rss        less -
view_settled_rss        client-go typed_json_settled_rss     less -
view_settled_rss        client-go typed_protobuf_settled_rss less -
view_settled_rss        kube-rs   typed_settled_rss          less -
view_peak_rss           kopp      view_settled_rss           less 1.3
view_peak_rss           client-go typed_protobuf_peak_rss    less -
view_event_cpu          client-go dynamic_event_cpu          less -
view_event_cpu          client-go typed_json_event_cpu       less -
view_event_cpu          client-go typed_protobuf_event_cpu   less 0.25
view_event_cpu          kube-rs   typed_event_cpu            less -
whole_sync_cpu          client-go dynamic_sync_cpu           less -
whole_settled_rss       budget    whole_settled_rss          less 1
whole_settled_rss       client-go dynamic_settled_rss        less -
whole_peak_rss          kopp      whole_settled_rss          less 1.3
whole_event_cpu         client-go dynamic_event_cpu          less -
metadata_sync_cpu       client-go metadata_sync_cpu          less 0.5
metadata_sync_cpu       kube-rs   metadata_sync_cpu          less -
metadata_settled_rss    client-go metadata_settled_rss       less 0.5
metadata_settled_rss    kube-rs   metadata_settled_rss       less -
metadata_peak_rss       kopp      metadata_settled_rss       less 1.3
metadata_event_cpu      client-go metadata_event_cpu         less 0.5
END
  local size
  for size in 20k 200k 1m; do
    cat <<END
view_${size}_object_cpu   kopp      view_20k_object_cpu        less 1.05
view_${size}_object_cpu   client-go typed_json_${size}_object_cpu less -
view_${size}_object_cpu   kube-rs   typed_${size}_object_cpu   less -
view_${size}_object_bytes kopp      view_20k_object_bytes      less 1.05
view_${size}_object_bytes client-go typed_json_${size}_object_bytes less -
view_${size}_object_bytes kube-rs   typed_${size}_object_bytes less -
view_${size}_get_p50      client-go typed_json_${size}_get_p50 less -
view_${size}_get_p99      budget    get_p99                    less 1
view_${size}_get_p99      client-go typed_json_${size}_get_p99 less -
view_${size}_get_p99      kube-rs   typed_${size}_get_p99      less -
END
  done
}

clean_up() {
  [[ ! -e $folder/cluster/cluster ]] || "$here/../cluster/cluster.sh" down "$folder/cluster"
  process_stop_all "$folder"
  rm -rf "$folder"
}

main
