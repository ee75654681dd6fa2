#!/usr/bin/env bash
# What cluster.sh does, on kopp's own API server: no etcd, no Go, no RBAC, up at once.
#   kopp_cluster.sh up [STATE]                   start; prints STATE, an own folder of this cluster
#   kopp_cluster.sh down STATE                   end it and remove the folder
#   kopp_cluster.sh kill-apiserver STATE         cut all connections and close the port
#   kopp_cluster.sh start-apiserver STATE        on the same port, with the same objects
#   kopp_cluster.sh service-account STATE default sample-controller
#                                                there from the start, by token and by certificate
#   KOPP_APISERVER    the program (default: the build of preset default)
# STATE holds admin.kubeconfig, audit.log and the program's log.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
built=$here/../../build/default/framework/apiserver/kopp-apiserver
KOPP_APISERVER=$(realpath -m "${KOPP_APISERVER:-$built}")
# shellcheck source-path=SCRIPTDIR source=process.sh
source "$here/process.sh"

main() {
  local verb=${1:-}
  shift || true
  case $verb in
    up) up "${1:-$(mktemp -d)}" ;;
    down) down "$(absolute "$1")" ;;
    kill-apiserver) signal "$(absolute "$1")" USR1 && eventually 100 unreachable "$1" ;;
    start-apiserver) start_apiserver "$(absolute "$1")" ;;
    service-account) [[ -e $1/$3.kubeconfig && $2 == default ]] ;;
    *) sed -n '2,/^set /{/^# /s/^# //p}' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
  esac
}

absolute() { (cd "$1" && pwd); }

up() { # STATE
  [[ -x $KOPP_APISERVER ]] || { echo "There is no program $KOPP_APISERVER: build it first" >&2 && exit 1; }
  mkdir -p "$1"
  local state account=system:serviceaccount:default:sample-controller
  state=$(absolute "$1")
  [[ -z $(ls -A "$state") ]] || { echo "kopp_cluster.sh: $state is not empty" >&2 && exit 1; }
  touch "$state/cluster" # marks the folder as one that `down` may remove
  # shellcheck disable=SC2064  # the folder's name is wanted as it is now
  trap "disown -a; down '$state'" EXIT # the shell need not report what it ends
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  trap 'exit 141' PIPE

  process_start "$state" apiserver "$KOPP_APISERVER" --audit-log=audit.log \
    --user-certificate=admin=admin.given --user="$account=sample-controller.kubeconfig" \
    --user-certificate="$account=sample-controller.given" --write-kubeconfig=ready.kubeconfig
  eventually 100 ready_or_gone "$state" || true
  [[ -s $state/ready.kubeconfig ]] || { tail -n 15 "$state/apiserver.log" >&2 && exit 1; }
  sed -n 's|^ *server: "https://.*:\([0-9]*\)"|\1|p' "$state/ready.kubeconfig" >"$state/port"
  : >"$state/apiserver.starts" # nobody is ever refused because it is not ready
  certificate_kubeconfig "$state" admin.given admin
  certificate_kubeconfig "$state" sample-controller.given sample-controller-certificate

  echo "$state"
  trap - EXIT INT TERM HUP PIPE
}

down() { # STATE
  [[ -e $1/cluster ]] || { echo "kopp_cluster.sh: $1 is no cluster's folder" >&2 && exit 1; }
  process_stop_all "$1"
  rm -rf "$1"
}

ready_or_gone() { [[ -s $1/ready.kubeconfig ]] || ! process_id "$1" apiserver >/dev/null; } # STATE

signal() { kill -s "$2" "$(process_id "$1" apiserver)"; } # STATE SIGNAL

start_apiserver() { # STATE
  signal "$1" USR2
  eventually 100 reachable "$1"
}

reachable() { (: <>"/dev/tcp/127.0.0.1/$(<"$1/port")") 2>/dev/null; } # STATE
unreachable() { ! reachable "$1"; }

eventually() { # TENTHS COMMAND...
  local tenths=$1
  shift
  for ((; tenths > 0; --tenths)); do
    "$@" && return
    sleep 0.1
  done
  return 1
}

# What the program gives in one file, as files and a kubeconfig that names them, as cluster.sh has it.
certificate_kubeconfig() { # STATE GIVEN NAME
  local given=$1/$2
  data "$given" certificate-authority >"$1/ca.crt"
  data "$given" client-certificate >"$1/$3.crt"
  (umask 077 && data "$given" client-key >"$1/$3.key")
  (umask 077 && cat >"$1/$3.kubeconfig") <<END
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://127.0.0.1:$(<"$1/port")", certificate-authority: $1/ca.crt}}]
users: [{name: $3, user: {client-certificate: $1/$3.crt, client-key: $1/$3.key}}]
contexts: [{name: $3, context: {cluster: test, user: $3}}]
current-context: $3
END
}

data() { sed -n "s/^ *$2-data: \"\(.*\)\"/\1/p" "$1" | base64 -d; } # KUBECONFIG FIELD

main "$@"
