# shellcheck shell=bash disable=SC2154,SC2034 # the sourcing script has $here and uses $cluster
# Which API server a script runs against. Sourced; needs $here.
#   SERVER    real (etcd and kube-apiserver, built from Go) or kopp (kopp's own)
server=${SERVER:-real}
case $server in
  real) cluster=$here/cluster.sh ;;
  kopp) cluster=$here/kopp_cluster.sh ;;
  *) echo "SERVER=$server: write real or kopp" >&2 && exit 2 ;;
esac
export no_proxy=127.0.0.1,localhost NO_PROXY=127.0.0.1,localhost # loopback never goes through a proxy
unset KUBECONFIG
