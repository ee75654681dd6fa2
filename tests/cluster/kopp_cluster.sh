#!/usr/bin/env bash
# Provides the commands of cluster.sh for kopp-apiserver: no etcd, no Go, no RBAC, immediate start.
#   kopp_cluster.sh up [STATE]                   start the server; print STATE, its folder
#   kopp_cluster.sh down STATE                   stop the server and remove the folder
#   kopp_cluster.sh kill-apiserver STATE         close the port and all connections
#   kopp_cluster.sh start-apiserver STATE        open the same port again, with the same objects
#   kopp_cluster.sh service-account STATE default NAME
#                                                check that `up` has written NAME.kubeconfig, with a
#                                                token; for sample-controller there is also
#                                                NAME-certificate.kubeconfig, with a certificate
#   KOPP_APISERVER    the program (default: the build of preset default)
# STATE holds admin.kubeconfig, audit.log and the program's log.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
default_program=$here/../../build/default/framework/apiserver/kopp-apiserver
KOPP_APISERVER=$(realpath -m "${KOPP_APISERVER:-$default_program}")
# shellcheck source-path=SCRIPTDIR source=process.sh
source "$here/process.sh"

main() {
  local command=${1:-}
  shift || true
  case $command in
    up) up "${1:-$(mktemp -d)}" ;;
    down) down "$(absolute "$1")" ;;
    kill-apiserver) send_signal "$(absolute "$1")" USR1 && eventually is_unreachable "$1" ;;
    start-apiserver) start_apiserver "$(absolute "$1")" ;;
    service-account) [[ -e $1/$3.kubeconfig && $2 == default ]] ;;
    *) sed -n '2,/^set /{/^# /s/^# //p}' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
  esac
}

absolute() { (cd "$1" && pwd); }

up() { # STATE
  if [[ ! -x $KOPP_APISERVER ]]; then
    echo "kopp_cluster.sh: $KOPP_APISERVER does not exist; build it with: cmake --build --preset default --target kopp-apiserver" >&2
    exit 1
  fi
  mkdir -p "$1"
  local state accounts=system:serviceaccount:default
  state=$(absolute "$1")
  [[ -z $(ls -A "$state") ]] || { echo "kopp_cluster.sh: the folder $state is not empty; choose an empty or a new folder" >&2 && exit 1; }
  touch "$state/cluster" # marks the folder as one that `down` may remove
  # shellcheck disable=SC2064  # expand the folder's name now
  trap "disown -a; down '$state'" EXIT # do not report the killed programs
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  trap 'exit 141' PIPE

  process_start "$state" apiserver "$KOPP_APISERVER" --audit-log=audit.log \
    --user-certificate=admin=admin-embedded.kubeconfig \
    --user="$accounts:sample-controller=sample-controller.kubeconfig" --user="$accounts:standby=standby.kubeconfig" \
    --user-certificate="$accounts:sample-controller=sample-controller-embedded.kubeconfig" \
    --write-kubeconfig=ready.kubeconfig
  eventually is_ready_or_has_ended "$state" || true
  [[ -s $state/ready.kubeconfig ]] || { tail -n 15 "$state/apiserver.log" >&2 && exit 1; }
  sed -n 's|^ *server: "https://.*:\([0-9]*\)"|\1|p' "$state/ready.kubeconfig" >"$state/port"
  : >"$state/apiserver.startups" # empty: this server does not reject requests while it starts
  write_certificate_kubeconfig "$state" admin-embedded.kubeconfig admin
  write_certificate_kubeconfig "$state" sample-controller-embedded.kubeconfig sample-controller-certificate

  echo "$state"
  trap - EXIT INT TERM HUP PIPE
}

down() { # STATE
  [[ -e $1/cluster ]] || { echo "kopp_cluster.sh: 'kopp_cluster.sh up' did not create the folder $1; nothing is removed" >&2 && exit 1; }
  process_stop_all "$1"
  rm -rf "$1"
}

is_ready_or_has_ended() { [[ -s $1/ready.kubeconfig ]] || ! process_id "$1" apiserver >/dev/null; } # STATE

send_signal() { kill -s "$2" "$(process_id "$1" apiserver)"; } # STATE SIGNAL

start_apiserver() { # STATE
  send_signal "$1" USR2
  eventually is_reachable "$1"
}

is_reachable() { (: <>"/dev/tcp/127.0.0.1/$(<"$1/port")") 2>/dev/null; } # STATE
is_unreachable() { ! is_reachable "$1"; }

# Repeats COMMAND until it succeeds. Fails after a minute: then the server hangs.
eventually() { # COMMAND...
  local end=$((SECONDS + 60))
  while ((SECONDS < end)); do
    "$@" && return
    sleep 0.1
  done
  return 1
}

# Extracts the certificates and the key that are embedded in a kubeconfig of the program, and writes
# NAME.kubeconfig, which refers to these files like the kubeconfigs of cluster.sh.
write_certificate_kubeconfig() { # STATE EMBEDDED-KUBECONFIG NAME
  local embedded=$1/$2
  kubeconfig_data "$embedded" certificate-authority >"$1/ca.crt"
  kubeconfig_data "$embedded" client-certificate >"$1/$3.crt"
  (umask 077 && kubeconfig_data "$embedded" client-key >"$1/$3.key")
  (umask 077 && cat >"$1/$3.kubeconfig") <<END
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://127.0.0.1:$(<"$1/port")", certificate-authority: $1/ca.crt}}]
users: [{name: $3, user: {client-certificate: $1/$3.crt, client-key: $1/$3.key}}]
contexts: [{name: $3, context: {cluster: test, user: $3}}]
current-context: $3
END
}

kubeconfig_data() { sed -n "s/^ *$2-data: \"\(.*\)\"/\1/p" "$1" | base64 -d; } # KUBECONFIG FIELD

main "$@"
