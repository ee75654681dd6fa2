# shellcheck shell=bash disable=SC2154,SC2034 # the sourcing script sets $here and uses $cluster
# Selects the API server that a script runs against. Source this file, then check.sh; the sourcing
# script sets $here to the folder of this file and $root to that of the project, and defines kubectl.
#   SERVER    real (etcd and kube-apiserver, built from Go) or kopp (kopp-apiserver)
server=${SERVER:-real}
case $server in
  real) cluster=$here/cluster.sh ;;
  kopp) cluster=$here/kopp_cluster.sh ;;
  *) echo "SERVER=$server is invalid: use real or kopp" >&2 && exit 2 ;;
esac
export no_proxy=127.0.0.1,localhost NO_PROXY=127.0.0.1,localhost # do not use a proxy for loopback
unset KUBECONFIG

# Blocks until the server serves the kind of a new CustomResourceDefinition.
await_kind() { # GROUP/VERSION PLURAL
  # Repeated, because kubectl fails if the status has no conditions yet.
  eventually_matches 'condition met' kubectl wait --for=condition=Established --timeout="${patience}s" "crd/$2.${1%/*}"
  eventually_matches "\"name\":\"$2\"" kubectl get --raw "/apis/$1" # discovery follows a little later
}

# Ends the running check, stops the server in $state, and removes $folder. After a failed check, copies the logs to
# build/test-cluster.
remove_cluster() {
  kill_check
  disown -a # do not report the programs that are stopped
  if ((failed > 0)); then
    mkdir -p "$root/build/test-cluster" && cp "$state"/*.log "$root/build/test-cluster/"
  fi
  [[ ! -e $state/cluster ]] || "$cluster" down "$state"
  rm -rf "$folder"
  ((failed == 0)) || echo "# logs: $root/build/test-cluster" >&2
}
