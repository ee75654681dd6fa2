#!/usr/bin/env bash
# Demonstrates the sample controller step by step in a few seconds: `make demo`.
#   CLUSTER              kopp (the default): use kopp-apiserver; real: use etcd and kube-apiserver
#   SAMPLE_CONTROLLER    the program to demonstrate (default: the build of preset default)
#   KOPP_APISERVER       the kopp-apiserver program (default: the build of preset default)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
manifests=$root/controllers/sample/manifests
default_program=$root/build/default/controllers/sample/sample-controller
SAMPLE_CONTROLLER=$(realpath -m "${SAMPLE_CONTROLLER:-$default_program}")
export KOPP_APISERVER=${KOPP_APISERVER:-$root/build/default/framework/apiserver/kopp-apiserver}

# shellcheck source=tests/at_exit.sh
source "$here/../at_exit.sh"
# shellcheck source-path=SCRIPTDIR source=process.sh
source "$here/process.sh"
SERVER=${CLUSTER:-kopp}
# shellcheck source-path=SCRIPTDIR source=server.sh
source "$here/server.sh"
# shellcheck source-path=SCRIPTDIR source=check.sh
source "$here/check.sh"
# shellcheck source-path=SCRIPTDIR source=sample_controller/foos.sh
source "$here/sample_controller/foos.sh"

main() {
  prepare
  print_introduction
  step start_control_plane "Start a control plane: $(control_plane_name)"
  step install_crd "Install the CustomResourceDefinition of Foo"
  step start_controller "Start the sample controller, which watches Foos"
  step create_example_foo "You create Foo example-foo with replicas: 1"
  expect_write create "The controller creates Deployment example-foo with 1 replica" 1
  step scale_example_foo "You change the Foo to replicas: 3"
  expect_write update "The controller scales the Deployment to 3" 3
  step delete_deployment "You delete the Deployment"
  expect_write create "The controller creates it again with 3 replicas" 3
  step stop_cluster "Stop and remove everything"
  print_next_steps
}

prepare() {
  if [[ ! -x $SAMPLE_CONTROLLER ]]; then
    echo "demo.sh: $SAMPLE_CONTROLLER does not exist; run 'make demo', which builds it" >&2
    exit 1
  fi
  bold='' green='' red='' plain='' number=0
  if [[ -t 1 && -z ${NO_COLOR:-} ]]; then bold=$'\e[1m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'; fi
  if [[ $server == real ]]; then
    KOPP_PROGRAMS=$("$here/programs.sh")
    export KOPP_PROGRAMS
  fi
  folder=$(mktemp -d)
  state=$folder/cluster check_output=$folder/check_output
  at_exit clean_up
}

print_introduction() {
  local server_description="its in-memory API server"
  [[ $server == kopp ]] || server_description="a real Kubernetes API server"
  cat <<EOF

${bold}kopp: a Kubernetes controller in C++, on $server_description${plain}

The sample controller creates a Deployment for each Foo and keeps its replicas
in sync. No Pods run in this demo: there is only an API server. The times show
how quickly the controller reacts.

EOF
}

control_plane_name() {
  if [[ $server == kopp ]]; then
    echo "kopp-apiserver"
  else
    "$KOPP_PROGRAMS/kube-apiserver" --version | sed 's/.* v/etcd and kube-apiserver /'
  fi
}

step() { # FUNCTION DESCRIPTION
  local started=$EPOCHREALTIME
  number=$((number + 1))
  current_step=$2
  run_check "$1"
  ((check_exit_code == 0)) || fail "no error" "$(tail -n 5 "$check_output")"
  print_line "$2" "$(format_duration $((${EPOCHREALTIME//[^0-9]/} - ${started//[^0-9]/})))"
}

# Waits for the controller's reaction to the previous step and prints how long it took, according to
# the API server's audit log: from the end of the user's call to the end of the controller's call.
expect_write() { # VERB DESCRIPTION REPLICAS
  number=$((number + 1))
  current_step=$2
  run_check eventually_equals "$3" replicas example-foo
  ((check_exit_code == 0)) ||
    fail "Deployment example-foo with $3 replicas within $patience s" "$(sed -n 's/^actual:   //p' "$check_output")"
  run_check eventually_matches '^[0-9]+$' reaction_microseconds "$1" # until the log has the call
  ((check_exit_code == 0)) || fail "the controller's $1 in the audit log" "$(sed -n 's/^actual:   //p' "$check_output")"
  print_line "$2" "$(format_duration "$(reaction_microseconds "$1")")" "$green"
}

reaction_microseconds() { # VERB
  audit_log | jq -n --arg verb "$1" '
    def microseconds: (.[0:19] + "Z" | fromdate) * 1000000 + (.[20:26] | tonumber);
    [inputs | select(.responseStatus.code < 300)]
    | (map(select(.user.username == "admin" and .objectRef.name == "example-foo"
                    and (.verb | IN("create", "patch", "delete")))) | last) as $user_call
    | (map(select(.user.username != "admin" and .objectRef.resource == "deployments"
                  and .verb == $verb)) | last) as $controller_call
    | ($controller_call.stageTimestamp | microseconds) - ($user_call.stageTimestamp | microseconds)'
}

format_duration() { # MICROSECONDS
  if (($1 >= 1000000)); then
    printf '%d.%d s' $(($1 / 1000000)) $(($1 / 100000 % 10))
  else
    printf '%d.%d ms' $(($1 / 1000)) $(($1 / 100 % 10))
  fi
}

print_line() { printf '%3d. %s%-64s%s %10s\n' "$number" "${3:-}" "$1" "$plain" "$2"; } # DESCRIPTION TIME [COLOUR]

start_control_plane() { "$cluster" up "$state"; }

# Sends the user's API calls with curl, because kubectl may not be installed.
call() { # METHOD PATH [TYPE FILE]
  curl --silent --show-error --fail-with-body --cacert "$state/ca.crt" --cert "$state/admin.crt" \
    --key "$state/admin.key" --request "$1" ${3:+--header "Content-Type: application/$3" --data-binary "@$4"} \
    "https://127.0.0.1:$(<"$state/port")$2"
}

readonly foos=/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos
readonly deployments=/apis/apps/v1/namespaces/default/deployments
readonly crds=/apis/apiextensions.k8s.io/v1/customresourcedefinitions

install_crd() {
  call POST "$crds" yaml "$manifests/crd-status-subresource.yaml"
  eventually_equals True established_condition
  # A real API server delays the first create of a new kind by 2 s. This dry run keeps that delay
  # out of the time of "You create".
  call POST "$foos?dryRun=All" yaml "$manifests/example-foo.yaml"
}

established_condition() {
  call GET "$crds/foos.samplecontroller.k8s.io" |
    jq -r '.status.conditions[] | select(.type == "Established") | .status'
}

start_controller() {
  if [[ $server == real ]]; then # it has RBAC, so the controller needs its rules
    "$KOPP_PROGRAMS/kubectl" --kubeconfig "$state/admin.kubeconfig" apply -f "$manifests/rbac.yaml"
  fi
  "$cluster" service-account "$state" default sample-controller
  start_controller_process ""
  eventually_equals "the controller watches Foos" foo_watch # then the controller is ready
}

foo_watch() {
  audit_log | jq -nr 'first(inputs | select(.verb == "watch" and .objectRef.resource == "foos"))
    | "the controller watches Foos"'
}

create_example_foo() { call POST "$foos" yaml "$manifests/example-foo.yaml"; }
scale_example_foo() { call PATCH "$foos/example-foo" merge-patch+json - <<<'{"spec":{"replicas":3}}'; }
delete_deployment() { call DELETE "$deployments/example-foo"; }
replicas() { call GET "$deployments/$1" | jq .spec.replicas; }

print_next_steps() {
  local program=${SAMPLE_CONTROLLER#"$PWD"/}
  echo && echo "Try next:"
  if [[ $server == kopp ]]; then
    cat <<EOF
  ${KOPP_APISERVER#"$PWD"/} --demo -- \\
    $program
                                  run the controller live: change the objects yourself
  make test                       run the tests that need no cluster
  make demo CLUSTER=real          run this demo on etcd and kube-apiserver
EOF
  else
    cat <<EOF
  make test                       run the tests that need no cluster
  make test-cluster               run the automated tests on etcd and kube-apiserver
  $program --help
                                  show the flags, to run it against your own cluster
EOF
  fi
}

fail() { # EXPECTED ACTUAL
  rm -rf "$root/build/demo"
  mkdir -p "$root/build/demo"
  cp "$state"/*.log "$root/build/demo/" 2>/dev/null || true
  printf '%3d. %s%s: failed%s\n' "$number" "$red" "$current_step" "$plain"
  printf '     expected: %s\n     actual:   %s\n' "$1" "$(sed '2,$s/^/               /' <<<"${2:-nothing}")"
  printf '     logs:     %s\n' "$root/build/demo"
  if [[ -s $root/build/demo/controller.log ]]; then
    echo "     End of the controller's log:"
    tail -n 3 "$root/build/demo/controller.log" | sed 's/^/       /'
  fi
  exit 1
}

stop_cluster() { [[ ! -e $state/cluster ]] || "$cluster" down "$state"; }

clean_up() {
  kill_check
  stop_cluster
  rm -rf "$folder"
}

main "$@"
