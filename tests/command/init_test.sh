#!/usr/bin/env bash
# Tests a new project: runs the four commands at the start of docs/command.md in an empty folder,
# and prints the time until the operator has reconciled the sample. Fails if that needs 300 s of CPU time
# or more. Then creates a second object, adds webhooks, and tests the other commands of the project.
#   init_test.sh PREFIX    PREFIX: the folder where kopp is installed
set -euo pipefail

# shellcheck source=tests/at_exit.sh
source "$(dirname "${BASH_SOURCE[0]}")/../at_exit.sh"

# The limit in seconds of CPU time. CPU time does not depend on other load of the machine. On two idle
# cores, 300 s of CPU time take less than the five minutes that docs/command.md promises.
limit=300
page=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../docs/command.md")
prefix=$(realpath "$1")
work=$(mktemp -d)
operator= # the process group of `make run`
clean_up() {
  [[ -z $operator ]] || kill -KILL -- "-$operator" 2>/dev/null || true
  rm -rf "$work"
}
at_exit clean_up

fail() { # MESSAGE [FILE]
  printf '%s\n' "$1" >&2
  [[ $# -lt 2 ]] || cat "$2" >&2
  exit 1
}

run() { # COMMAND...
  "$@" >"$work/output" 2>&1 </dev/null || fail "$* failed:" "$work/output"
}

wait_for() { # MESSAGE COMMAND...; fails after a minute: then something hangs
  local deadline=$((SECONDS + 60)) message=$1
  shift
  until "$@"; do
    ((SECONDS < deadline)) || fail "$message:" "$work/operator.log"
    sleep 0.1
  done
}

# Sets $cpu_seconds to the CPU time of all commands so far, in whole seconds.
measure_cpu_time() {
  times >"$work/times" # not in a subshell, which would report only its own commands
  cpu_seconds=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' "$work/times")
}

four_commands() { # the first block of the page, without comments
  awk '/^```/ { if (inside) exit; inside = 1; next } inside { sub(/ *#.*/, ""); print }' "$page"
}

start_operator() { # COMMAND
  set -m # starts the job in its own process group, where SIGINT is not ignored
  bash -c "exec $1" >"$work/operator.log" 2>&1 </dev/null &
  operator=$!
  set +m
}

has_printed() { grep -q -- "$1" "$work/operator.log"; }

# Reads a value of the kubeconfig that `make run` prints, in which each value has a line of its own.
kubeconfig() { # KEY
  local file
  file=$(sed -n 's/^ *export KUBECONFIG=//p' "$work/operator.log")
  sed -n "s/^[- ]*$1: //p" "$file" | tr -d '"'
}

request() { # METHOD PATH [BODY]
  curl --silent --show-error --fail-with-body --max-time 60 --cacert "$work/ca.crt" --request "$1" \
    --header "Authorization: Bearer $(kubeconfig token)" --header 'Content-Type: application/json' \
    ${3:+--data "$3"} "$(kubeconfig server)$2"
}

has_message() { # NAME MESSAGE
  [[ $(request GET "/api/v1/namespaces/default/configmaps/$1" 2>/dev/null | jq -r .data.message 2>/dev/null) == "$2" ]]
}

has_status() { # NAME
  [[ $(request GET "/apis/example.com/v1alpha1/namespaces/default/websites/$1" | jq -r .status.configMap) == "$1" ]]
}

stop_operator() { # as Ctrl-C does
  local code=0
  kill -INT -- "-$operator"
  wait "$operator" || code=$?
  operator=
  has_printed 'The demo has stopped' || fail "after Ctrl-C, make run ended with exit code $code and did not print 'The demo has stopped':" "$work/operator.log"
}

# The test ignores the configuration of the machine, and sends local requests without a proxy.
export PATH=$prefix/bin:$PATH HOME=$work no_proxy=127.0.0.1
unset KUBECONFIG WATCH_NAMESPACE KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT MAKEFLAGS MFLAGS MAKELEVEL
mkdir "$work/empty"
cd "$work/empty"

mapfile -t commands < <(four_commands)
((${#commands[@]} == 4)) || fail "the page has ${#commands[@]} commands instead of four: ${commands[*]}"
started=$SECONDS
for command in "${commands[@]:0:3}"; do
  eval "$command" >"$work/output" 2>&1 </dev/null || fail "$command failed:" "$work/output"
done
grep -q '100% tests passed, 0 tests failed out of 2' "$work/output" || fail 'the tests did not pass:' "$work/output"
start_operator "${commands[3]}"
# make run creates the sample after the operator has started its watches.
wait_for 'make run did not write the status of the sample' has_printed 'patch *websites.status sample'
took=$((SECONDS - started))
measure_cpu_time

# The operator also reconciles a second object.
wait_for 'make run did not print its kubeconfig' has_printed 'export KUBECONFIG='
kubeconfig certificate-authority-data | base64 --decode >"$work/ca.crt"
run request POST /apis/example.com/v1alpha1/namespaces/default/websites \
  '{"apiVersion":"example.com/v1alpha1","kind":"Website","metadata":{"name":"second"},"spec":{"message":"Hi"}}'
wait_for 'the operator did not reconcile the second object' has_message second Hi
wait_for 'the operator did not write the status of the second object' has_status second
stop_operator

printf 'kopp init: the operator was running after %d s and %d s of CPU time\n' "$took" "$cpu_seconds"
((cpu_seconds < limit)) || fail "kopp init, build, tests and make run took $cpu_seconds s of CPU time; the limit is $limit s"

# CMake accepts the presets of the sanitizers. The test does not build them: that takes too long.
for preset in asan tsan; do
  run cmake --list-presets=all
  (($(grep -c "\"$preset\"" "$work/output") == 3)) || fail "cmake does not list three presets $preset:" "$work/output"
  run make --dry-run "test-$preset"
  grep -q "ctest --preset $preset" "$work/output" || fail "make test-$preset does not run the tests:" "$work/output"
done

# The manifests in the project match the output of the program.
run make check-manifests

# With the files and lines of `kopp create webhook`, the project passes the tests of the webhooks, and the API server of
# `make run` calls them as soon as the operator has installed them.
run kopp create webhook
(cd .. && run kopp init with-webhook/website --group example.com --kind Website --webhook)
for file in src/main.cpp CMakeLists.txt Makefile; do cp "../with-webhook/website/$file" "$file"; done
run make test
grep -q '100% tests passed, 0 tests failed out of 4' "$work/output" || fail 'the tests of the webhooks did not pass:' "$work/output"
port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1)->sockport')
start_operator "make run WEBHOOK_PORT=$port"
wait_for 'the operator did not install its webhooks' has_printed 'create *validatingwebhookconfiguration'
kubeconfig certificate-authority-data | base64 --decode >"$work/ca.crt"
if request POST /apis/example.com/v1alpha1/namespaces/default/websites \
  '{"apiVersion":"example.com/v1alpha1","kind":"Website","metadata":{"name":"third"},"spec":{"message":" "}}' >"$work/output"; then
  fail 'the webhook did not reject an object:' "$work/output"
fi
grep -q 'must have a visible character' "$work/output" || fail 'the denial has another reason:' "$work/output"
stop_operator

# A second `kopp init` fails and does not overwrite a changed file.
echo '// my change' >>src/main.cpp
if (cd .. && kopp init website --group example.com --kind Website >"$work/output" 2>&1 </dev/null); then
  fail 'kopp init overwrote a changed file'
fi
grep -q 'src/main.cpp' "$work/output" || fail 'kopp init did not name the changed file:' "$work/output"

# The project of a cluster-scoped kind with another name compiles, too.
cd ..
run kopp init node-labels --group ops.example.com --kind NodeLabel --version v1 --namespaced=false
run cmake -S node-labels -B build -DCMAKE_PREFIX_PATH="$prefix"
for source in src/node_label_reconciler.cpp tests/node_label_test.cpp; do
  command=$(jq -r --arg file "$work/empty/node-labels/$source" '.[] | select(.file == $file) | .command' build/compile_commands.json)
  run bash -c "cd build && ${command/ -o / -fsyntax-only -o }"
done
echo 'kopp init: the new project builds, passes its tests and runs'
