#!/usr/bin/env bash
# Runs all checks that are not part of the gate (.ci/run), one after the other: `make verify`. Runs all of them, also after a failure. A
# step that has passed since its inputs last changed is not run again, so the checks can be run in parts and be interrupted. Prints a line
# for each step at the end, and writes their output to build/verify.
#   verify.sh [STEP...]    run only these steps
#   KOPP_CACHE             the folder that remembers what has passed (default: $XDG_CACHE_HOME/kopp, usually ~/.cache/kopp)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tests/steps.sh
source tests/steps.sh

passed_folder=${KOPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kopp}/verify
logs=build/verify

readonly steps=(check-headers shared fetch-content asan tsan fuzz starts tidy charts image cluster node soak)
declare -A commands=(
  [asan]="make -k test test-apiserver PRESET=asan"
  # Without the tests of cpprestsdk: it and its Boost are not instrumented for tsan, which would report false races.
  [tsan]="make -k test test-apiserver PRESET=tsan"
  [shared]=test_shared_libraries
  [fetch-content]=fetch_content
  [fuzz]="make fuzz RUNS=20000"
  [starts]=start_and_stop
  [check-headers]="make check-headers"
  [tidy]="make tidy"
  [charts]="make test-charts"
  [image]="make test-image"
  [cluster]="make test-cluster"
  [node]="make test-node"
  [soak]="make soak SEED=1"
)

# Files that only some steps read, and these steps. All steps read all other files, but the pages: nothing here reads these.
readonly readers='
.ci                       none
.clang-tidy               tidy
charts/sample-controller  charts node
cmake/clang_tidy.sh       tidy
controllers/image         image node
tests/bench/*.sh          none
tests/charts              charts
tests/cluster             charts cluster node soak
tests/controllers/image   image node
tests/dependencies.cmake  none
tests/differences         none
tests/docs                shared cluster node
tests/fuzz/run.sh         fuzz
tests/packages_test.sh    none
tests/platforms           none
tests/soak/run.sh         soak
tests/stress.sh           none
tests/subproject          shared fetch-content
tests/tsan_suppressions.txt tsan
tests/verify.sh           none
'

test_shared_libraries() { make build PRESET=shared && ctest --preset shared -j "$(nproc)"; }

fetch_content() { make build/default/build.ninja && ctest --preset default --label-regex verify; }

start_and_stop() {
  make build-apiserver &&
    KOPP_START_STOP_ROUNDS=1000 timeout 600 build/default/tests/apiserver/apiserver_test --gtest_filter='StartStopTest.*' |
    tee "$logs/rounds" && grep -q '^\[  PASSED  \] [1-9]' "$logs/rounds"
}

main() { # [STEP...]
  (($# > 0)) || set -- "${steps[@]}"
  local name
  for name; do
    [[ -n ${commands[$name]:-} ]] || { echo "verify.sh: there is no step '$name'; there are: ${steps[*]}" >&2 && exit 2; }
  done
  mkdir -p "$logs" "$passed_folder"
  index=$(mktemp)
  trap 'rm -f "$index"' EXIT
  local -a results=()
  for name; do
    verify "$name"
    results+=("$(printf '%-13s  %-13s  %6s s  %s' "$name" "$result" "$seconds" "$commit")")
  done
  local code=0
  report_failed_steps || code=1
  printf '\n'
  printf '%s\n' "${results[@]}"
  return "$code"
}

# Sets $result, $seconds and $commit.
verify() { # STEP
  local inputs before=''
  inputs=$(hash_inputs "$1")
  read -r before seconds commit 2>/dev/null <"$passed_folder/$1" || true
  if [[ $before == "$inputs" ]]; then
    result="passed before"
    return
  fi
  commit=$(git describe --always --dirty --abbrev=10 --exclude='*')
  result=FAILED
  # shellcheck disable=SC2086 # the command is a list of words
  if run_step "$1" ${commands[$1]}; then
    result=passed
    # Not if a file was edited meanwhile.
    [[ $(hash_inputs "$1") != "$inputs" ]] || echo "$inputs $step_seconds $commit" >"$passed_folder/$1"
  fi
  seconds=$step_seconds
}

# Prints a hash of the files that a step reads, as they are in this folder: committed or not. helm-docs checks the pages of charts.
hash_inputs() { # STEP
  local path names
  local -a not_read=(':!docs' ':!*.md')
  while read -r path names; do
    [[ -z $path || " $names " == *" $1 "* ]] || not_read+=(":!$path")
  done <<<"$readers"
  cp "$(git rev-parse --git-path index)" "$index"
  GIT_INDEX_FILE=$index git add --all
  { GIT_INDEX_FILE=$index git ls-files --stage -- . "${not_read[@]}"
    GIT_INDEX_FILE=$index git ls-files --stage -- 'charts/*.md'; } | sha256sum | cut -d' ' -f1
}

main "$@"
