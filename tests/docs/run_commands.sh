#!/usr/bin/env bash
# Runs the commands of a section of a page as a reader would, in the folder of the page: the fenced
# blocks that follow a line `<!-- run -->`. Stops at the first failure. Fails if there are none.
#   run_commands.sh PAGE HEADING
set -euo pipefail

text=$("$(dirname "${BASH_SOURCE[0]}")/section.sh" "$1" "$2")
commands=$(awk '
  /^<!-- run -->$/ { marked = 1; next }
  /^```/ { printing = marked && !printing; marked = 0; next }
  printing' <<<"$text")
[[ -n $commands ]] || { echo "run_commands.sh: section \"$2\" of $1 has no commands after a line <!-- run -->" >&2 && exit 1; }
cd "$(dirname "$1")"
# The reader's shell is not part of a `make` that runs this script.
exec env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL bash -euo pipefail -c "$commands"
