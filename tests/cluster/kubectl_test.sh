#!/usr/bin/env bash
# kubectl against an API server: what people do with it every day.
#   kubectl_test.sh [PART...]    all parts, or some: the files of kubectl/
#   SERVER                       real (the default) or kopp
# Left out, since kopp's server has no strategic merge patch: kubectl apply without --server-side of what
# is there already of a built-in kind, kubectl set, edit and rollout of such; and kubectl explain.
# Nothing stays behind.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly parts=(reading writing applying deleting waiting)

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
    make namespace "$part" >/dev/null
    namespace=$part
    "check_$part"
  done
  echo "# $(seconds_since "$started")"
  closing_line
}

prepare() {
  KOPP_PROGRAMS=$("$here/programs.sh")
  export KOPP_PROGRAMS
  folder=$(mktemp -d)
  state=$folder/cluster seen=$folder/seen namespace=default
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  trap 'exit 141' PIPE
  "$cluster" up "$state" >/dev/null
  export KUBECACHEDIR=$state/kubectl
  kubectl create -f "$here/kubectl/widgets.yaml" >/dev/null
  kubectl wait --for=condition=Established --timeout=20s crd/widgets.test.kopp.example >/dev/null
}

kubectl() { "$KOPP_PROGRAMS/kubectl" --kubeconfig "$state/admin.kubeconfig" -n "$namespace" "$@"; }

# kubectl sends built-in kinds that it makes up itself as protobuf, which kopp's API server does not read:
# so it prints them, and creates what it reads.
make() { kubectl create "$@" --dry-run=client -o json | kubectl create -f -; } # KIND NAME...

widget() { # NAME COLOUR [REPLICAS]: its manifest
  printf '{apiVersion: test.kopp.example/v1, kind: Widget, metadata: {name: %s}, spec: {colour: %s%s}}\n' \
    "$1" "$2" "${3:+, replicas: $3}"
}

field() { kubectl get "$1" -o "jsonpath={$2}"; } # KIND/NAME PATH

clean_up() {
  local code=$?
  set +e
  trap '' INT TERM HUP PIPE
  end_attempt
  [[ ! -e $state/cluster ]] || "$cluster" down "$state"
  rm -rf "$folder"
  exit "$code"
}

main "$@"
