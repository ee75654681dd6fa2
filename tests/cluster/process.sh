# shellcheck shell=bash
# Programs that a script starts and must end. Sourced. A program has a name: NAME.id in the state
# folder says which process it is, NAME.log is what it printed. Programs are ended by id, never by
# name, and an id counts only together with the moment of birth: ids are given out again.

process_birth() { # ID; fails when there is no such process, or only its zombie
  local stat
  local -a field
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  read -ra field <<<"${stat##*) }"
  [[ ${field[0]} != Z ]] && echo "${field[19]}"
}

process_start() { # STATE NAME COMMAND...
  local state=$1 name=$2
  shift 2
  # A session of its own: Ctrl-C in a terminal reaches the script, which then ends what it started.
  (cd "$state" && exec setsid "$@" >>"$state/$name.log" 2>&1 </dev/null) &
  echo "$! $(process_birth $! || true)" >"$state/$name.id"
}

process_id() { # STATE NAME; fails when it does not run
  local id birth
  read -r id birth 2>/dev/null <"$1/$2.id" || return 1
  [[ -n $birth && $(process_birth "$id") == "$birth" ]] && echo "$id"
}

process_stop() { # STATE NAME [SIGNAL]: returns when it is gone; KILL follows after 10 s
  local id signal=${3:-KILL} waited
  id=$(process_id "$1" "$2") || return 0
  kill -s "$signal" "$id" 2>/dev/null || true
  for ((waited = 0; waited < 1000; ++waited)); do
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
