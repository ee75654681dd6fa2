#!/usr/bin/env bash
# Generates kopp's files about the Kubernetes API for the version that go.mod pins: `make generate`. Starts a real
# kube-apiserver of that version for this, and stops it at the end.
#   KUBERNETES   first pins this version in go.mod and node/go.mod, for example v1.35.4
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${KOPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kopp}
# shellcheck source=tests/go.sh
source "$here/../go.sh"

main() {
  [[ -z ${KUBERNETES:-} ]] || (pin "$KUBERNETES")
  KOPP_PROGRAMS=$("$here/programs.sh")
  export KOPP_PROGRAMS
  modules=$("$here/modules.sh")
  state=$(mktemp -d)
  trap '"$here/cluster.sh" down "$state"' EXIT
  "$here/cluster.sh" up "$state" >/dev/null
  python3 "$here/../../informer/k8s/generate" --cluster "$state" --modules "$modules"
}

pin() { # VERSION
  local module options
  go_is_new_enough || install_go
  use_go_cache_folder
  options=$(pinning_options "$1")
  for module in "$here" "$here/node"; do
    # shellcheck disable=SC2086  # one option for each module
    (cd "$module" && go mod edit $options && GOFLAGS=-mod=mod go mod tidy)
  done
}

# Prints options of `go mod edit` that require Kubernetes and replace each module that lies in its repository.
pinning_options() { # VERSION
  local file
  file=$(cd / && go mod download -json "k8s.io/kubernetes@$1" | jq --exit-status --raw-output .GoMod)
  go mod edit -json "$file" | jq --raw-output --arg version "$1" '
    "-require=k8s.io/kubernetes@\($version)",
    (.Replace[].Old.Path | "-replace=\(.)=\(.)@v0.\($version | ltrimstr("v1."))")'
}

main
