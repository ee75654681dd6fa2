# shellcheck shell=bash
# Source this file.

# Calls FUNCTION once at the end of the script, also after a failed command, a signal or a closed stdout. FUNCTION runs
# to its end: failed commands and further signals do not end it. The script keeps its exit code.
at_exit() { # FUNCTION
  # shellcheck disable=SC2064 # FUNCTION is expanded now
  trap "_end_script $1 \$?" EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  trap 'exit 141' PIPE
}

_end_script() { # FUNCTION EXIT-CODE
  set +eu
  trap '' INT TERM HUP PIPE
  "$1"
  exit "$2"
}
