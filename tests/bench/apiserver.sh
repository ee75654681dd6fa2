#!/usr/bin/env bash
# Benchmarks kopp-apiserver against kube-apiserver with etcd. Runs both alternately RUNS times
# (default 5), each time with a new server, and compares the medians. The server is pinned to one
# CPU and the client to another. If cargo is installed, kube-rs's informer and controller run
# against both servers too. Prints the table and writes it to build/bench.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
runs=${RUNS:-5}
# shellcheck source=tests/bench/comparison.sh
source "$here/comparison.sh"

main() {
  build
  folder=$(mktemp -d)
  at_exit clean_up
  : >"$out/apiserver_runs.txt"
  echo "budget start 0.02" >>"$out/apiserver_runs.txt"
  local round
  for ((round = 1; round <= runs; ++round)); do
    say "apiserver: round $round of $runs"
    if ((round % 2)); then run_kopp && run_kube; else run_kube && run_kopp; fi
  done
  { print_machine "$("$KOPP_PROGRAMS/kube-apiserver" --version)" "$runs" && print_legend && print_table "$out/apiserver_runs.txt"; } | tee "$out/apiserver.txt"
}

build() {
  mkdir -p "$out"
  (cd "$root" && cmake --preset release >"$out/build.log" &&
    cmake --build --preset release --target apiserver_bench kopp-apiserver >>"$out/build.log") ||
    { say "the build failed: see $out/build.log"; return 1; }
  bench=$root/build/release/tests/bench/apiserver_bench
  server=$root/build/release/framework/apiserver/kopp-apiserver
  KOPP_PROGRAMS=$("$here/../cluster/programs.sh")
  export KOPP_PROGRAMS
  build_kube_rs
}

run_kopp() {
  state=$folder/kopp
  mkdir "$state"
  process_start "$state" server taskset -c 1 "$bench" start "$state/admin.kubeconfig" "$state/start" \
    taskset -c 0 "$server" --write-kubeconfig "$state/admin.kubeconfig" --audit-log="$state/audit.log"
  eventually test -s "$state/start"
  measure kopp "$(process_id "$state" server)"
  process_stop "$state" server TERM
  rm -rf "$state"
}

run_kube() {
  state=$folder/kube
  taskset -c 0 "$here/../cluster/cluster.sh" up "$state" >/dev/null
  "$here/../cluster/cluster.sh" kill-apiserver "$state"
  taskset -c 1 "$bench" start "$state/admin.kubeconfig" "$state/start" \
    taskset -c 0 "$here/../cluster/cluster.sh" start-apiserver "$state"
  eventually test -s "$state/start"
  measure kube-apiserver "$(process_id "$state" apiserver),$(process_id "$state" etcd)"
  "$here/../cluster/cluster.sh" down "$state"
}

measure() { # NAME PIDS
  {
    cat "$state/start"
    taskset -c 1 "$bench" "$state/admin.kubeconfig" "$2"
    [[ -z $kube_rs ]] || KUBECONFIG=$state/admin.kubeconfig taskset -c 1 "$kube_rs/kube-rs-peers"
  } | sed "s/^/$1 /" >>"$out/apiserver_runs.txt"
}

print_legend() {
  echo "create, update, fan_out (to 100 watches): operations per second with that many clients; _cpu: CPU seconds of the server per change; memory: bytes per Pod;"
  echo "start, list (20,000 Pods), kube_rs: seconds; the server runs on one CPU, the client on another; ± is (max - min) / 2 in percent of the median"
  echo "both write an audit log (kopp-apiserver with bodies); kube-apiserver also checks authorization, and etcd stores the objects on disk"
}

print_budget() {
  cat <<'END'
start                  budget         start           less 1
start                  kube-apiserver start           less 1
create_1               kube-apiserver create_1        more 1
update_1               kube-apiserver update_1        more 1
create_8               kube-apiserver create_8        more 1
update_8               kube-apiserver update_8        more 1
fan_out                kube-apiserver fan_out         more 1
fan_out_cpu            kube-apiserver fan_out_cpu     less 1
create_pods            kube-apiserver create_pods     more 1
memory                 kube-apiserver memory          less 1
list                   kube-apiserver list            less 1
pod_size               kube-apiserver pod_size        less -
kube_rs_sync           kube-apiserver kube_rs_sync    less -
kube_rs_converge       kube-apiserver kube_rs_converge less -
END
}

clean_up() {
  [[ ! -e $folder/kube/cluster ]] || "$here/../cluster/cluster.sh" down "$folder/kube"
  [[ ! -e $folder/kopp ]] || process_stop_all "$folder/kopp"
  rm -rf "$folder"
}

main
