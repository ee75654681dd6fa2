#!/usr/bin/env bash
# Runs a page as a reader would: writes its files and runs its commands in an empty folder.
#   run_page.sh PAGE PREFIX LEAST [HEADING]
#     PREFIX   the folder where kopp is installed; the page sees it as ~/kopp. Empty: the page installs it
#     LEAST    fails if the page has fewer blocks
#     HEADING  run only this section
#
# An HTML comment on the line above each fenced block says what the block is:
#   <!-- file: PATH -->       the content of a file, which is written
#   <!-- append: PATH -->     text that is added to a file
#   <!-- run -->              commands; each must succeed. Exports and cd last until the end
#   <!-- run in the clone --> commands that install kopp from its clone; skipped if it is installed
#   <!-- run until output --> commands that only read; repeated until the output below is seen
#   <!-- start: NAME -->      a command that keeps running, as in a terminal of its own
#   <!-- output -->           lines that the commands above print; "…" stands for any lines, and
#                             spaces and times are not compared
#   <!-- not run: REASON -->  not executed
# Alone on a line:
#   <!-- wait for: PATH -->   waits until a started command has created a file
#   <!-- stop: NAME -->       sends Ctrl-C to a started command and expects exit code 0
set -euo pipefail

# shellcheck source=tests/at_exit.sh
source "$(dirname "${BASH_SOURCE[0]}")/../at_exit.sh"

page=$(realpath "$1")
prefix=${2:+$(realpath "$2")}
least=$3
seconds_to_wait=60

work=$(mktemp -d)
home=$work/home
here=$work/empty # the reader's folder
mkdir "$home" "$here"
[[ -z $prefix ]] || ln -s "$prefix" "$home/kopp"
declare -A started=() # name → process group

clean_up() {
  local group
  for group in "${started[@]}"; do
    if kill -TERM -- "-$group" 2>/dev/null; then sleep 1; fi
    kill -KILL -- "-$group" 2>/dev/null || true
  done
  rm -rf "$work"
}
at_exit clean_up

fail() { # MESSAGE [FILE...]
  local file
  printf '%s:%d: %s\n' "$page" "$block_line" "$1" >&2
  for file in "${@:2}"; do
    printf -- '--- %s:\n' "$(basename "$file")" >&2
    cat "$file" >&2
  done
  exit 1
}

# Between two blocks the environment and the folder of the reader's shell are kept in files.
# Nothing of the machine's own configuration is used, and local requests go to no proxy.
(
  cd "$here"
  export CCACHE_DIR=${CCACHE_DIR:-$HOME/.cache/ccache} HOME=$home no_proxy=127.0.0.1
  unset MAKEFLAGS MFLAGS MAKELEVEL KUBECONFIG WATCH_NAMESPACE KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT
  declare -px >"$work/environment"
)
printf '%s\n' "$here" >"$work/folder"

cat >"$work/shell" <<'SCRIPT'
set -euo pipefail
source "$1/environment"
cd "$(<"$1/folder")"
source "$2"
[[ $3 == keep ]] || exit 0
declare -px >"$1/environment"
pwd >"$1/folder"
SCRIPT

shell() { # FILE
  env -i bash "$work/shell" "$work" "$1" keep </dev/null
}

other_terminal() { # FILE: what it exports is not kept
  env -i --default-signal=INT bash "$work/shell" "$work" "$1" forget </dev/null
}

normalized() { # FILE
  sed -E 's/[0-9]+\.[0-9]+ (m?s)\b/TIME \1/g; s/[[:space:]]+/ /g; s/^ //; s/ $//' "$1"
}

# Each line of "expected" is a line of the file.
is_in() { # FILE
  local line
  normalized "$1" >"$work/actual"
  while IFS= read -r line; do
    [[ -z $line || $line == … ]] || grep -qxF -- "$line" "$work/actual" || return 1
  done < <(normalized "$work/expected")
}

wait_for() { # COMMAND...: until it succeeds
  local deadline=$((SECONDS + seconds_to_wait))
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}

printed=  # the file with the output of the last command
repeated= # the last command, if it is repeated until its output is as expected

once_more() {
  shell "$repeated" >"$printed" 2>&1 && is_in "$printed"
}

do_block() { # KIND ARGUMENT FILE
  local kind=$1 argument=$2 block=$3 target
  target=$(<"$work/folder")/$argument
  case $kind in
    file | append)
      mkdir -p "$(dirname "$target")"
      if [[ $kind == file ]]; then cp "$block" "$target"; else cat "$block" >>"$target"; fi
      ;;
    run)
      printed=$work/printed repeated=
      shell "$block" >"$printed" 2>&1 || fail "these commands failed" "$block" "$printed"
      ;;
    'run in the clone')
      [[ -z $prefix ]] || return 0
      printed=$work/printed repeated=
      # shellcheck disable=SC2016 # the inner shell expands these
      (cd "$(dirname "$page")" && env -i bash -c 'source "$1/environment" && source "$2"' _ "$work" "$block") \
        </dev/null >"$printed" 2>&1 || fail "these commands failed" "$block" "$printed"
      ;;
    'run until output')
      printed=$work/printed repeated=$work/repeated
      cp "$block" "$repeated"
      ;;
    start)
      printed=$work/$argument.log repeated=
      cp "$block" "$work/$argument.sh"
      set -m # its own process group, and Ctrl-C is not ignored
      other_terminal "$work/$argument.sh" >"$printed" 2>&1 &
      started[$argument]=$!
      set +m
      ;;
    output)
      cp "$block" "$work/expected"
      if [[ -z $printed ]]; then fail "no command has printed this" "$block"; fi
      if [[ -n $repeated ]]; then
        wait_for once_more || fail "this is not printed" "$block" "$repeated" "$printed"
        repeated=
      else
        wait_for is_in "$printed" || fail "this is not printed" "$block" "$printed"
      fi
      ;;
    'not run') ;;
    *) fail "unknown marker \"$kind\"" ;;
  esac
}

stop() { # NAME
  local group=${started[$1]-} code=0
  [[ -n $group ]] || fail "\"$1\" was not started"
  kill -INT -- "-$group"
  wait "$group" || code=$?
  unset "started[$1]"
  ((code == 0)) || fail "\"$1\" ended with exit code $code" "$work/$1.log"
}

if [[ -n ${4-} ]]; then
  "$(dirname "${BASH_SOURCE[0]}")/section.sh" "$page" "$4" >"$work/page"
else
  cp "$page" "$work/page"
fi

kind=
argument=
inside=false
count=0
number=0
block_line=0
while IFS= read -r line <&3; do
  number=$((number + 1))
  if $inside; then
    if [[ $line == '```' ]]; then
      inside=false
      do_block "$kind" "$argument" "$work/block"
      count=$((count + 1))
      kind=
    else
      printf '%s\n' "$line" >>"$work/block"
    fi
  elif [[ $line == '```'* ]]; then
    block_line=$number
    [[ -n $kind ]] || fail "no comment above this block says what it is"
    [[ -z $repeated || $kind == output ]] || fail "the output of the block above is missing"
    inside=true
    : >"$work/block"
  elif [[ $line =~ ^'<!-- '([a-z ]+)(': '(.*))?' -->'$ ]]; then
    block_line=$number
    kind=${BASH_REMATCH[1]}
    argument=${BASH_REMATCH[3]-}
    case $kind in
      stop)
        stop "$argument"
        kind=
        ;;
      'wait for')
        wait_for test -e "$(<"$work/folder")/$argument" || fail "there is no $argument" "$printed"
        kind=
        ;;
    esac
  fi
done 3<"$work/page"
$inside && fail "this block has no end"
((${#started[@]} == 0)) || fail "still running at the end: ${!started[*]}"
((count >= least)) || fail "only $count blocks were found, instead of $least"
printf '%s: all %d blocks do what the page says\n' "$page" "$count"
