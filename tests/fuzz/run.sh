#!/usr/bin/env bash
# Fuzzes the targets, two at a time: `make fuzz SECONDS=60 TARGETS="json selector"`.
#
#     run.sh BUILD LIMIT TARGET...
#
# LIMIT is a number of seconds, such as 60s: then the inputs are random, and begin with those that earlier
# runs have found. Or it is a number of inputs, such as 20000: then they are the same in each run.
# Below the folder BUILD, writes inputs that reach new code to corpus/TARGET, inputs that fail to
# findings/TARGET-*, and the output of a target to logs/TARGET.log. Prints the log of a target that
# fails. The targets have a low priority.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Short stack traces (malloc_context_size) and -entropic=0 make the fuzzer about 1.5 times as fast.
fuzz() { # BUILD LIMIT TARGET
  local build=$1 limit=$2 target=$3
  local folder=tests/fuzz seeds=tests/fuzz/seeds/$target log=$1/logs/$3.log corpus=$1/corpus/$3
  local options=(-max_len=4096)
  if [[ $target == apiserver ]]; then
    folder=tests/apiserver/fuzz
    seeds=$folder/seeds
    options=(-max_len=8192 "-dict=$folder/api.dict")
  fi
  if [[ $limit == *s ]]; then
    options+=("-max_total_time=${limit%s}")
  else
    corpus=$build/reproducible/$target
    rm -rf "$corpus"
    options+=("-runs=$limit" -seed=1)
  fi
  mkdir -p "$corpus" "$build/findings" "$build/logs"
  if ASAN_OPTIONS=malloc_context_size=8 nice "$build/$folder/${target}_fuzz" \
    -timeout=60 -rss_limit_mb=4096 -entropic=0 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$target-" "${options[@]}" \
    "$corpus" "$seeds" >"$log" 2>&1; then
    printf '%s: no finding in %s inputs\n' "$target" \
      "$(awk '/number_of_executed_units/ { print $2 }' "$log")"
  else
    printf '%s: FINDING; the output is in %s:\n%s\n' "$target" "$log" "$(tail -n 60 "$log")" >&2
    return 1
  fi
}
export -f fuzz

build=$1
limit=$2
shift 2
printf '%s\n' "$@" | xargs -P 2 -I TARGET bash -c "fuzz '$build' '$limit' TARGET"
