#!/usr/bin/env bash
# Prints a section of a page. Lines outside of the section are empty, so that line numbers stay.
#   section.sh PAGE HEADING
set -euo pipefail

awk -v heading="## $2" '
  /^```/ { inside = !inside }
  !inside && /^##? / { wanted = $0 == heading; found = found || wanted }
  { print(wanted ? $0 : "") }
  END { exit !found }' "$1" || { echo "section.sh: $1 has no section \"$2\"" >&2 && exit 1; }
