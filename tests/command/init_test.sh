#!/usr/bin/env bash
# Starts a project with `kopp init` as a new user would, and runs the commands of its Makefile.
#   init_test.sh PREFIX    PREFIX: the folder where kopp is installed
set -euo pipefail

prefix=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

fail() { # MESSAGE [FILE]
  printf '%s\n' "$1" >&2
  [[ $# -lt 2 ]] || cat "$2" >&2
  exit 1
}

run() { # COMMAND...
  "$@" >"$work/output" 2>&1 </dev/null || fail "$* failed:" "$work/output"
}

export PATH=$prefix/bin:$PATH HOME=$work no_proxy=127.0.0.1 CMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE-Debug} CMAKE_GENERATOR=Ninja
unset KUBECONFIG WATCH_NAMESPACE KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT
cd "$work"

run kopp init website --group example.com --kind Website
cd website
run make test
grep -q '100% tests passed, 0 tests failed out of 2' "$work/output" || fail 'the tests did not pass:' "$work/output"

# The committed manifests are those of the program.
run make check-manifests

# --demo creates the sample when the operator watches, and prints the operator's writes.
# kopp-apiserver ends when nobody reads its output.
timeout --signal=INT 60 make run 2>&1 </dev/null | sed '/patch *websites.status sample/q' >"$work/demo" || true
grep -q 'create *configmaps sample' "$work/demo" || fail 'make run did not reconcile the sample:' "$work/demo"
grep -q 'patch *websites.status sample' "$work/demo" || fail 'make run did not write the status:' "$work/demo"

# A second `kopp init` overwrites nothing that was changed.
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
  command=$(jq -r --arg file "$work/node-labels/$source" '.[] | select(.file == $file) | .command' build/compile_commands.json)
  run bash -c "cd build && ${command/ -o / -fsyntax-only -o }"
done
echo 'kopp init: the new project builds, passes its tests and runs'
