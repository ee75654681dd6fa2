# shellcheck shell=bash disable=SC2154 # the sourcing script sets $check_output
# Runs checks and prints a result line for each: `ok N - DESCRIPTION`, or `not ok N - DESCRIPTION`
# followed by the output of the check. Source this file; the sourcing script sets $check_output to
# the name of a file for that output.
passed=0 failed=0 check_pid='' check_exit_code=0

check() { # DESCRIPTION FUNCTION [ARGUMENT...]
  local description=$1 number=$((passed + failed + 1)) started=$EPOCHREALTIME
  shift
  run_check "$@"
  if ((check_exit_code == 0)); then
    passed=$((passed + 1))
    printf 'ok %d - %s # %s\n' "$number" "$description" "$(seconds_since "$started")"
  else
    failed=$((failed + 1))
    printf 'not ok %d - %s # %s\n' "$number" "$description" "$(seconds_since "$started")"
    tail -n 100 "$check_output" | sed 's/^/    /'
    if declare -F print_failure_context >/dev/null; then print_failure_context | sed 's/^/    /'; fi
  fi
}

skip_check() { # DESCRIPTION REASON
  printf '# skipped - %s: %s\n' "$1" "$2"
}

# Runs a function in a subshell until its first failing command. Its output goes to $check_output
# and its exit code to $check_exit_code. run_check itself always returns 0. Never call it after `if`
# or before `||`: bash ignores `set -e` inside a function whose exit code is tested. The subshell
# runs in the background, so that this shell handles a signal immediately.
run_check() { # FUNCTION [ARGUMENT...]
  (
    set -euo pipefail
    "$@"
  ) >"$check_output" 2>&1 &
  check_pid=$! check_exit_code=0
  wait "$check_pid" || check_exit_code=$?
  check_pid=''
}

kill_check() { # call this from traps
  [[ -z $check_pid ]] || kill "$check_pid" 2>/dev/null || true
}

print_summary() {
  printf '%d passed, %d failed\n' "$passed" "$failed"
  ((failed == 0 && passed > 0))
}

seconds_since() { # EPOCHREALTIME
  local microseconds=$((${EPOCHREALTIME//[^0-9]/} - ${1//[^0-9]/}))
  printf '%d.%02d s' $((microseconds / 1000000)) $((microseconds / 10000 % 100))
}

# Assertions for checks. They run COMMAND and compare its output, stderr included. The `eventually_`
# forms repeat COMMAND until the comparison succeeds or $patience seconds have passed. That is the time
# after which a program hangs, on a slow machine: no check may depend on it to succeed or to fail.
# `patience=120 eventually_equals …` is for what takes longer by design.
patience=60
equals() { patience=0 eventually_equals "$@"; }   # EXPECTED COMMAND...
matches() { patience=0 eventually_matches "$@"; } # REGULAR-EXPRESSION COMMAND...

eventually_equals() { # EXPECTED COMMAND...
  _eventually "'$1'" _text_equals "$@"
}

eventually_matches() { # REGULAR-EXPRESSION COMMAND...
  _eventually "a match of /$1/" _text_matches "$@"
}

_text_equals() { [[ $2 == "$1" ]]; }
_text_matches() { grep -Eq -- "$1" <<<"$2"; }

_eventually() { # EXPECTATION COMPARE EXPECTED COMMAND...
  local expectation=$1 compare=$2 expected=$3 actual
  local end=$((${EPOCHREALTIME//[^0-9]/} + patience * 1000000))
  shift 3
  while :; do
    actual=$("$@" 2>&1) || true
    "$compare" "$expected" "$actual" && return
    ((${EPOCHREALTIME//[^0-9]/} < end)) || break
    sleep 0.05
  done
  printf 'expected: %s within %s s\n' "$expectation" "$patience"
  printf 'command:  %s\n' "$*"
  printf 'actual:   %s\n' "${actual:-(no output)}"
  return 1
}
