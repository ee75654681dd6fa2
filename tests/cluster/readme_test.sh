#!/usr/bin/env bash
# Runs the commands of the sections "Try it without a cluster" and "Write an operator" of README.md,
# and checks what a reader sees. node_test.sh runs those of "Install with Helm".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=tests/at_exit.sh
source "$here/../at_exit.sh"
# shellcheck source-path=SCRIPTDIR source=check.sh
source "$here/check.sh"

main() {
  folder=$(mktemp -d)
  check_output=$folder/check_output
  at_exit clean_up
  mkdir "$folder/temporary"
  check "README.md, try it without a cluster: the commands show the controller's work and end by themselves" demo
  check "README.md, write an operator: the commands install kopp, build the program, and run it" operator
  print_summary
}

operator() { TMPDIR=$folder/temporary "$root/tests/docs/run_page.sh" "$root/README.md" "" 6 "Write an operator"; }

demo() {
  TMPDIR=$folder/temporary "$root/tests/docs/run_commands.sh" "$root/README.md" "Try it without a cluster" | tee "$folder/output"
  matches 'The controller creates Deployment example-foo with 1 replica .*[0-9] m?s' cat "$folder/output"
  matches 'The controller scales the Deployment to 3 .*[0-9] m?s' cat "$folder/output"
  matches 'The controller creates it again with 3 replicas .*[0-9] m?s' cat "$folder/output"
  equals "" ls "$folder/temporary"
}

clean_up() {
  kill_check
  rm -rf "$folder"
}

main "$@"
