# shellcheck shell=bash disable=SC2154 # shared with ../sample_controller_test.sh
# Compares the controller's writes with those of the Go sample controller: see ../audit/README.md.
# shellcheck source-path=SCRIPTDIR source=../audit/scenarios.sh
source "$here/audit/scenarios.sh"

check_audit() {
  local scenario
  local -a completed=()
  for scenario in "${scenarios[@]}"; do
    if [[ $server == kopp && $scenario == *-foo ]]; then # it deletes a Foo
      skip_check "Scenario $scenario" "$garbage_collection"
    else
      check "Scenario $scenario completes" run_scenario "$scenario"
      completed+=("$scenario")
    fi
  done
  # Compare at the end, so that unexpected late writes are detected too.
  for scenario in "${completed[@]}"; do
    check "Scenario $scenario has the writes and Events of the Go controller" writes_match_go_controller "$scenario"
  done
}

run_scenario() { # SCENARIO
  controller_is_running || start_controller_process
  use_new_namespace "audit-$1"
  "scenario_${1//-/_}"
}

# Retries, because Events are written later than other objects.
writes_match_go_controller() { eventually_equals "" diff_writes "$1"; } # SCENARIO

diff_writes() { # SCENARIO
  diff -U 4 --label "Go: audit/expected/$1.json" --label "controller under test" \
    <(jq -S . "$here/audit/expected/$1.json") <(actual_writes "$1")
}

actual_writes() { # SCENARIO
  jq -nSRf "$here/audit/writes.jq" --arg namespace "audit-$1" \
    --arg user "$controller_user" "$state/audit.log"
}
