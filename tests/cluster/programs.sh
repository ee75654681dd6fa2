#!/usr/bin/env bash
# Builds programs for the cluster tests from the Go modules pinned in this folder. Later runs reuse
# the programs from a cache folder outside the repository. Prints the folder of the programs as the
# last line of stdout.
#   programs.sh [cluster]   etcd, kube-apiserver and kubectl
#   programs.sh node        kubelet, kube-controller-manager and kube-scheduler
#   programs.sh helm        helm3 and helm4
#   programs.sh charts      helm-docs and kube-score
#   KOPP_CACHE   the cache folder (default: $XDG_CACHE_HOME/kopp, usually ~/.cache/kopp)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${KOPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kopp}
# shellcheck source=tests/go.sh
source "$here/../go.sh"

# Each line: program, folder of its module, package.
programs() { # SET
  case $1 in
    cluster) cat <<'END' ;;
etcd etcd go.etcd.io/etcd/server/v3
kubectl . k8s.io/kubernetes/cmd/kubectl
kube-apiserver . k8s.io/kubernetes/cmd/kube-apiserver
END
    node) cat <<'END' ;;
kubelet node k8s.io/kubernetes/cmd/kubelet
kube-controller-manager node k8s.io/kubernetes/cmd/kube-controller-manager
kube-scheduler node k8s.io/kubernetes/cmd/kube-scheduler
END
    helm) cat <<'END' ;;
helm3 helm3 helm.sh/helm/v3/cmd/helm
helm4 helm4 helm.sh/helm/v4/cmd/helm
END
    charts) cat <<'END' ;;
helm-docs charts github.com/norwoodj/helm-docs/cmd/helm-docs
kube-score charts github.com/zegl/kube-score/cmd/kube-score
END
    *) sed -n '2,/^set /{/^# /s/^# //p}' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
  esac
}

modules() { programs "$1" | awk '!seen[$2]++ {print $2}' | sort; } # SET

fingerprint() { # SET
  local module
  (cd "$here" && uname -m && for module in $(modules "$1"); do cat "$module/go.mod" "$module/go.sum"; done) |
    sha256sum | cut -c1-12
}

# Without these linker flags, the Kubernetes programs report version v0.0.0.
version_flags() { # MODULE
  local component=k8s.io/component-base/version kubernetes minor
  kubernetes=$(awk '$1 == "k8s.io/kubernetes" {print $2}' "$here/$1/go.mod")
  [[ -n $kubernetes ]] || return 0
  minor=${kubernetes#v*.}
  echo "-X $component.gitVersion=$kubernetes -X $component.gitMajor=1 -X $component.gitMinor=${minor%%.*}"
}

build() { # PROGRAM MODULE PACKAGE FOLDER
  local started=$SECONDS
  (cd "$here/$2" && go build -o "$4/$1" -ldflags "-s -w $(version_flags "$2")" "$3" >&2)
  say "  $1: $((SECONDS - started)) s"
}

build_all() { # SET DESTINATION
  local unfinished program module package
  say "Building $(programs "$1" | awk '{printf "%s%s", sep, $1; sep = ", "}'): several minutes on 2 cores, only the first time."
  say "The programs are stored in $2"
  rm -rf "$cache"/unfinished-* # left by a killed build; this script holds the lock
  unfinished=$(mktemp -d "$cache/unfinished-XXXXXX")
  # shellcheck disable=SC2064  # expand the folder's name now
  trap "rm -rf '$unfinished'" EXIT
  while read -r program module package; do
    build "$program" "$module" "$package" "$unfinished" </dev/null
  done < <(programs "$1")
  chmod 755 "$unfinished"
  mv "$unfinished" "$2"
  # Removes Go's caches (3 GB), which only another build would need. A failed build keeps them for
  # the next attempt.
  rm -rf "$cache/go"
  say "Built in $SECONDS s"
}

main() {
  local set=${1:-cluster} folder
  programs "$set" >/dev/null
  folder=$cache/$set-$(fingerprint "$set")
  if [[ ! -d $folder ]]; then
    mkdir -p "$cache"
    exec 9>"$cache/cluster.lock"
    flock -n 9 || { say "Waiting for another build of these programs"; flock 9; }
    if [[ ! -d $folder ]]; then
      go_is_new_enough || install_go
      use_go_cache_folder
      build_all "$set" "$folder"
    fi
  fi
  echo "$folder"
}

main "$@"
