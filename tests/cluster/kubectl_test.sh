#!/usr/bin/env bash
# Runs common kubectl commands against an API server and checks their output and their effects
# on the server.
#   kubectl_test.sh [PART...]    run the named parts, or all: the files in kubectl/
#   SERVER                       real (the default) or kopp
# Stops the server and removes its folder at the end.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
readonly parts=(reading explaining writing applying patching deleting waiting access)

# shellcheck source=tests/at_exit.sh
source "$here/../at_exit.sh"
# shellcheck source-path=SCRIPTDIR source=process.sh
source "$here/process.sh"
# shellcheck source-path=SCRIPTDIR source=server.sh
source "$here/server.sh"
# shellcheck source-path=SCRIPTDIR source=check.sh
source "$here/check.sh"
for part in "${parts[@]}"; do
  # shellcheck source=/dev/null
  source "$here/kubectl/$part.sh"
done

main() {
  local started=$EPOCHREALTIME part
  prepare
  for part in "${@:-${parts[@]}}"; do
    kubectl create namespace "$part" >/dev/null
    namespace=$part
    "check_$part"
  done
  echo "# $(seconds_since "$started")"
  print_summary
}

prepare() {
  KOPP_PROGRAMS=$("$here/programs.sh")
  export KOPP_PROGRAMS
  folder=$(mktemp -d)
  state=$folder/cluster check_output=$folder/check_output namespace=default
  at_exit remove_cluster
  "$cluster" up "$state" >/dev/null
  export KUBECACHEDIR=$state/kubectl
  kubectl create -f "$here/kubectl/widgets.yaml" >/dev/null
  await_kind test.kopp.example/v1 widgets
}

kubectl() { "$KOPP_PROGRAMS/kubectl" --kubeconfig "$state/admin.kubeconfig" -n "$namespace" "$@"; }

widget() { # NAME COLOUR [REPLICAS]: prints a Widget manifest
  printf '{apiVersion: test.kopp.example/v1, kind: Widget, metadata: {name: %s}, spec: {colour: %s%s}}\n' \
    "$1" "$2" "${3:+, replicas: $3}"
}

field() { kubectl get "$1" -o "jsonpath={$2}"; } # KIND/NAME PATH

main "$@"
