#!/usr/bin/env bash
# Runs the tests of `make test` and `make test-apiserver` again and again beside four busy processes, the last time on one core:
# `make stress`. Each round has another seed. Lists each test that failed at least once, with its output.
#   stress.sh PRESET ROUNDS    PRESET: of the build, which must be complete
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tests/at_exit.sh
source tests/at_exit.sh
# shellcheck source=tests/steps.sh
source tests/steps.sh

preset=$1 rounds=$2
logs=$(mktemp -d)
busy=()
clean_up() {
  kill "${busy[@]}" 2>/dev/null
  rm -rf "$logs"
}
at_exit clean_up

# Prints the number of the first core that this process may use.
first_core() { taskset --cpu-list --pid "$$" | sed -E 's/.*: *([0-9]+).*/\1/'; }

for _ in {1..4}; do
  (while kill -0 "$$" 2>/dev/null; do for _ in {1..100000}; do :; done; done) & # ends with this script
  busy+=("$!")
done
for ((round = 1; round <= rounds; ++round)); do
  one_core=()
  ((round < rounds)) || one_core=(taskset --cpu-list "$(first_core)")
  run_step "$round" env KOPP_TEST_SEED="$round" "${one_core[@]}" ctest --preset "$preset" -j "$(nproc)" --label-exclude verify || true
done
report_failed_steps || { printf '\nmake stress: tests failed in %d of %d rounds: see above\n' "${#failed_steps[@]}" "$rounds" && exit 1; }
printf '\nmake stress: no test failed in %d rounds\n' "$rounds"
