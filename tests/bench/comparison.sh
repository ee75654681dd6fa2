# shellcheck shell=bash disable=SC2154 # the sourcing script sets $here to its folder
# Prepares a benchmark that compares kopp with programs in Go and Rust: its folders, functions and environment. Sourced.
root=$(cd "$here/../.." && pwd)
# shellcheck disable=SC2034 # the sourcing script uses them
out=$root/build/bench cache=${KOPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kopp}
# shellcheck source=tests/at_exit.sh
source "$here/../at_exit.sh"
# shellcheck source=tests/go.sh
source "$here/../go.sh"
# shellcheck source=tests/bench/table.sh
source "$here/table.sh"
# shellcheck source=tests/bench/kube_rs.sh
source "$here/kube_rs.sh"
# shellcheck source=tests/cluster/process.sh
source "$here/../cluster/process.sh"

# Do not use a proxy for loopback.
export no_proxy=127.0.0.1,localhost NO_PROXY=127.0.0.1,localhost
unset KUBECONFIG
