#!/usr/bin/env bash
# Runs the operators with which users start on etcd and a kube-apiserver with the admission plugins of a hardened
# cluster: the projects of `kopp init` for a namespaced and a cluster-scoped kind, installed with their charts, and
# the operator of docs/tutorial.md. Each runs as its ServiceAccount, with only the permissions that it declares.
#   BUILD    the build folder of kopp (default: build/default)
# Stops all programs and removes their folder at the end. If a check fails, the logs are kept in
# build/test-cluster.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
BUILD=$(realpath -m "${BUILD:-$root/build/default}")
tutorial=$root/docs/tutorial.md
SERVER=real
# shellcheck source=tests/at_exit.sh
source "$here/../at_exit.sh"
# shellcheck source-path=SCRIPTDIR source=process.sh
source "$here/process.sh"
# shellcheck source-path=SCRIPTDIR source=server.sh
source "$here/server.sh"
# shellcheck source-path=SCRIPTDIR source=check.sh
source "$here/check.sh"

# The ServiceAccount of each operator has the name of the operator, and is in this namespace.
declare -Ar namespaces=([website]=website [node-labels]=node-labels [site-operator]=default)
# A file or folder with an object of the operator's kind.
declare -Ar samples=([website]=website/config/samples [node-labels]=node-labels/config/samples [site-operator]=site-operator/blog.yaml)
readonly page='<h1>My blog</h1><p>Nothing here yet.</p>'

main() {
  local started=$EPOCHREALTIME
  prepare
  check "docs/operating.md names the admission plugins that are on, and those that are off" plugins_are_documented
  check "kopp init creates the project website, and it is built" build_project website Website
  check "kopp init creates the project node-labels of a cluster-scoped kind, and it is built" build_project node-labels NodeLabel --namespaced=false
  check "The operator of the tutorial is built" build_tutorial
  check "make deploy installs the chart of website without a warning" deploy website
  check "make deploy installs the chart of node-labels without a warning" deploy node-labels
  check "The tutorial's commands for a cluster succeed" install_tutorial
  check "The Pods of the chart of website are accepted" pods_are_accepted website
  check "The Pods of the chart of node-labels are accepted" pods_are_accepted node-labels
  check_operator website check_project website
  check_operator node-labels check_project node-labels
  check_operator site-operator check_tutorial
  check "The API server rejects the owner reference of an operator without the rule for finalizers" finalizers_rule_is_needed
  echo "# $(seconds_since "$started")"
  print_summary
}

# Runs an operator during the checks of a function.
check_operator() { # NAME FUNCTION [ARGUMENT...]
  check "$1 may run with its permissions" may_run "$1"
  start_operator "$1"
  "${@:2}"
  process_stop "$state" "$1" TERM
  check "No request of $1 was rejected" no_request_was_rejected "$1"
}

check_project() { # NAME
  check "$1 writes the ConfigMap and the status of its sample, and creates a deleted ConfigMap again" project_reconciles "$1"
  check "The metrics of $1 are served to a ServiceAccount that may read them, and to nobody else" metrics_need_permission "$1"
}

check_tutorial() {
  check "site-operator writes the ConfigMap and the status of a StaticSite, and creates a deleted ConfigMap again" tutorial_reconciles
}

prepare() {
  local helms
  KOPP_PROGRAMS=$("$here/programs.sh" cluster)
  helms=$("$here/programs.sh" helm)
  export KOPP_PROGRAMS
  folder=$(mktemp -d)
  state=$folder/cluster check_output=$folder/check_output
  at_exit remove_cluster
  cmake --install "$BUILD" --prefix "$folder/kopp" >/dev/null
  CLUSTER_HARDENED=1 "$cluster" up "$state" >/dev/null
  # The environment of a user: programs in the PATH, and the configuration of kubectl.
  ln -s "$helms/helm4" "$folder/kopp/bin/helm"
  export PATH=$folder/kopp/bin:$KOPP_PROGRAMS:$PATH KUBECONFIG=$state/admin.kubeconfig KUBECACHEDIR=$state/kubectl
  export HELM_CACHE_HOME=$state/helm HELM_CONFIG_HOME=$state/helm HELM_DATA_HOME=$state/helm
  if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$folder CCACHE_NOHASHDIR=1
  fi
}

# The section of docs/operating.md names the plugins that are off after the words "Not tried".
plugins_are_documented() {
  local on off section
  on=$(sed -n 's/.*Loaded .* admission controller.* following order: \(.*\)\.$/\1/p' "$state/apiserver.log" | tr ',' '\n' | sort -u)
  off=$(kube-apiserver --help | sed -n 's/.*--enable-admission-plugins.*of admission plugins: \(.*\)\. The order.*/\1/p' |
    sed 's/, /\n/g' | sort -u | comm -13 <(echo "$on") -)
  [[ -n $on && -n $off ]]
  section=$(awk '/^##/ { inside = $0 == "### Admission plugins" } inside' "$root/docs/operating.md")
  diff --label on --label documented -u <(echo "$on") <(plugins_in "$on"$'\n'"$off" "${section%%Not tried*}")
  diff --label off --label documented -u <(echo "$off") <(plugins_in "$on"$'\n'"$off" "${section#*Not tried}")
}

# Prints the plugins that a text names.
plugins_in() { grep -owFf <(echo "$1") <<<"$2" | sort -u; } # PLUGINS TEXT

build_project() { # NAME KIND [FLAG...]
  cd "$folder"
  kopp init "$1" --group example.com --kind "${@:2}"
  cmake -S "$1" -B "$1/build" -DCMAKE_PREFIX_PATH="$folder/kopp" -DBUILD_TESTING=OFF
  cmake --build "$1/build"
}

# PodSecurity warns about a Deployment whose Pods it would reject. The API server returns warnings, which Helm and kubectl print.
deploy() { # NAME
  make -C "$folder/$1" deploy IMAGE="registry.example.com/$1" >"$folder/deployed" 2>&1 || { cat "$folder/deployed" && return 1; }
  equals "" grep -i warn "$folder/deployed"
  helm --namespace "$1" get manifest "$1" | kubectl apply --namespace "$1" --dry-run=server --warnings-as-errors -f -
}

# No controller creates the Pods of the Deployment here.
pods_are_accepted() { # NAME
  kubectl --namespace "$1" get deployment "$1" -o json |
    jq '.spec.template * {apiVersion: "v1", kind: "Pod", metadata: {name: "operator"}}' |
    kubectl --namespace "$1" create --warnings-as-errors -f -
  helm --namespace "$1" get hooks "$1" | kubectl --namespace "$1" create --warnings-as-errors -f -
  equals "Always Always" kubectl --namespace "$1" get pods -o 'jsonpath={.items[*].spec.containers[*].imagePullPolicy}'
}

# Blocks until the API server has seen the roles, and accepts owner references to the new kind. A kube-apiserver looks for
# new kinds every 10 seconds.
may_run() { # NAME
  flags_of "$1" >"$state/$1.flags"
  "$cluster" service-account "$state" "${namespaces[$1]}" "$1"
  eventually_matches '^No problems were found' check_permissions "$1"
  kubectl create -f "$folder/${samples[$1]}" --dry-run=client -o json |
    jq '{apiVersion: "v1", kind: "ConfigMap", metadata: {name: "owned",
      ownerReferences: [{apiVersion, kind, name: "any", uid: "any", blockOwnerDeletion: true}]}}' >"$folder/owned.json"
  eventually_equals "configmap/owned created (server dry run)" kubectl create --dry-run=server -f "$folder/owned.json"
}

# Prints the flags of the container in the chart. The servers of the operator listen on free ports of loopback. The operator of the
# tutorial has no chart, and no certificate for its webhooks.
flags_of() { # NAME
  if [[ $1 == site-operator ]]; then
    echo --webhook-port=-1
    return
  fi
  kubectl --namespace "${namespaces[$1]}" get deployment "$1" -o json |
    jq -r '.spec.template.spec.containers[0].args[] | sub("-bind-address=.*"; "-bind-address=127.0.0.1:0")'
}

check_permissions() { # NAME
  local -a flags
  mapfile -t flags <"$state/$1.flags"
  "$folder/$1/build/$1" --kubeconfig "$state/$1.kubeconfig" --check "${flags[@]}"
}

start_operator() { # NAME
  local -a flags=()
  [[ ! -e $state/$1.flags ]] || mapfile -t flags <"$state/$1.flags"
  process_start "$state" "$1" "$folder/$1/build/$1" --kubeconfig "$state/$1.kubeconfig" "${flags[@]}"
  disown -a # do not report when the operator ends
  last_operator=$1
}

# Removes the sample and its ConfigMap at the end: those of the other project have the same names.
project_reconciles() { # NAME
  local sample=$folder/${samples[$1]}
  kubectl apply -f "$sample"
  eventually_equals sample field "$sample" .status.configMap
  writes_again "$sample" sample .data.message Hello
  kubectl delete -f "$sample"
  kubectl delete configmap sample
}

# Checks a ConfigMap that the operator owns, and that the operator creates it again.
writes_again() { # OWNER-FILE CONFIGMAP FIELD VALUE
  local uid
  equals "$4" configmap "$2" "$3"
  equals "$(field "$1" .metadata.uid) true" configmap "$2" '.metadata.ownerReferences[0] | "\(.uid) \(.blockOwnerDeletion)"'
  uid=$(configmap "$2" .metadata.uid)
  kubectl delete configmap "$2"
  eventually_equals "$4" configmap "$2" "$3"
  [[ $(configmap "$2" .metadata.uid) != "$uid" ]]
}

field() { kubectl get -f "$1" -o json | jq -r "$2"; }             # FILE FILTER
configmap() { kubectl get configmap "$1" -o json | jq -r "$2"; } # NAME FILTER

# As the notes of the chart show. The operator remembers a refusal, so the API server must have seen the binding first.
metrics_need_permission() { # NAME
  kubectl create serviceaccount "$1-reader"
  kubectl create serviceaccount "$1-stranger"
  kubectl create clusterrolebinding "prometheus-$1" --clusterrole="$1-metrics-reader" --serviceaccount="default:$1-reader"
  eventually_equals yes kubectl auth can-i get /metrics --as="system:serviceaccount:default:$1-reader"
  equals 200 metrics_status "$1" --header "Authorization: Bearer $(kubectl create token "$1-reader")"
  equals 403 metrics_status "$1" --header "Authorization: Bearer $(kubectl create token "$1-stranger")"
  equals 401 metrics_status "$1"
}

metrics_status() { # NAME [FLAG...]
  local address
  address=$(sed -n 's/.*"Serving metrics" address="\([^"]*\)".*/\1/p' "$state/$1.log")
  curl --silent --show-error --insecure --max-time 60 --output /dev/null --write-out '%{http_code}' "https://$address/metrics" "${@:2}"
}

# The audit log has the watches of an operator only after it has stopped. 404 is the response to the first read of a Lease.
# 429 is that of a busy server, or of one that prepares the storage of a new kind.
no_request_was_rejected() { # NAME
  local user=system:serviceaccount:${namespaces[$1]}:$1
  equals "" requests "$user" '.responseStatus.code | . >= 400 and . < 500 and (IN(404, 429) | not)'
  matches 'patch configmaps 201' requests "$user" .objectRef
  matches 'watch configmaps 200' requests "$user" .objectRef
}

requests() { # USER CONDITION
  jq -r --arg user "$1" "select(.user.username == \$user) | select($2)
    | \"\(.verb) \(.objectRef.resource // .requestURI) \(.responseStatus.code) \(.responseStatus.message // \"\")\"" "$state/audit.log" | sort | uniq -c
}

# Follows the page, without its other servers and tests.
build_tutorial() {
  mkdir -p "$folder/site-operator/crd"
  write_files "$tutorial" "$folder/site-operator"
  cd "$folder/site-operator"
  cmake -B build -DCMAKE_PREFIX_PATH="$folder/kopp"
  cmake --build build --target site-operator
  build/site-operator --print-crd >crd/staticsites.yaml
  build/site-operator --print-rbac >rbac.yaml
}

install_tutorial() {
  cd "$folder/site-operator"
  commands_for_cluster "$tutorial" >commands
  matches '^kubectl create clusterrolebinding' cat commands
  # shellcheck source=/dev/null
  source commands
}

# Writes the files that a page shows. tests/docs/run_page.sh describes the comments above the blocks.
write_files() { # PAGE FOLDER
  awk -v folder="$2" '
    /^```/ { if (inside) file = ""; inside = !inside; next }
    inside { if (file) print >file; next }
    /^<!-- file: / { file = folder "/" $3; close(file); system(": >" file) }
    /^<!-- append: / { file = folder "/" $3 }' "$1"
}

# Prints the commands of kubectl in the blocks that need a cluster.
commands_for_cluster() { # PAGE
  awk '
    /^```/ { if (inside) wanted = 0; inside = !inside; next }
    inside && wanted && /^kubectl / { print }
    /^<!-- not run: needs a cluster -->/ { wanted = 1 }' "$1"
}

tutorial_reconciles() {
  local sample=$folder/${samples[site-operator]}
  kubectl apply -f "$sample"
  eventually_equals "{\"bytes\":$((${#page} + 1)),\"configMap\":\"blog-html\"}" field "$sample" '.status | tojson'
  writes_again "$sample" blog-html '.data["index.html"]' "$page"
}

# This is what OwnerReferencesPermissionEnforcement checks.
finalizers_rule_is_needed() {
  kubectl get clusterrole site-operator -o json |
    jq '{apiVersion, kind, metadata: {name: "incomplete"}, rules: [.rules[] | select(.resources != ["staticsites/finalizers"])]}' |
    kubectl create -f -
  kubectl create clusterrolebinding incomplete --clusterrole=incomplete --serviceaccount=default:incomplete
  kubectl get configmap blog-html -o json | jq '.metadata |= {name: "copy", ownerReferences}' >"$folder/copy.json"
  eventually_matches 'forbidden: cannot set blockOwnerDeletion' create_copy_as incomplete
  matches 'configmap/copy created' create_copy_as site-operator
}

create_copy_as() { kubectl create -f "$folder/copy.json" --as="system:serviceaccount:default:$1"; } # SERVICE-ACCOUNT

print_failure_context() {
  [[ -z ${last_operator:-} ]] || { echo "End of the log of $last_operator:" && tail -n 12 "$state/$last_operator.log" | cut -c1-300; }
}

main "$@"
