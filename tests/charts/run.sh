#!/usr/bin/env bash
# Runs the tests of the charts with Helm 3 and Helm 4: rendering, wrong values, the schemas of Kubernetes and of
# the Prometheus operator, the generated README pages, and releases on kopp-apiserver and on a real
# kube-apiserver. No Pods run.
#   run.sh [PATTERN...]    run the tests whose names contain a pattern, or all
#   SAMPLE_CONTROLLER, KOPP_APISERVER    the programs (default: the builds of preset default)
#   KOPP_CACHE                           the cache folder (default: $XDG_CACHE_HOME/kopp, usually ~/.cache/kopp)
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${KOPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kopp}
# shellcheck source=tests/go.sh
source "$here/../go.sh"
readonly packages=(kubernetes-validate==1.37.0 PyYAML==6.0.3)
readonly prometheus_operator=github.com/prometheus-operator/prometheus-operator@v0.85.0
readonly prometheus_operator_sum=h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=

# Prints the folder of a Python environment with $packages. They are installed once.
python_environment() {
  local environment
  environment=$cache/charts-python-$({ printf '%s\n' "${packages[@]}" && python3 --version; } | sha256sum | cut -c1-12)
  if [[ ! -d $environment ]]; then
    mkdir -p "$cache"
    install_python_environment "$environment" 9>"$cache/charts.lock" >&2
  fi
  echo "$environment"
}

install_python_environment() { # FOLDER
  flock 9
  [[ ! -d $1 ]] || return 0
  say "Installing ${packages[*]} in $1"
  python3 -c 'import ensurepip' 2>/dev/null || "$root/tests/packages.sh" install venv
  rm -rf "$1.unfinished"
  python3 -m venv "$1.unfinished"
  "$1.unfinished/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir "${packages[@]}"
  mv "$1.unfinished" "$1"
}

# Prints the folder of the CustomResourceDefinitions of the Prometheus operator that the charts use. They are
# downloaded once.
monitoring_crds() {
  local folder=$cache/charts-crds-${prometheus_operator##*@}
  if [[ ! -d $folder ]]; then
    mkdir -p "$cache"
    download_monitoring_crds "$folder" 9>"$cache/charts.lock" >&2
  fi
  echo "$folder"
}

download_monitoring_crds() { # FOLDER
  local module
  flock 9
  [[ ! -d $1 ]] || return 0
  say "Downloading the CustomResourceDefinitions of $prometheus_operator"
  go_is_new_enough || install_go
  rm -rf "$1.unfinished"
  mkdir "$1.unfinished"
  module=$(use_go_cache_folder && GOMODCACHE=$1.unfinished/modules go mod download -json "$prometheus_operator")
  jq -e --arg sum "$prometheus_operator_sum" '.Sum == $sum' <<<"$module" >/dev/null ||
    { say "the checksum of $prometheus_operator differs from $prometheus_operator_sum: $module" && return 1; }
  cp "$(jq -r .Dir <<<"$module")"/jsonnet/prometheus-operator/{servicemonitors,podmonitors,prometheusrules}-crd.json "$1.unfinished"
  rm -rf "$1.unfinished/modules"
  mv "$1.unfinished" "$1"
}

main() {
  local environment helms tools cluster pattern
  local -a arguments=()
  environment=$(python_environment)
  helms=$("$root/tests/cluster/programs.sh" helm)
  tools=$("$root/tests/cluster/programs.sh" charts)
  cluster=$("$root/tests/cluster/programs.sh" cluster)
  MONITORING_CRDS=$(monitoring_crds)
  export MONITORING_CRDS
  for pattern in "$@"; do arguments+=(-k "$pattern"); done
  export HELM3=$helms/helm3 HELM4=$helms/helm4 HELM_DOCS=$tools/helm-docs KUBE_SCORE=$tools/kube-score KUBECTL=$cluster/kubectl
  export SAMPLE_CONTROLLER=${SAMPLE_CONTROLLER:-$root/build/default/controllers/sample/sample-controller}
  export WEBHOOK_OPERATOR=${WEBHOOK_OPERATOR:-$root/build/default/tests/cluster/webhooks/webhook_operator}
  export KOPP_APISERVER=${KOPP_APISERVER:-$root/build/default/framework/apiserver/kopp-apiserver} KOPP_PROGRAMS=$cluster
  export no_proxy=127.0.0.1,localhost NO_PROXY=127.0.0.1,localhost # do not use a proxy for loopback
  unset KUBECONFIG
  cd "$here"
  PYTHONDONTWRITEBYTECODE=1 exec "$environment/bin/python" -m unittest discover --pattern '*_test.py' --verbose "${arguments[@]}"
}

main "$@"
