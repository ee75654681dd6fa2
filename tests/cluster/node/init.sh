#!/usr/bin/env bash
# The first process of a node, in its namespaces: see node.sh. Starts all programs; then creates
# STATE/ready and waits forever.
#   init.sh STATE CONTROL-GROUP ARCHIVE...
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
state=$1 control_group=$2
shift 2
cd "$state"
unset KUBECONFIG http_proxy https_proxy HTTP_PROXY HTTPS_PROXY
readonly service_address=10.0.0.1 node_address=10.9.9.1 registry_port=5000
readonly kubeconfig=$state/cluster/admin.kubeconfig

main() {
  hide_host_folders
  fix_kernel_settings
  configure_network
  start registry python3 -B "$here/registry.py" "$registry_port" "$@"
  await curl --silent --fail "http://127.0.0.1:$registry_port/v2/"
  start_api_server
  start controller-manager "$KOPP_NODE_PROGRAMS/kube-controller-manager" --kubeconfig="$kubeconfig" --leader-elect=false \
    --service-account-private-key-file=cluster/service-account.key --root-ca-file=cluster/ca.crt
  start scheduler "$KOPP_NODE_PROGRAMS/kube-scheduler" --kubeconfig="$kubeconfig" --leader-elect=false
  start_containerd
  start_kubelet
  touch ready
  while :; do wait -n || sleep 1; done # also reaps the orphans of the namespace
}

start() { # NAME COMMAND...
  local name=$1
  shift
  "$@" >>"$name.log" 2>&1 </dev/null &
}

await() { # COMMAND...; fails after two minutes: then it hangs
  local end=$((SECONDS + 120))
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || { echo "not ready in time: $*" && return 1; }
    sleep 0.1
  done
}

# Programs of a node write to fixed folders. The node's mount namespace has others there.
hide_host_folders() {
  local folder
  for folder in /run /var/lib /var/log; do mount -t tmpfs tmpfs "$folder"; done
  mkdir -p /run/lock
}

# The kubelet changes these settings of the kernel, which has only one for all namespaces. It finds
# the values that it wants, in files that are mounted over the settings.
fix_kernel_settings() {
  local setting value
  while read -r setting value; do
    echo "$value" >"setting-${setting##*/}"
    mount --bind "setting-${setting##*/}" "/proc/sys/$setting"
  done <<END
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
END
}

# Pods are on the bridge cni0 and reach the API server at the first service address, which the
# loopback interface has, so no kube-proxy is needed. A kubelet needs a default route.
configure_network() {
  ip link set lo up
  ip address add "$service_address/32" dev lo
  ip link add node0 type bridge
  ip address add "$node_address/24" dev node0
  ip link set node0 up
  ip route add default via "$node_address" dev node0
  echo 1 >/proc/sys/net/ipv4/ip_forward
}

start_api_server() {
  CLUSTER_PORT=443 CLUSTER_NAMES=",IP:$service_address" \
    CLUSTER_FLAGS="--bind-address=0.0.0.0 --advertise-address=$node_address --allow-privileged=true
      --kubelet-client-certificate=admin.crt --kubelet-client-key=admin.key
      --kubelet-preferred-address-types=InternalIP --audit-policy-file=$here/audit-policy.yaml
      --enable-admission-plugins=OwnerReferencesPermissionEnforcement" \
    "$here/../cluster.sh" up "$state/cluster" >cluster.log 2>&1
}

start_containerd() {
  mkdir -p cni hosts/_default
  printf '[host."http://127.0.0.1:%s"]\n  capabilities = ["pull", "resolve"]\n' "$registry_port" >hosts/_default/hosts.toml
  cat >cni/pods.conflist <<'END'
{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "cni0", "isGateway": true,
  "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.88.0.0/16"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
END
  # Without restrict_oom_score_adj, containers cannot start where CAP_SYS_RESOURCE is missing.
  cat >containerd.toml <<END
version = 2
root = "$state/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "$state/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:test"
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".registry]
  config_path = "$state/hosts"
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "$state/cni"
END
  start containerd containerd --config containerd.toml
  await ctr --address /run/containerd.sock version
}

start_kubelet() {
  local folder
  for folder in /sys/fs/cgroup/*/; do mkdir -p "$folder$control_group"; done
  [[ ! -e /sys/fs/cgroup/cgroup.procs ]] || mkdir -p "/sys/fs/cgroup/$control_group"
  mkdir -p volume-plugins
  cat >kubelet.yaml <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $node_address
authentication: {anonymous: {enabled: false}, webhook: {enabled: false}, x509: {clientCAFile: $state/cluster/ca.crt}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupRoot: /$control_group
clusterDNS: [10.0.0.10]
containerRuntimeEndpoint: unix:///run/containerd.sock
evictionHard: {}
failCgroupV1: false
failSwapOn: false
makeIPTablesUtilChains: false
resolvConf: ""
volumePluginDir: $state/volume-plugins
END
  start kubelet "$KOPP_NODE_PROGRAMS/kubelet" --config=kubelet.yaml --kubeconfig="$kubeconfig" --root-dir="$state/kubelet" \
    --cert-dir="$state/kubelet-certificates" --node-ip="$node_address" --hostname-override=node0
  await "$KOPP_PROGRAMS/kubectl" --kubeconfig="$kubeconfig" wait node/node0 --for=condition=Ready --timeout=0
}

main "$@"
