#!/usr/bin/env bash
# Manages test clusters: etcd and a real kube-apiserver on loopback, with RBAC and an audit log.
# There is no scheduler, controller-manager or kubelet, so no Pods run and no garbage is collected.
# Several clusters can run at the same time.
#   cluster.sh up [STATE]                        start a cluster; print STATE, its folder
#   cluster.sh down STATE                        stop all programs and remove the folder
#   cluster.sh kill-apiserver STATE              send SIGKILL to the API server, like a crash
#   cluster.sh start-apiserver STATE             start it again on the same port with the same data
#   cluster.sh start-apiserver STATE -2          start a second API server on the same etcd. It connects
#                                                through the proxy etcd-link: while this is suspended
#                                                (SIGSTOP), the second server lags behind
#   cluster.sh backup-etcd STATE                 save the data of etcd; restarts both programs
#   cluster.sh kill-etcd STATE                   kill etcd
#   cluster.sh start-etcd STATE                  start it again, with the same data
#   cluster.sh compact-etcd STATE                discard the history up to the newest revision
#   cluster.sh restore-etcd STATE                replace the data by the saved data; restarts both
#   cluster.sh rotate-certificates STATE         while the API server is down, replace the CA and all
#                                                certificates and keys that it has signed
#   cluster.sh service-account STATE NAMESPACE NAME
#                                                write NAME.kubeconfig (with a token) and
#                                                NAME-certificate.kubeconfig (with a certificate)
# STATE holds admin.kubeconfig (system:masters), audit.log, port and a log of each program, and
# audit-2.log and port-2 of the second API server.
# If the variable CLUSTER_HARDENED is set, the API server has the admission plugins of a hardened
# cluster. node/node.sh sets these variables of `up`:
#   CLUSTER_PORT      the port of the API server (default: a free one)
#   CLUSTER_NAMES     further names in its certificate, such as ,IP:10.0.0.1
#   CLUSTER_FLAGS     further flags of the API server
set -euo pipefail

# Do not use a proxy for loopback.
export no_proxy=127.0.0.1,localhost NO_PROXY=127.0.0.1,localhost

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# The admission plugins that are off by default, except those that need a server of their own
# (ImagePolicyWebhook), create namespaces (NamespaceAutoProvision), or allow or deny everything
# (AlwaysAdmit, AlwaysDeny). admission.yaml configures them.
readonly hardened_plugins=AlwaysPullImages,DenyServiceExternalIPs,EventRateLimit,ExtendedResourceToleration,LimitPodHardAntiAffinityTopology,NamespaceExists,NodeRestriction,OwnerReferencesPermissionEnforcement,PodNodeSelector,PodTolerationRestriction

# shellcheck source-path=SCRIPTDIR source=process.sh
source "$here/process.sh"

main() {
  local command=${1:-}
  shift || true
  case $command in
    up) up "${1:-$(mktemp -d)}" ;;
    down) down "$(absolute "$1")" ;;
    kill-apiserver) process_stop "$(absolute "$1")" apiserver ;;
    start-apiserver) start_apiserver "$(absolute "$1")" "${2:-}" ;;
    kill-etcd) process_stop "$(absolute "$1")" etcd ;;
    start-etcd) start_etcd "$(absolute "$1")" ;;
    compact-etcd) compact_etcd "$(absolute "$1")" ;;
    backup-etcd) backup_etcd "$(absolute "$1")" ;;
    restore-etcd) restore_etcd "$(absolute "$1")" ;;
    rotate-certificates) rotate_certificates "$(absolute "$1")" ;;
    service-account) write_service_account_kubeconfigs "$(absolute "$1")" "$2" "$3" ;;
    *) sed -n '2,/^set /{/^# /s/^# //p}' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
  esac
}

absolute() { (cd "$1" && pwd); }

up() { # STATE
  mkdir -p "$1"
  local state
  state=$(absolute "$1")
  [[ -z $(ls -A "$state") ]] || { echo "cluster.sh: the folder $state is not empty; choose an empty or a new folder" >&2 && exit 1; }
  touch "$state/cluster" # marks the folder as one that `down` may remove
  # shellcheck disable=SC2064  # expand the folder's name now
  trap "disown -a; down '$state'" EXIT # do not report the killed programs
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  trap 'exit 141' PIPE

  create_certificates "$state"
  start_etcd "$state"
  reserve_port "$state"
  write_certificate_kubeconfig "$state" admin /O=system:masters/CN=admin
  start_apiserver "$state"

  echo "$state"
  trap - EXIT INT TERM HUP PIPE
}

down() { # STATE
  [[ -e $1/cluster ]] || { echo "cluster.sh: 'cluster.sh up' did not create the folder $1; nothing is removed" >&2 && exit 1; }
  process_stop_all "$1"
  rm -rf "$1"
}

programs() { KOPP_PROGRAMS=${KOPP_PROGRAMS:-$("$here/programs.sh")} && echo "$KOPP_PROGRAMS"; }

# Creates X.509 v3 certificates with elliptic-curve keys: some TLS libraries reject v1, and
# generating RSA keys is slow.
create_certificates() { # STATE
  create_authority "$1"
  create_certificate "$1" apiserver /CN=kube-apiserver "subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost${CLUSTER_NAMES:-}"
  create_key "$1/service-account"
}

create_authority() { # STATE
  create_key "$1/ca"
  openssl req -x509 -key "$1/ca.key" -out "$1/ca.crt" -subj /CN=kopp-test-ca -days 30
}

rotate_certificates() { # STATE
  local file name
  create_authority "$1"
  for file in "$1"/*.subject; do
    name=$(basename "$file" .subject)
    create_certificate "$1" "$name" "$(<"$file")" "$(<"$1/$name.extension")"
  done
}

create_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; } # PATH

# Records subject and extension for rotate_certificates.
create_certificate() { # STATE NAME SUBJECT EXTENSION
  echo "$3" >"$1/$2.subject"
  echo "$4" >"$1/$2.extension"
  create_key "$1/$2"
  openssl req -new -key "$1/$2.key" -subj "$3" -out "$1/$2.csr"
  openssl x509 -req -in "$1/$2.csr" -CA "$1/ca.crt" -CAkey "$1/ca.key" -CAcreateserial -days 30 \
    -extfile "$1/$2.extension" -out "$1/$2.crt" 2>/dev/null # openssl prints the subject on stderr
}

# etcd listens only on Unix sockets in the folder: it needs no free port, and other users cannot
# connect.
start_etcd() { # STATE
  process_start "$1" etcd "$(programs)/etcd" --data-dir=etcd --unsafe-no-fsync --log-level=warn \
    --listen-client-urls=unix://localhost:2379 --advertise-client-urls=unix://localhost:2379 \
    --listen-peer-urls=unix://localhost:2380 --initial-advertise-peer-urls=unix://localhost:2380 \
    --initial-cluster=default=unix://localhost:2380
}

# Discards the history up to the newest revision, so that no watch can start before it.
compact_etcd() { # STATE
  local revision
  revision=$(etcd_call "$1" range '{"key": "AA=="}' | jq -r .header.revision)
  etcd_call "$1" compaction "{\"revision\": $revision, \"physical\": true}" >/dev/null
}

etcd_call() { # STATE METHOD REQUEST
  curl -sf --unix-socket "$1/localhost:2379" "http://localhost/v3/kv/$2" -d "$3"
}

backup_etcd() { # STATE
  stop_servers "$1"
  rm -rf "$1/etcd.backup"
  cp -a "$1/etcd" "$1/etcd.backup"
  start_servers "$1"
}

restore_etcd() { # STATE
  stop_servers "$1"
  rm -rf "$1/etcd"
  cp -a "$1/etcd.backup" "$1/etcd"
  start_servers "$1"
}

stop_servers() { process_stop "$1" apiserver && process_stop "$1" etcd TERM; }
start_servers() { start_etcd "$1" && start_apiserver "$1"; }

start_etcd_link() { # STATE
  process_start "$1" etcd-link python3 "$here/proxy.py" unix localhost:2378 localhost:2379
  wait_or_print_log "$1" etcd-link test -S "$1/localhost:2378"
}

# Reserves a port for the API server. A Perl process binds a free port without listening until the
# cluster is stopped, so no other program can take the port while the API server is down. Both use
# SO_REUSEPORT, so the API server can bind the port too. Perl is installed on every Debian system.
reserve_port() { # STATE [SUFFIX]
  local name=port${2:-}
  if [[ -n ${CLUSTER_PORT:-} && $name == port ]]; then
    echo "$CLUSTER_PORT" >"$1/$name"
    return
  fi
  # shellcheck disable=SC2016  # these are Perl variables
  process_start "$1" "$name" perl -MSocket -e '
    socket(my $socket, PF_INET, SOCK_STREAM, 0) or die $!;
    setsockopt($socket, SOL_SOCKET, SO_REUSEPORT, 1) or die $!;
    bind($socket, sockaddr_in(0, INADDR_LOOPBACK)) or die $!;
    open(my $file, ">", "$ARGV[0].new") or die $!;
    print $file (sockaddr_in(getsockname($socket)))[0];
    close($file) and rename("$ARGV[0].new", $ARGV[0]) or die $!;
    sleep' "$name"
  wait_or_print_log "$1" "$name" test -s "$1/$name"
}

# Until the API server has loaded the RBAC rules, it may reject requests that the rules allow.
# apiserver.startups records these intervals for checks that read the audit log.
start_apiserver() { # STATE [SUFFIX], -2 for the second API server
  local programs started etcd=localhost:2379 suffix=${2:-}
  local -a flags
  read -rd '' -a flags <<<"${CLUSTER_FLAGS:-}" || true # it may have several lines
  [[ -z ${CLUSTER_HARDENED:-} ]] || flags+=(--enable-admission-plugins="$hardened_plugins"
    --admission-control-config-file="$here/admission.yaml")
  programs=$(programs)
  if [[ -n $suffix ]]; then
    etcd=localhost:2378
    process_id "$1" etcd-link >/dev/null || start_etcd_link "$1"
    [[ -e $1/port$suffix ]] || reserve_port "$1" "$suffix"
  fi
  started=$(date -u +%FT%T.%6NZ)
  process_start "$1" "apiserver$suffix" "$programs/kube-apiserver" --etcd-servers="unix://$etcd" \
    --bind-address=127.0.0.1 --secure-port="$(cat "$1/port$suffix")" --permit-port-sharing \
    --advertise-address=127.0.0.1 --endpoint-reconciler-type=none --cert-dir="$1" \
    --tls-cert-file=apiserver.crt --tls-private-key-file=apiserver.key --client-ca-file=ca.crt \
    --service-account-key-file=service-account.key \
    --service-account-signing-key-file=service-account.key \
    --service-account-issuer=https://kubernetes.default.svc --service-cluster-ip-range=10.0.0.0/24 \
    --authorization-mode=RBAC \
    --audit-policy-file="$here/audit/policy.yaml" --audit-log-path="audit$suffix.log" "${flags[@]}"
  wait_or_print_log "$1" "apiserver$suffix" is_ready "$1" "$suffix"
  echo "$started $(date -u +%FT%T.%6NZ)" >>"$1/apiserver$suffix.startups"
}

# Succeeds if the API server is ready and the namespace `default` exists.
is_ready() { # STATE [SUFFIX]
  local -a get=(curl -sf --cacert "$1/ca.crt" --cert "$1/admin.crt" --key "$1/admin.key" -o /dev/null)
  local server
  server=$(server_url "$1" "${2:-}")
  "${get[@]}" "$server/readyz" && "${get[@]}" "$server/api/v1/namespaces/default"
}

server_url() { echo "https://127.0.0.1:$(cat "$1/port${2:-}")"; } # STATE [SUFFIX]

# Repeats COMMAND until it succeeds. Fails as soon as PROGRAM has ended, or after two minutes: then it hangs.
wait_or_print_log() { # STATE PROGRAM COMMAND...
  local state=$1 name=$2 end=$((SECONDS + 120))
  shift 2
  while ((SECONDS < end)); do
    "$@" && return
    process_id "$state" "$name" >/dev/null || break
    sleep 0.1
  done
  { echo "cluster.sh: $name did not become ready. End of its log:" && tail -n 15 "$state/$name.log"; } >&2
  return 1
}

write_service_account_kubeconfigs() { # STATE NAMESPACE NAME
  local token
  token=$("$(programs)/kubectl" --kubeconfig "$1/admin.kubeconfig" -n "$2" create token "$3" --duration=24h)
  write_kubeconfig "$1" "$3" "{token: $token}" "certificate-authority-data: $(base64 -w0 <"$1/ca.crt")"
  write_certificate_kubeconfig "$1" "$3-certificate" "/CN=system:serviceaccount:$2:$3"
}

write_certificate_kubeconfig() { # STATE NAME SUBJECT
  create_certificate "$1" "$2" "$3" "extendedKeyUsage=clientAuth"
  write_kubeconfig "$1" "$2" "{client-certificate: $1/$2.crt, client-key: $1/$2.key}" \
    "certificate-authority: $1/ca.crt"
}

write_kubeconfig() { # STATE NAME USER AUTHORITY
  cat >"$1/$2.kubeconfig" <<EOF
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "$(server_url "$1")", $4}}]
users: [{name: $2, user: $3}]
contexts: [{name: $2, context: {cluster: test, user: $2}}]
current-context: $2
EOF
  chmod 600 "$1/$2.kubeconfig"
}

main "$@"
