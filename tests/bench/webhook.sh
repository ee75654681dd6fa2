#!/usr/bin/env bash
# Measures a defaulting webhook of kopp and of controller-runtime over TLS on loopback, and what a webhook in the process adds
# to a write to the API server in memory. All programs run alternately RUNS times (default 5). Compares the medians. Prints the
# table and writes it to build/bench.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
runs=${RUNS:-5}
# shellcheck source=tests/bench/comparison.sh
source "$here/comparison.sh"

main() {
  build
  state=$(mktemp -d)
  at_exit clean_up
  create_certificate
  write_kubeconfig

  echo "budget in_memory 30" >"$out/webhook_runs.txt"
  local round
  for ((round = 1; round <= runs; ++round)); do
    say "webhook: round $round of $runs"
    measure kopp complete_ /mutate-apps-v1-deployment "$operator" "$port" "$state" "$state/kubeconfig"
    measure kopp view_ /view "$operator" "$port" "$state" "$state/kubeconfig"
    measure controller-runtime "" /mutate-apps-v1-deployment "$out/controller-runtime-webhook" "$port" "$state"
    "$in_memory" 2000 | sed "s|^|kopp |" >>"$out/webhook_runs.txt"
  done
  { print_machine "$(go version | cut -d' ' -f3)" "$runs" && print_legend && print_table "$out/webhook_runs.txt"; } | tee "$out/webhook.txt"
}

build() {
  mkdir -p "$out"
  (cd "$root" && cmake --preset release >"$out/build.log" &&
    cmake --build --preset release --target webhook_bench bench_webhook_operator admission_bench >>"$out/build.log") ||
    { say "the build failed: see $out/build.log"; return 1; }
  bench=$root/build/release/tests/bench/webhook_bench
  in_memory=$root/build/release/tests/bench/admission_bench
  operator=$root/build/release/tests/bench/bench_webhook_operator
  go_is_new_enough || install_go
  use_go_cache_folder
  (cd "$here/peers" && go build -o "$out/controller-runtime-webhook" ./webhook)
}

create_certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -subj /CN=webhooks -days 1 \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$state/tls.key" -out "$state/tls.crt" 2>/dev/null
}

# Nothing is read from the API server. As in a Pod, the configuration has a CA: without it, the CAs of the system are loaded.
write_kubeconfig() {
  cat >"$state/kubeconfig" <<'END'
apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "https://127.0.0.1:1", certificate-authority: tls.crt}}]
users: [{name: none, user: {}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
current-context: none
END
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
}

measure() { # PROGRAM PREFIX PATH COMMAND...
  process_start "$state" server "${@:4}"
  eventually accepts_connections
  "$bench" "https://127.0.0.1:$port$3" "$state/tls.crt" "$(process_id "$state" server)" |
    sed "s|^|$1 $2|" >>"$out/webhook_runs.txt"
  process_stop "$state" server KILL
}

accepts_connections() { (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }

print_legend() {
  echo "cpu: CPU time of the server per review of a Deployment of 10 kB, with 4 clients, in µs; p50, p99: its latency in µs;"
  echo "memory: MiB of the server alone after 100 clients at the same time; peak_rss: the maximum, with shared files; complete: kopp::Deployment; view: a struct with"
  echo "the two fields that the webhook sets; in_memory: µs that a webhook of the process adds to a patch of a ConfigMap;"
  echo "± is (max - min) / 2 in percent of the median"
}

print_budget() {
  local form
  for form in complete view; do
    echo "${form}_cpu controller-runtime cpu less 0.5"
    echo "${form}_p50 controller-runtime p50 less -"
    echo "${form}_p99 controller-runtime p99 less 1"
    echo "${form}_memory controller-runtime memory less 0.25"
    echo "${form}_peak_rss controller-runtime peak_rss less 0.25"
  done
  echo "in_memory_validate budget in_memory less 1"
  echo "in_memory_default budget in_memory less 1"
  echo "in_memory_other_kind budget in_memory less -"
  echo "in_memory_write budget in_memory less -"
}

clean_up() {
  process_stop_all "$state"
  rm -rf "$state"
}

main
