# shellcheck shell=bash
# Starts and stops background programs. Source this file. Each program has a name. The state folder
# holds NAME.id, its process id and start time, and NAME.log, its output. Programs are stopped by
# process id, never by name. The start time identifies the process, because the kernel reuses
# process ids.

process_start_time() { # ID; fails if the process does not exist or is a zombie
  local stat
  local -a field
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  read -ra field <<<"${stat##*) }"
  [[ ${field[0]} != Z ]] && echo "${field[19]}"
}

process_start() { # STATE NAME COMMAND...
  local state=$1 name=$2
  shift 2
  # setsid starts a new session, so that Ctrl-C in a terminal reaches only the script. The script
  # then stops its programs.
  (cd "$state" && exec setsid "$@" >>"$state/$name.log" 2>&1 </dev/null) &
  echo "$! $(process_start_time $! || true)" >"$state/$name.id"
}

process_id() { # STATE NAME; prints the process id; fails if the program is not running
  local id start_time
  read -r id start_time 2>/dev/null <"$1/$2.id" || return 1
  [[ -n $start_time && $(process_start_time "$id") == "$start_time" ]] && echo "$id"
}

process_stop() { # STATE NAME [SIGNAL]; blocks until the process has ended; sends KILL after 60 s
  local id signal=${3:-KILL} waited
  id=$(process_id "$1" "$2") || return 0
  kill -s "$signal" "$id" 2>/dev/null || true
  for ((waited = 0; waited < 6000; ++waited)); do
    process_id "$1" "$2" >/dev/null || return 0
    sleep 0.01
  done
  kill -s KILL "$id" 2>/dev/null || true
}

process_stop_all() { # STATE
  local file
  for file in "$1"/*.id; do
    [[ ! -e $file ]] || process_stop "$1" "$(basename "$file" .id)"
  done
}
