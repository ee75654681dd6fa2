# shellcheck shell=bash disable=SC2154 # shared with ../sample_controller_test.sh
# What the controller writes, compared with what the Go sample controller writes: see ../audit/README.md.
# shellcheck source-path=SCRIPTDIR source=../audit/scenarios.sh
source "$here/audit/scenarios.sh"

check_audit() {
  local scenario
  local -a played=()
  for scenario in "${scenarios[@]}"; do
    if [[ $server == kopp && $scenario == *-foo ]]; then # deletes one
      leave_out "The scenario $scenario" "$garbage"
    else
      check "The scenario $scenario comes to its end" play "$scenario"
      played+=("$scenario")
    fi
  done
  # All are compared at the end, when a write too many has had time to come.
  for scenario in "${played[@]}"; do
    check "In the scenario $scenario, writes and Events are the Go controller's" as_expected "$scenario"
  done
}

play() { # SCENARIO
  controller_runs || controller_start
  in_namespace "audit-$1"
  "scenario_${1//-/_}"
}

as_expected() { becomes "" 10 difference "$1"; } # SCENARIO; Events are written a little later than all else

difference() { # SCENARIO
  diff -U 4 --label "Go: audit/expected/$1.json" --label "the controller under test" \
    <(jq -S . "$here/audit/expected/$1.json") <(written "$1")
}

written() { # SCENARIO
  jq -nSRf "$here/audit/writes.jq" --arg namespace "audit-$1" \
    --arg user "$controller_user" "$state/audit.log"
}
