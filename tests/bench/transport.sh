#!/usr/bin/env bash
# Measures the CPU time per call and per stream event of kopp's transports and of Go's net/http, over
# TLS on loopback. All programs run alternately RUNS times (default 5) against one kopp-apiserver,
# whose CPU time does not count. Compares the medians. Prints the table and writes it to build/bench.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
runs=${RUNS:-5}
# shellcheck source=tests/bench/comparison.sh
source "$here/comparison.sh"

main() {
  build
  state=$(mktemp -d)
  at_exit clean_up
  process_start "$state" server "$server" --write-kubeconfig "$state/admin.kubeconfig"
  eventually test -s "$state/admin.kubeconfig"
  "$bench" prepare "$state/admin.kubeconfig" "$state"

  : >"$out/transport_runs.txt"
  local round
  for ((round = 1; round <= runs; ++round)); do
    say "transport: round $round of $runs"
    measure_kopp default
    measure_kopp beast
    measure_kopp cpprestsdk
    measure "net/http" "" "$out/net-http" "$state"
  done
  process_stop "$state" server TERM
  { print_machine "$(go version | cut -d' ' -f3)" "$runs" && print_legend && print_table "$out/transport_runs.txt"; } | tee "$out/transport.txt"
}

build() {
  mkdir -p "$out"
  (cd "$root" && cmake --preset release >"$out/build.log" &&
    cmake --build --preset release --target transport_bench kopp-apiserver >>"$out/build.log") ||
    { say "the build failed: see $out/build.log"; return 1; }
  bench=$root/build/release/tests/bench/transport_bench
  server=$root/build/release/framework/apiserver/kopp-apiserver
  go_is_new_enough || install_go
  use_go_cache_folder
  (cd "$here/peers" && go build -o "$out/net-http" ./transport)
}

measure_kopp() { # TRANSPORT
  measure kopp "${1}_" "$bench" measure "$state/admin.kubeconfig" "$1"
}

measure() { # PROGRAM PREFIX COMMAND...
  "${@:3}" | sed "s|^|$1 $2|" >>"$out/transport_runs.txt"
}

print_legend() {
  echo "call_1, call_4: CPU time of the client per call, with that many threads, in µs; half are GETs, half are PATCHes of a Deployment;"
  echo "event: CPU time per event of a watch, without decoding, in µs; ± is (max - min) / 2 in percent of the median"
}

print_budget() {
  cat <<'END'
default_call_1         kopp     beast_call_1    less 1.3
default_call_4         kopp     beast_call_4    less 1.3
cpprestsdk_call_1      kopp     beast_call_1    less -
cpprestsdk_call_4      kopp     beast_call_4    less -
default_call_1         net/http call_1          less 1
default_call_4         net/http call_4          less 1
default_event          net/http event           less 1
END
}

clean_up() {
  process_stop_all "$state"
  rm -rf "$state"
}

main
