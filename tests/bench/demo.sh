#!/usr/bin/env bash
# Measures the time of `make demo` when everything is built, RUNS times (default 5). Prints the median of the seconds. Writes the
# table, and the results of each run, to build/bench.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$root/build/bench
runs=${RUNS:-5}
# shellcheck source=tests/bench/table.sh
source "$here/table.sh"

TIMEFORMAT=%R

print_budget() { echo 'demo budget demo less 1'; }

mkdir -p "$out"
make -C "$root" demo >"$out/demo.log" 2>&1 || { cat "$out/demo.log" >&2; exit 1; }
echo 'budget demo 10' >"$out/demo_runs.txt"
for ((round = 1; round <= runs; ++round)); do
  seconds=$({ time make -C "$root" demo >"$out/demo.log" 2>&1; } 2>&1)
  echo "kopp demo $seconds" >>"$out/demo_runs.txt"
done
{ print_machine "seconds" "$runs" && print_table "$out/demo_runs.txt"; } | tee "$out/demo.txt"
