#!/usr/bin/env bash
# Benchmarks an operator on kopp, with each of its HTTP libraries, against the same operator on
# controller-runtime and kube-rs (if cargo is installed). The program for Beast does not contain
# cpprestsdk, like the container image. All run in turn RUNS times (default 3) against one
# kube-apiserver with 2,000 Foos. Compares the medians. Prints the table and writes it to
# build/bench.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
runs=${RUNS:-3}
libraries=${LIBRARIES:-beast cpprestsdk} # the HTTP libraries of kopp to measure
# shellcheck source=tests/bench/comparison.sh
source "$here/comparison.sh"

main() {
  build
  folder=$(mktemp -d)
  at_exit clean_up
  "$here/../cluster/cluster.sh" up "$folder/cluster" >/dev/null
  export KUBECONFIG=$folder/cluster/admin.kubeconfig
  install_crd
  print_fixed_budget >"$out/operator_runs.txt"
  local round library
  for ((round = 1; round <= runs; ++round)); do
    say "operator: round $round of $runs"
    for library in $libraries; do measure kopp "${library}_" "$(program_for "$library")" "$library"; done
    measure controller-runtime "" "$out/controller-runtime-operator"
    [[ -z $kube_rs ]] || measure kube-rs "" "$kube_rs/operator"
  done
  { print_machine "$("$KOPP_PROGRAMS/kube-apiserver" --version), controller-runtime $controller_runtime" "$runs" &&
    print_legend && print_table "$out/operator_runs.txt"; } | tee "$out/operator.txt"
}

build() {
  mkdir -p "$out"
  (cd "$root" && cmake --preset release >"$out/build.log" &&
    cmake --build --preset release --target operator_bench bench_operator bench_operator_beast >>"$out/build.log") ||
    { say "the build failed: see $out/build.log"; return 1; }
  programs=$root/build/release/tests/bench
  KOPP_PROGRAMS=$("$here/../cluster/programs.sh")
  export KOPP_PROGRAMS
  go_is_new_enough || install_go
  use_go_cache_folder
  (cd "$here/peers" && go build -o "$out/controller-runtime-operator" ./operator)
  controller_runtime=$(awk '$1 == "sigs.k8s.io/controller-runtime" {print $2}' "$here/peers/go.mod")
  build_kube_rs
}

install_crd() {
  "$KOPP_PROGRAMS/kubectl" apply -f "$root/controllers/sample/manifests/crd-status-subresource.yaml" >/dev/null
  "$KOPP_PROGRAMS/kubectl" wait --for=condition=Established crd/foos.samplecontroller.k8s.io >/dev/null
  sleep 2 # kube-apiserver delays the first create of a new kind
}

program_for() { # LIBRARY
  if [[ $1 == beast ]]; then echo "$programs/bench_operator_beast"; else echo "$programs/bench_operator"; fi
}

measure() { # NAME PREFIX COMMAND...
  "$programs/operator_bench" "${@:3}" 2>"$out/operator.log" | sed "s/^/$1 $2/" >>"$out/operator_runs.txt" ||
    { say "the benchmark of $1 $2 failed:" && tail -n 15 "$out/operator.log" >&2; return 1; }
}

print_legend() {
  cat <<'END'
converge: CPU time and time until 2,000 Foos have a Deployment and a status, in s; reconcile_cpu: CPU time of the whole run per reconcile, in µs;
conflicts: reconciles that failed because the cache was older than the operator's own write; settled_rss: MiB 5 s after convergence, peak_rss: until then;
settled_anon: the part of settled_rss that is not pages of programs and libraries, which all processes on a node share;
latency: from the response to the create of a Foo until its Deployment is visible to a watch, in ms; start: from the start of the program until
then, in ms; ± is (max - min) / 2 in percent of the median
END
}

# Limits that do not depend on another program. 20 conflicts are 1 % of the Foos.
print_fixed_budget() {
  cat <<'END'
budget conflicts 20
END
}

print_budget() {
  local library
  for library in $libraries; do
    cat <<END
${library}_converge_cpu  controller-runtime converge_cpu  less 0.5
${library}_converge_cpu  kube-rs            converge_cpu  less -
${library}_converge_wall controller-runtime converge_wall less -
${library}_converge_wall kube-rs            converge_wall less -
${library}_reconcile_cpu controller-runtime reconcile_cpu less 0.5
${library}_reconcile_cpu kube-rs            reconcile_cpu less 0.5
${library}_reconciles    controller-runtime reconciles    less -
${library}_conflicts     budget             conflicts     less 1
${library}_conflicts     controller-runtime conflicts     less -
${library}_conflicts     kube-rs            conflicts     less -
${library}_settled_rss   controller-runtime settled_rss   less 0.25
${library}_settled_rss   kube-rs            settled_rss   less 0.25
${library}_settled_anon  controller-runtime settled_anon  less 0.25
${library}_settled_anon  kube-rs            settled_anon  less 0.25
${library}_peak_rss      controller-runtime peak_rss      less -
${library}_latency_p50   controller-runtime latency_p50   less 1
${library}_latency_p50   kube-rs            latency_p50   less 1
${library}_latency_p99   controller-runtime latency_p99   less 1
${library}_latency_p99   kube-rs            latency_p99   less 1
${library}_start         controller-runtime start         less 1
${library}_start         kube-rs            start         less 1
END
  done
}

clean_up() {
  [[ ! -e $folder/cluster/cluster ]] || "$here/../cluster/cluster.sh" down "$folder/cluster"
  rm -rf "$folder"
}

main
