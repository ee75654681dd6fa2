#!/usr/bin/env bash
# Fuzzes each target for SECONDS, two targets at a time: `make fuzz SECONDS=60 TARGETS="json selector"`.
#
#     run.sh BUILD SECONDS TARGET...
#
# Below the folder BUILD, writes inputs that reach new code to corpus/TARGET, inputs that fail to
# findings/TARGET-*, and the output of a target to logs/TARGET.log. Prints the log of a target that
# fails. The targets have a low priority, because CI runs other tests at the same time.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Short stack traces (malloc_context_size) and -entropic=0 make the fuzzer about 1.5 times as fast.
fuzz() { # BUILD SECONDS TARGET
  local build=$1 seconds=$2 target=$3
  local folder=tests/fuzz seeds=tests/fuzz/seeds/$target log=$1/logs/$3.log
  local options=(-max_len=4096)
  if [[ $target == apiserver ]]; then
    folder=tests/apiserver/fuzz
    seeds=$folder/seeds
    options=(-max_len=8192 "-dict=$folder/api.dict")
  fi
  mkdir -p "$build/corpus/$target" "$build/findings" "$build/logs"
  if ASAN_OPTIONS=malloc_context_size=8 nice "$build/$folder/${target}_fuzz" \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -entropic=0 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$target-" "${options[@]}" \
    "$build/corpus/$target" "$seeds" >"$log" 2>&1; then
    printf '%s: no finding in %s s, %s inputs\n' "$target" "$seconds" \
      "$(awk '/number_of_executed_units/ { print $2 }' "$log")"
  else
    printf '%s: FINDING; the output is in %s:\n%s\n' "$target" "$log" "$(tail -n 60 "$log")" >&2
    return 1
  fi
}
export -f fuzz

build=$1
seconds=$2
shift 2
printf '%s\n' "$@" | xargs -P 2 -I TARGET bash -c "fuzz '$build' '$seconds' TARGET"
