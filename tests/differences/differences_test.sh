#!/usr/bin/env bash
# Compares kopp-apiserver with a real kube-apiserver: sends many mutated objects to both and prints how the
# responses differ. See differences.py.
#   SEED, REQUESTS  the first random number and the number of requests (default: 1 and 10000)
#   OBJECTS         a folder with YAML or JSON files of objects (default: the folder objects)
#   KIND            only objects of this kind (default: all)
#   SHOW            examples of each kind of difference (default: 2)
#   KOPP_APISERVER  see ../cluster/kopp_cluster.sh
#   WEBSITE_OPERATOR  the program of examples/website (default: the build of preset default)
# Stops the servers and removes their folders at the end.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cluster=$here/../cluster
WEBSITE_OPERATOR=${WEBSITE_OPERATOR:-$root/build/default/examples/website/website-operator}
objects=$(realpath "${OBJECTS:-$here/objects}")
# shellcheck source=tests/at_exit.sh
source "$here/../at_exit.sh"

main() {
  KOPP_PROGRAMS=$("$cluster/programs.sh")
  export KOPP_PROGRAMS
  unset KUBECONFIG
  export no_proxy=127.0.0.1,localhost NO_PROXY=127.0.0.1,localhost # do not use a proxy for loopback
  folder=$(mktemp -d)
  at_exit clean_up
  CLUSTER_FLAGS=--allow-privileged=true "$cluster/cluster.sh" up "$folder/real" >/dev/null
  "$cluster/kopp_cluster.sh" up "$folder/kopp" >/dev/null
  mkdir "$folder/operators"
  cp "$here"/operators/*.yaml "$root"/controllers/sample/manifests/{crd-status-subresource,example-foo,rbac}.yaml \
    "$root"/examples/*/*.yaml "$folder/operators"
  "$WEBSITE_OPERATOR" --print-crd >"$folder/operators/website.yaml"
  local server
  for server in real kopp; do
    prepare "$server"
    kubectl_of "$server" config view --raw --flatten -o json >"$folder/$server.json"
  done
  to_list "$objects" >"$folder/objects.json"
  to_list "$folder/operators" >"$folder/operators.json"
  python3 "$here/differences.py" "$folder/real.json" "$folder/kopp.json" "$folder/objects.json" "$folder/operators.json" \
    --seed "${SEED:-1}" --requests "${REQUESTS:-10000}" --show "${SHOW:-2}" ${KIND:+--kind "$KIND"}
}

# Creates what the objects need: definitions of custom resources, and the account that Pods use.
prepare() { # SERVER
  kubectl_of "$1" create serviceaccount default >/dev/null
  local file
  while read -r file; do
    kubectl_of "$1" create -f "$file" >/dev/null
    kubectl_of "$1" wait --for=condition=Established --timeout=30s -f "$file" >/dev/null
  done < <(grep --recursive --files-with-matches '^kind: CustomResourceDefinition$' "$objects" "$folder/operators")
}

to_list() { # FOLDER
  kubectl_of kopp create --dry-run=client --validate=false -o json --recursive -f "$1" |
    jq --slurp '{items: [.[] | if .kind == "List" then .items[] else . end | del(.metadata.creationTimestamp)]}'
}

kubectl_of() { # SERVER ARGUMENT...
  "$KOPP_PROGRAMS/kubectl" --kubeconfig "$folder/$1/admin.kubeconfig" --cache-dir "$folder/$1-discovery" "${@:2}"
}

clean_up() {
  [[ ! -e $folder/real/cluster ]] || "$cluster/cluster.sh" down "$folder/real"
  [[ ! -e $folder/kopp/cluster ]] || "$cluster/kopp_cluster.sh" down "$folder/kopp"
  rm -rf "$folder"
}

main "$@"
