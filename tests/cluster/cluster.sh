#!/usr/bin/env bash
# A real Kubernetes API server on this machine's loopback, for tests: etcd and kube-apiserver, RBAC
# on, an audit log; no scheduler, no controller-manager, no kubelet: nothing runs Pods, nothing
# collects garbage. Any number can run at once.
#   cluster.sh up [STATE]                        start; prints STATE, an own folder of this cluster
#   cluster.sh down STATE                        end everything and remove the folder
#   cluster.sh kill-apiserver STATE              as a crash would: SIGKILL
#   cluster.sh start-apiserver STATE             on the same port, with the same data
#   cluster.sh service-account STATE NAMESPACE NAME
#                                                write NAME.kubeconfig (a token) and
#                                                NAME-certificate.kubeconfig (a client certificate)
# STATE holds admin.kubeconfig (system:masters), audit.log and each program's log.
set -euo pipefail

# Calls to loopback never go through a proxy.
export no_proxy=127.0.0.1,localhost NO_PROXY=127.0.0.1,localhost

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=process.sh
source "$here/process.sh"

main() {
  local verb=${1:-}
  shift || true
  case $verb in
    up) up "${1:-$(mktemp -d)}" ;;
    down) down "$(absolute "$1")" ;;
    kill-apiserver) process_stop "$(absolute "$1")" apiserver ;;
    start-apiserver) start_apiserver "$(absolute "$1")" ;;
    service-account) service_account "$(absolute "$1")" "$2" "$3" ;;
    *) sed -n '2,/^set /{/^# /s/^# //p}' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
  esac
}

absolute() { (cd "$1" && pwd); }

up() { # STATE
  mkdir -p "$1"
  local state
  state=$(absolute "$1")
  [[ -z $(ls -A "$state") ]] || { echo "cluster.sh: $state is not empty" >&2 && exit 1; }
  touch "$state/cluster" # marks the folder as one that `down` may remove
  # shellcheck disable=SC2064  # the folder's name is wanted as it is now
  trap "disown -a; down '$state'" EXIT # the shell need not report what it ends
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  trap 'exit 141' PIPE

  certificates "$state"
  start_etcd "$state"
  reserve_port "$state"
  client_certificate_kubeconfig "$state" admin /O=system:masters/CN=admin
  start_apiserver "$state"

  echo "$state"
  trap - EXIT INT TERM HUP PIPE
}

down() { # STATE
  [[ -e $1/cluster ]] || { echo "cluster.sh: $1 is no cluster's folder" >&2 && exit 1; }
  process_stop_all "$1"
  rm -rf "$1"
}

programs() { KOPP_PROGRAMS=${KOPP_PROGRAMS:-$("$here/programs.sh")} && echo "$KOPP_PROGRAMS"; }

# Certificates are X.509 v3 with keys on a curve: some TLS libraries refuse v1, and RSA keys are slow
# to make.
certificates() { # STATE
  key "$1/ca"
  openssl req -x509 -key "$1/ca.key" -out "$1/ca.crt" -subj /CN=kopp-test-ca -days 30
  certificate "$1" apiserver /CN=kube-apiserver "subjectAltName=IP:127.0.0.1,DNS:localhost"
  key "$1/service-account"
}

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; } # PATH

certificate() { # STATE NAME SUBJECT EXTENSION
  key "$1/$2"
  openssl req -new -key "$1/$2.key" -subj "$3" -out "$1/$2.csr"
  openssl x509 -req -in "$1/$2.csr" -CA "$1/ca.crt" -CAkey "$1/ca.key" -CAcreateserial -days 30 \
    -extfile <(echo "$4") -out "$1/$2.crt" 2>/dev/null # it prints the subject
}

# etcd listens on sockets in the folder alone: no port to find, and no way in for other users.
start_etcd() { # STATE
  process_start "$1" etcd "$(programs)/etcd" --data-dir=etcd --unsafe-no-fsync --log-level=warn \
    --listen-client-urls=unix://localhost:2379 --advertise-client-urls=unix://localhost:2379 \
    --listen-peer-urls=unix://localhost:2380 --initial-advertise-peer-urls=unix://localhost:2380 \
    --initial-cluster=default=unix://localhost:2380
}

# The kernel picks a free port and one process keeps it bound, without listening, as long as the
# cluster lives: so nobody else gets the port, not even while the API server is down. The API server
# may bind it too, since both ask for port sharing. Perl is there on every Debian.
reserve_port() { # STATE
  # shellcheck disable=SC2016  # the variables are Perl's
  process_start "$1" port perl -MSocket -e '
    socket(my $socket, PF_INET, SOCK_STREAM, 0) or die $!;
    setsockopt($socket, SOL_SOCKET, SO_REUSEPORT, 1) or die $!;
    bind($socket, sockaddr_in(0, INADDR_LOOPBACK)) or die $!;
    open(my $file, ">", "port.new") or die $!;
    print $file (sockaddr_in(getsockname($socket)))[0];
    close($file) and rename("port.new", "port") or die $!;
    sleep'
  eventually_or_log "$1" port 50 test -s "$1/port"
}

# Until it is ready it may refuse whom it should not (it has not read the RBAC rules yet): from when
# to when that was is kept in apiserver.starts, for who reads the audit log.
start_apiserver() { # STATE
  local programs from
  programs=$(programs)
  from=$(date -u +%FT%T.%6NZ)
  process_start "$1" apiserver "$programs/kube-apiserver" --etcd-servers=unix://localhost:2379 \
    --bind-address=127.0.0.1 --secure-port="$(cat "$1/port")" --permit-port-sharing \
    --advertise-address=127.0.0.1 --endpoint-reconciler-type=none --cert-dir="$1" \
    --tls-cert-file=apiserver.crt --tls-private-key-file=apiserver.key --client-ca-file=ca.crt \
    --service-account-key-file=service-account.key \
    --service-account-signing-key-file=service-account.key \
    --service-account-issuer=https://kubernetes.default.svc --service-cluster-ip-range=10.0.0.0/24 \
    --authorization-mode=RBAC \
    --audit-policy-file="$here/audit/policy.yaml" --audit-log-path=audit.log
  eventually_or_log "$1" apiserver 600 ready "$1"
  echo "$from $(date -u +%FT%T.%6NZ)" >>"$1/apiserver.starts"
}

# Ready, and the namespace that every user expects is there.
ready() { # STATE
  local -a call=(curl -sf --cacert "$1/ca.crt" --cert "$1/admin.crt" --key "$1/admin.key" -o /dev/null)
  "${call[@]}" "$(server "$1")/readyz" && "${call[@]}" "$(server "$1")/api/v1/namespaces/default"
}

server() { echo "https://127.0.0.1:$(cat "$1/port")"; } # STATE

eventually_or_log() { # STATE PROGRAM TENTHS COMMAND...: fails as soon as the program is gone
  local state=$1 name=$2 tenths=$3
  shift 3
  for ((; tenths > 0; --tenths)); do
    "$@" && return
    process_id "$state" "$name" >/dev/null || break
    sleep 0.1
  done
  { echo "cluster.sh: $name did not become ready. The end of its log:" && tail -n 15 "$state/$name.log"; } >&2
  return 1
}

service_account() { # STATE NAMESPACE NAME
  local token
  token=$("$(programs)/kubectl" --kubeconfig "$1/admin.kubeconfig" -n "$2" create token "$3" --duration=24h)
  kubeconfig "$1" "$3" "{token: $token}" "certificate-authority-data: $(base64 -w0 <"$1/ca.crt")"
  client_certificate_kubeconfig "$1" "$3-certificate" "/CN=system:serviceaccount:$2:$3"
}

client_certificate_kubeconfig() { # STATE NAME SUBJECT
  certificate "$1" "$2" "$3" "extendedKeyUsage=clientAuth"
  kubeconfig "$1" "$2" "{client-certificate: $1/$2.crt, client-key: $1/$2.key}" \
    "certificate-authority: $1/ca.crt"
}

kubeconfig() { # STATE NAME USER AUTHORITY
  cat >"$1/$2.kubeconfig" <<EOF
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "$(server "$1")", $4}}]
users: [{name: $2, user: $3}]
contexts: [{name: $2, context: {cluster: test, user: $2}}]
current-context: $2
EOF
  chmod 600 "$1/$2.kubeconfig"
}

main "$@"
