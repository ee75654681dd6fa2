#!/usr/bin/env bash
# Benchmarks kopp's workqueue against client-go's. Runs both alternately RUNS times (default 5) and
# compares the medians. Prints the table and writes it, with the results of each run, to
# build/bench. "queue" stands for all scenarios of the workqueue. The scenarios "compile",
# "demo", "informer", "operator", "transport", "apiserver" and "webhook" run the scripts of these names.
#
#     tests/bench/run.sh [SCENARIO...]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
out=$root/build/bench
runs=${RUNS:-5}
cache=${KOPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kopp}
# shellcheck source=tests/go.sh
source "$here/../go.sh"
# shellcheck source=tests/bench/table.sh
source "$here/table.sh"

readonly queue_scenarios=(plain duplicate cycle_1p_1w cycle_1p_4w cycle_4p_4w cycle_4p_16w add_after limiter wakeup burst
  memory_ready memory_delayed)
[[ $# -gt 0 ]] || set -- queue compile demo informer operator transport apiserver webhook
scenarios=()
# These scenarios have their own scripts and tables.
scripts=()
for scenario; do
  case $scenario in
    queue) scenarios+=("${queue_scenarios[@]}") ;;
    compile | demo | informer | operator | transport | apiserver | webhook) scripts+=("$scenario.sh") ;;
    *) scenarios+=("$scenario") ;;
  esac
done
# Additional scenarios that only kopp runs. Their results are a lower bound or explain another
# result.
declare -A only_kopp=([wakeup]=bare_wakeup [memory_ready]=memory_ready_shared
  [memory_delayed]=memory_delayed_shared)

build() {
  mkdir -p "$out"
  (cd "$root" && cmake --preset release >"$out/build.log" && cmake --build --preset release --target workqueue_bench >>"$out/build.log") ||
    { say "the build failed: see $out/build.log"; return 1; }
  go_is_new_enough || install_go
  use_go_cache_folder
  (cd "$here/peers" && go build -o "$out/client-go" ./workqueue)
  cp "$root/build/release/tests/bench/workqueue_bench" "$out/kopp"
}

# Runs a scenario and appends lines "PROGRAM MEASURE VALUE" to runs.txt. KEYS are appended to the
# measure.
measure() { # PROGRAM SCENARIO [KEYS]
  "$out/$1" "${@:2}" | sed "s/^\([a-z0-9_]*\)/$1 \1${3:+_$3}/" >>"$out/runs.txt"
}

run_scenarios() {
  : >"$out/runs.txt"
  local round scenario
  for ((round = 1; round <= runs; ++round)); do
    say "round $round of $runs"
    for scenario in "${scenarios[@]}"; do
      if ((round % 2)); then
        measure kopp "$scenario"; measure client-go "$scenario"
      else
        measure client-go "$scenario"; measure kopp "$scenario"
      fi
      [[ -z ${only_kopp[$scenario]:-} ]] || measure kopp "${only_kopp[$scenario]}"
      [[ $scenario != plain ]] || measure kopp plain 10000000
      # At this size, arrays have just doubled and have the most unused space.
      [[ $scenario != memory_ready ]] || {
        measure kopp memory_ready 1060000; measure client-go memory_ready 1060000
      }
    done
  done
}

print_budget() {
  cat <<'END'
add_distinct           client-go add_distinct        more 2
get_done               client-go get_done            more 2
add_duplicate          client-go add_duplicate       more 1.5
cycle_1p_1w            client-go cycle_1p_1w         more 2
cycle_1p_4w            client-go cycle_1p_4w         more 2
cycle_4p_4w            client-go cycle_4p_4w         more 2
cycle_4p_16w           client-go cycle_4p_16w        more 2
add_after_insert       client-go add_after_insert    more 2
add_after_all_out      client-go add_after_all_out   less 0.5
add_after_cpu          client-go add_after_cpu       more 2
limiter_when           client-go limiter_when        more 2
limiter_forget         client-go limiter_forget      more 2
limiter_forget_shuffled client-go limiter_forget_shuffled more -
wakeup_latency_p50     client-go wakeup_latency_p50  less 1
wakeup_latency_p99     client-go wakeup_latency_p99  less -
bare_wakeup_p50        client-go wakeup_latency_p50  less -
wakeup_latency_p50     kopp      bare_wakeup_p50     less 1.3
burst_latency_p50      client-go burst_latency_p50   less -
burst_latency_p99      client-go burst_latency_p99   less -
memory_ready           client-go memory_ready        less 0.5
memory_delayed         client-go memory_delayed      less 0.5
memory_ready_1060000   client-go memory_ready_1060000 less -
memory_ready_shared    client-go memory_ready        less -
memory_delayed_shared  client-go memory_delayed      less -
add_distinct_10000000  kopp      add_distinct        more 0.667
get_done_10000000      kopp      get_done            more 0.667
cycle_4p_16w           kopp      cycle_1p_1w         more 0.8
END
}

print_legend() {
  echo "GOMAXPROCS is the number of CPUs. Units: operations per second; all_out: CPU seconds; latency: ns; memory: bytes per key,"
  echo "including garbage that is not collected yet; ± is (max - min) / 2 in percent of the median"
}

if [[ ${#scenarios[@]} -gt 0 ]]; then
  build
  run_scenarios
  { print_machine "$(go version | cut -d' ' -f3)" "$runs" && print_legend && print_table "$out/runs.txt"; } | tee "$out/workqueue.txt"
fi
for script in "${scripts[@]}"; do "$here/$script"; done
