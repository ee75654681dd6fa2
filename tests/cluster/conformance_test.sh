#!/usr/bin/env bash
# Runs the conformance suite of kopp-apiserver against a real kube-apiserver. Also checks that the generated files of
# informer/k8s/generate describe the kinds of the real server, and that the types in kopp-apiserver's OpenAPI
# documents are those of the real server.
#   KOPP_APISERVER see kopp_cluster.sh
#   CONFORMANCE    the program of the suite (default: the build of preset default)
# Stops the cluster and removes its folder at the end.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
default_program=$root/build/default/tests/apiserver/conformance/apiserver_conformance_test
CONFORMANCE=$(realpath -m "${CONFORMANCE:-$default_program}")
# shellcheck source=tests/at_exit.sh
source "$here/../at_exit.sh"

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
  at_exit clean_up
  CLUSTER_FLAGS=--allow-privileged=true "$here/cluster.sh" up "$state" >/dev/null # as kopp-apiserver
  compare_generated_files
  compare_openapi_documents
  KOPP_CONFORMANCE_KUBECONFIG=$state/admin.kubeconfig "$CONFORMANCE" --gtest_brief=1
}

# Compares the files that describe the Kubernetes API with those that the generator writes for the real server.
compare_generated_files() {
  local modules file
  modules=$("$here/modules.sh")
  python3 "$root/informer/k8s/generate" --cluster "$state" --modules "$modules" --output "$folder/generated"
  while read -r file; do
    if ! diff -u "$root/$file" "$folder/generated/$file"; then
      echo "$file differs from what the real server says: run 'make generate'" >&2
      return 1
    fi
  done < <(cd "$folder/generated" && find . -type f | sort)
}

compare_openapi_documents() {
  local path
  "$here/kopp_cluster.sh" up "$folder/kopp" >/dev/null
  for path in $(kubectl_of "$folder/kopp" get --raw /openapi/v3 | jq -r '.paths | keys[]'); do
    if ! diff <(types_of_document "$state" "$path") <(types_of_document "$folder/kopp" "$path"); then
      echo "the document /openapi/v3/$path of kopp-apiserver has other types than that of the real server" >&2
      return 1
    fi
  done
  if ! diff <(kubectl_of "$state" explain pods --recursive) <(kubectl_of "$folder/kopp" explain pods --recursive); then
    echo "kubectl explain prints other text for kopp-apiserver than for the real server" >&2
    return 1
  fi
}

types_of_document() { # STATE PATH
  kubectl_of "$1" get --raw "/openapi/v3/$2" | jq --sort-keys --exit-status .components.schemas
}

kubectl_of() { # STATE ARGUMENT...
  "$KOPP_PROGRAMS/kubectl" --kubeconfig "$1/admin.kubeconfig" --cache-dir "$1/kubectl" "${@:2}"
}

clean_up() {
  [[ ! -e $state/cluster ]] || "$here/cluster.sh" down "$state"
  [[ ! -e $folder/kopp/cluster ]] || "$here/kopp_cluster.sh" down "$folder/kopp"
  rm -rf "$folder"
}

main "$@"
