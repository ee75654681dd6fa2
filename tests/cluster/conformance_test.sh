#!/usr/bin/env bash
# Runs the conformance suite of kopp-apiserver against a real kube-apiserver. Also checks that
# kopp-apiserver's data files describe the built-in kinds of the real server.
#   CONFORMANCE    the program of the suite (default: the build of preset default)
# Stops the cluster and removes its folder at the end.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
default_program=$root/build/default/tests/apiserver/conformance/apiserver_conformance_test
CONFORMANCE=$(realpath -m "${CONFORMANCE:-$default_program}")

main() {
  if [[ ! -x $CONFORMANCE ]]; then
    echo "conformance_test.sh: $CONFORMANCE does not exist; run 'make test-cluster', which builds it" >&2
    exit 1
  fi
  KOPP_PROGRAMS=$("$here/programs.sh")
  export KOPP_PROGRAMS
  unset KUBECONFIG
  export no_proxy=127.0.0.1,localhost NO_PROXY=127.0.0.1,localhost # do not use a proxy for loopback
  folder=$(mktemp -d)
  state=$folder/cluster
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  trap 'exit 141' PIPE
  "$here/cluster.sh" up "$state" >/dev/null
  compare_kinds
  KOPP_CONFORMANCE_KUBECONFIG=$state/admin.kubeconfig "$CONFORMANCE" --gtest_brief=1
}

compare_kinds() {
  local data=$root/framework/apiserver/data
  mkdir "$folder/kinds"
  python3 "$data/kinds.py" "https://127.0.0.1:$(cat "$state/port")" "$state/ca.crt" \
    "$state/admin.crt" "$state/admin.key" "$folder/kinds"
  local file
  for file in "$data/resources.txt" "$root/framework/internal/schema/schemas.txt"; do
    if ! diff -u "$file" "$folder/kinds/${file##*/}"; then
      echo "$file differs from the kinds of the real server: generate it again with kinds.py" >&2
      return 1
    fi
  done
}

clean_up() {
  local code=$?
  set +e
  trap '' INT TERM HUP PIPE
  [[ ! -e $state/cluster ]] || "$here/cluster.sh" down "$state"
  rm -rf "$folder"
  exit "$code"
}

main "$@"
