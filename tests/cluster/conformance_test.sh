#!/usr/bin/env bash
# Runs the conformance suite of kopp-apiserver against a real kube-apiserver. Also checks that
# kopp-apiserver's data files and the typed kinds of kopp::k8s describe the kinds of the real server.
# The protobuf messages are compared with the Go modules of that server, and the types in kopp-apiserver's
# OpenAPI documents with those of the real server.
#   KOPP_APISERVER see kopp_cluster.sh
#   CONFORMANCE    the program of the suite (default: the build of preset default)
# Stops the cluster and removes its folder at the end.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
default_program=$root/build/default/tests/apiserver/conformance/apiserver_conformance_test
cache=${KOPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kopp}
# shellcheck source=tests/go.sh
source "$here/../go.sh"
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
  compare_messages
  compare_openapi
  compare_typed_kinds
  KOPP_CONFORMANCE_KUBECONFIG=$state/admin.kubeconfig "$CONFORMANCE" --gtest_brief=1
}

compare_kinds() {
  local data=$root/framework/apiserver/data
  mkdir "$folder/kinds"
  python3 "$data/kinds.py" "https://127.0.0.1:$(cat "$state/port")" "$state/ca.crt" \
    "$state/admin.crt" "$state/admin.key" "$folder/kinds"
  local file
  for file in "$data/resources.txt" "$root/framework/schema/schemas.txt"; do
    if ! diff -u "$file" "$folder/kinds/${file##*/}"; then
      echo "$file differs from the kinds of the real server: generate it again with kinds.py" >&2
      return 1
    fi
  done
}

compare_openapi() {
  local types=$root/framework/apiserver/data/openapi.json path
  python3 -B "${types%.json}.py" "https://127.0.0.1:$(cat "$state/port")" "$state/ca.crt" \
    "$state/admin.crt" "$state/admin.key" "$folder/kinds"
  if ! diff -u "$types" "$folder/kinds/openapi.json"; then
    echo "$types differs from the types of the real server: generate it again with openapi.py" >&2
    return 1
  fi
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

compare_messages() {
  local messages=$root/framework/apiserver/data/messages.txt
  generate_messages
  if ! diff -u "$messages" "$generated_messages/messages.txt"; then
    echo "$messages differs from the Go modules of the real server: generate it again with messages.py" >&2
    return 1
  fi
}

# Sets $generated_messages to a folder with the messages.txt that messages.py makes of the Go modules. It stays
# in the cache folder of programs.sh.
generate_messages() {
  local fingerprint
  fingerprint=$(cat "$here/go.mod" "$here/go.sum" "$root/framework/apiserver/data/"{messages.py,resources.txt} |
    sha256sum | cut -c1-12)
  generated_messages=$cache/messages-$fingerprint
  [[ -d $generated_messages ]] || generate_messages_while_locked 9>"$cache/cluster.lock"
}

generate_messages_while_locked() {
  flock 9
  [[ ! -d $generated_messages ]] || return 0
  go_is_new_enough || install_go
  use_go_cache_folder
  local module folders=() unfinished=$folder/messages
  for module in api apimachinery apiextensions-apiserver kube-aggregator; do
    folders+=("$(module_folder "k8s.io/$module")")
  done
  mkdir "$unfinished"
  python3 -B "$root/framework/apiserver/data/messages.py" "${folders[@]}" "$unfinished"
  rm -rf "$cache"/messages-*
  mv "$unfinished" "$generated_messages"
}

# Downloads a module if needed, and prints its folder. Modules that go.mod replaces have the version of k8s.io/api.
module_folder() { # MODULE
  local version
  version=$(awk '$1 == "k8s.io/api" {print $2; exit}' "$here/go.mod")
  (cd "$folder" && GOFLAGS=-modcacherw go mod download -json "$1@$version") | jq --exit-status --raw-output .Dir
}

compare_typed_kinds() {
  local file
  mkdir "$folder/typed"
  python3 -B "$root/informer/k8s/generate.py" "$folder/typed" "https://127.0.0.1:$(cat "$state/port")" \
    "$state/ca.crt" "$state/admin.crt" "$state/admin.key"
  if ! diff <(generated_files "$root") <(generated_files "$folder/typed"); then
    echo "informer/k8s has other files than generate.py writes: generate them again" >&2
    return 1
  fi
  while read -r file; do
    if ! diff -u "$root/$file" "$folder/typed/$file"; then
      echo "$file differs from the kinds of the real server: generate it again with informer/k8s/generate.py" >&2
      return 1
    fi
  done < <(generated_files "$root")
}

generated_files() { # FOLDER
  (cd "$1" && grep -rl --exclude='*.py' 'Generated by informer/k8s/generate.py' informer/k8s tests/k8s | sort)
}

clean_up() {
  local code=$?
  set +e
  trap '' INT TERM HUP PIPE
  [[ ! -e $state/cluster ]] || "$here/cluster.sh" down "$state"
  [[ ! -e $folder/kopp/cluster ]] || "$here/kopp_cluster.sh" down "$folder/kopp"
  rm -rf "$folder"
  exit "$code"
}

main "$@"
