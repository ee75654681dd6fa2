# shellcheck shell=bash disable=SC2154
# Runs steps one after the other, also after one that fails. Source this file; the sourcing script sets $logs to a folder for the
# output of the steps.
export WERROR=1 # a warning of the compiler fails a step
failed_steps=() step_seconds=0

# Runs a command. Returns whether it has succeeded.
run_step() { # NAME COMMAND...
  local name=$1 started=$SECONDS result=0
  shift
  printf '\n==> %s\n' "$*"
  "$@" </dev/null 2>&1 | tee "$logs/$name" || result=1
  step_seconds=$((SECONDS - started))
  printf '==> done in %d s: %s\n' "$step_seconds" "$*"
  ((result == 0)) || failed_steps+=("$name")
  return "$result"
}

# Prints the output of the steps that failed, and returns whether there is none.
report_failed_steps() {
  local name
  for name in "${failed_steps[@]}"; do
    printf '\n==> output of the failed step %s:\n' "$name"
    without_passed <"$logs/$name"
  done
  ((${#failed_steps[@]} == 0))
}

# Removes the lines that ninja prints for each file, and ctest for each test that passed.
without_passed() {
  grep -Ev '^\[[0-9]+/[0-9]+\] |^ +Start +[0-9]+: |^ *[0-9]+/[0-9]+ Test +#[0-9]+: .* Passed '
}
