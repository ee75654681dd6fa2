#!/usr/bin/env bash
# Downloads the Go modules of Kubernetes' API types in the version that go.mod pins: informer/k8s/generate reads the
# protobuf messages from them. Later runs reuse them from a cache folder outside the repository. Prints their folder,
# which has subfolders such as api@v0.34.4.
#   KOPP_CACHE   the cache folder (default: $XDG_CACHE_HOME/kopp, usually ~/.cache/kopp)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${KOPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kopp}
# shellcheck source=tests/go.sh
source "$here/../go.sh"

main() {
  local version folder
  version=$(awk '$1 == "k8s.io/api" {print $2; exit}' "$here/go.mod")
  folder=$cache/modules-$version
  mkdir -p "$cache"
  [[ -d $folder ]] || download "$version" "$folder" 9>"$cache/cluster.lock"
  echo "$folder/k8s.io"
}

download() { # VERSION FOLDER
  local unfinished
  flock 9
  [[ ! -d $2 ]] || return 0
  go_is_new_enough || install_go
  unfinished=$(mktemp -d "$cache/unfinished-XXXXXX")
  # shellcheck disable=SC2064  # expand the folder's name now
  trap "rm -rf '$unfinished'" EXIT
  export GOMODCACHE=$unfinished
  use_go_cache_folder
  # Modules that go.mod replaces have the version of k8s.io/api, too.
  (cd "$unfinished" && go mod download {k8s.io/api,k8s.io/apimachinery,k8s.io/apiextensions-apiserver,k8s.io/kube-aggregator}"@$1")
  rm -rf "$unfinished/cache" # the compressed modules
  chmod 755 "$unfinished"
  mv "$unfinished" "$2"
}

main "$@"
