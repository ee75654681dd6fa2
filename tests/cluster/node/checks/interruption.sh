# shellcheck shell=bash disable=SC2154 # shared with ../../node_test.sh
# Checks of a run of node_test.sh that a signal ends.

# Starts a run, sends the signal while the Pods of the operator run, and looks for anything that is
# left. INT is sent to all processes of the run, like Ctrl-C in a terminal.
interrupted() { # SIGNAL
  local temporary=$folder/$1 output=$folder/$1.output processes=$folder/$1.processes namespaces=$folder/$1.namespaces
  local runner control_group code=0
  mkdir "$temporary"
  set -m # a process group of its own
  TMPDIR=$temporary env --default-signal=INT "$here/node_test.sh" once >"$output" 2>&1 &
  runner=$!
  set +m
  # shellcheck disable=SC2064 # expand the process id now
  trap "kill $runner; wait $runner" EXIT
  patience=300 eventually_matches '^ok 1 ' cat "$output"
  processes_of "$runner" >"$processes"
  processes_of "$(process_id "$(echo "$temporary"/*/node)" init)" >>"$processes"
  matches ' sample-controll$' cat "$processes"
  namespaces_of "$processes" >"$namespaces"
  matches '^net:' cat "$namespaces"
  control_group=$(cat "$temporary"/*/node/node)
  trap - EXIT
  if [[ $1 == INT ]]; then kill -INT -- "-$runner"; else kill "-$1" "$runner"; fi
  wait "$runner" || code=$?
  equals $((128 + $(kill -l "$1"))) echo "$code"
  eventually_equals "" still_running "$processes"
  eventually_equals "" users_of_namespaces "$namespaces" # until zombies are reaped
  equals "" grep -F "$temporary" /proc/mounts
  equals "" find /sys/fs/cgroup -maxdepth 2 -name "$control_group"
  equals "" find /sys/class/net/ -name cni0 -o -name node0
  equals "" find "$temporary" -mindepth 1
}

# Prints the process and its descendants: process id, start time, name.
processes_of() { # ID
  local child
  echo "$1 $(process_start_time "$1") $(cat "/proc/$1/comm")"
  while read -r child; do processes_of "$child"; done < <(cat /proc/"$1"/task/*/children | tr ' ' '\n')
} 2>/dev/null # a process may end meanwhile

still_running() { # PROCESSES
  local id start_time command
  while read -r id start_time command; do
    if [[ $(process_start_time "$id") == "$start_time" ]]; then echo "$id $command"; fi
  done <"$1"
}

# Prints the namespaces of these processes in which this script is not.
namespaces_of() { # PROCESSES
  local id _
  while read -r id _; do readlink "/proc/$id/ns/"* || true; done <"$1" | sort -u | grep -vxFf <(readlink /proc/self/ns/*)
}

# Prints processes and mounts that keep one of these namespaces.
users_of_namespaces() { # NAMESPACES
  find /proc/[0-9]*/ns -type l -printf '%p %l\n' 2>/dev/null | grep -Ff "$1"
  grep -Ff "$1" /proc/self/mountinfo
}
