# shellcheck shell=bash disable=SC2154 # $seen is the caller's
# Checks whose names are sentences, printed as `ok N - sentence` or `not ok N - sentence` with what
# was seen instead. Sourced; needs $seen, a file for what a check prints.
passed=0 failed=0 attempt_id='' attempt_code=0

check() { # SENTENCE FUNCTION [ARGUMENT...]
  local sentence=$1 number=$((passed + failed + 1)) started=$EPOCHREALTIME
  shift
  attempt "$@"
  if ((attempt_code == 0)); then
    passed=$((passed + 1))
    printf 'ok %d - %s # %s\n' "$number" "$sentence" "$(seconds_since "$started")"
  else
    failed=$((failed + 1))
    printf 'not ok %d - %s # %s\n' "$number" "$sentence" "$(seconds_since "$started")"
    tail -n 100 "$seen" | sed 's/^/    /'
    if declare -F after_failure >/dev/null; then after_failure | sed 's/^/    /'; fi
  fi
}

leave_out() { printf '# left out - %s: %s\n' "$1" "$2"; } # SENTENCE REASON

# Runs a function to its first failure, in a shell of its own; what it prints goes to $seen, its exit
# code to $attempt_code. That is not its own exit code, since `set -e` does nothing in a function
# whose result is asked for: never call this after `if` or before `||`. In the background, so that a
# signal is acted on now and not after it.
attempt() { # FUNCTION [ARGUMENT...]
  (
    set -euo pipefail
    "$@"
  ) >"$seen" 2>&1 &
  attempt_id=$! attempt_code=0
  wait "$attempt_id" || attempt_code=$?
  attempt_id=''
}

end_attempt() { # for traps
  [[ -z $attempt_id ]] || kill "$attempt_id" 2>/dev/null || true
}

closing_line() {
  printf '%d passed, %d failed\n' "$passed" "$failed"
  ((failed == 0 && passed > 0))
}

seconds_since() { # EPOCHREALTIME
  local microseconds=$((${EPOCHREALTIME//[^0-9]/} - ${1//[^0-9]/}))
  printf '%d.%02d s' $((microseconds / 1000000)) $((microseconds / 10000 % 100))
}

# The words of a check. `becomes` and `shows` wait, a bounded time; `stays` watches the whole time.
becomes() { # EXPECTED SECONDS COMMAND...: what the command prints is EXPECTED, before long
  _eventually "'$1'" _equals "$@"
}

shows() { # REGULAR-EXPRESSION SECONDS COMMAND...: what the command prints matches, before long
  _eventually "a match of /$1/" _matches "$@"
}

stays() { # EXPECTED SECONDS COMMAND...: it is EXPECTED now and for so long
  local expected=$1 end=$((SECONDS + $2)) seen
  shift 2
  while ((SECONDS <= end)); do
    seen=$("$@" 2>&1) || true
    [[ $seen == "$expected" ]] || { _seen_instead "'$expected' all the time" "$*" "$seen" && return 1; }
    sleep 0.2
  done
}

is() { becomes "$1" 0 "${@:2}"; } # EXPECTED COMMAND...: now

_equals() { [[ $2 == "$1" ]]; }
_matches() { grep -Eq -- "$1" <<<"$2"; }

_eventually() { # WORDS COMPARE EXPECTED SECONDS COMMAND...
  local words=$1 compare=$2 expected=$3 end=$((SECONDS + $4)) within=$4 seen
  shift 4
  while :; do
    seen=$("$@" 2>&1) || true
    "$compare" "$expected" "$seen" && return
    ((SECONDS < end)) || break
    sleep 0.05
  done
  _seen_instead "$words within $within s" "$*" "$seen"
  return 1
}

_seen_instead() { # WORDS COMMAND SEEN
  printf 'expected %s\n' "$1"
  printf 'from     %s\n' "$2"
  printf 'saw last %s\n' "${3:-(nothing)}"
}
