#!/usr/bin/env bash
# The sample controller at work, in a few seconds and a dozen lines: `make demo`.
#   CLUSTER              kopp (the default): on kopp's own API server; real: on etcd and kube-apiserver
#   SAMPLE_CONTROLLER    the program to show (default: the build of preset default)
#   KOPP_APISERVER       kopp's API server (likewise)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
manifests=$root/controllers/sample/manifests
built=$root/build/default/controllers/sample/sample-controller
SAMPLE_CONTROLLER=$(realpath -m "${SAMPLE_CONTROLLER:-$built}")
export KOPP_APISERVER=${KOPP_APISERVER:-$root/build/default/framework/apiserver/kopp-apiserver}

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
  introduce
  step start_control_plane "A control plane is up: $(control_plane)"
  step install_crd "The API server has learnt from a CRD what a Foo is"
  step start_controller "The sample controller runs, and watches Foos"
  step create_foo "You create Foo example-foo: \"I want 1 replica of nginx\""
  reaction create "The controller makes Deployment example-foo with 1 replica" 1
  step scale_foo "You change the Foo: \"3 replicas\""
  reaction update "The controller scales the Deployment to 3" 3
  step delete_deployment "You delete the Deployment, as if by accident"
  reaction create "The controller makes it again, with 3 replicas" 3
  step clean_up "All of it is stopped and removed"
  farewell
}

prepare() {
  if [[ ! -x $SAMPLE_CONTROLLER ]]; then
    echo "There is no program $SAMPLE_CONTROLLER: build it first" >&2
    exit 1
  fi
  bold='' green='' red='' plain='' number=0
  if [[ -t 1 && -z ${NO_COLOR:-} ]]; then bold=$'\e[1m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'; fi
  if [[ $server == real ]]; then
    KOPP_PROGRAMS=$("$here/programs.sh")
    export KOPP_PROGRAMS
  fi
  folder=$(mktemp -d)
  state=$folder/cluster seen=$folder/seen
  trap leave EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  trap 'exit 141' PIPE
}

introduce() {
  local where="its own API server, in memory"
  [[ $server == kopp ]] || where="a real Kubernetes API server"
  cat <<EOF

${bold}kopp: a Kubernetes controller in C++, on $where${plain}

It keeps one Deployment for each object of the kind Foo, as the Foo says.
No Pods run in this demo: there is an API server, and nothing that starts
containers. What you see is the controller's own work, and how quick it is.

EOF
}

control_plane() {
  if [[ $server == kopp ]]; then
    echo "kopp-apiserver"
  else
    "$KOPP_PROGRAMS/kube-apiserver" --version | sed 's/.* v/etcd and kube-apiserver /'
  fi
}

step() { # FUNCTION SENTENCE
  local started=$EPOCHREALTIME
  number=$((number + 1))
  doing=$2
  attempt "$1"
  ((attempt_code == 0)) || fail "no error" "$(tail -n 5 "$seen")"
  line "$2" "$(duration $((${EPOCHREALTIME//[^0-9]/} - ${started//[^0-9]/})))"
}

# What the controller does of itself. The time is the API server's own, from its audit log: from the
# user's call answered to the controller's call answered.
reaction() { # VERB SENTENCE REPLICAS
  number=$((number + 1))
  doing=$2
  attempt becomes "$3" 20 replicas example-foo
  ((attempt_code == 0)) ||
    fail "Deployment example-foo with $3 replicas within 20 s" "$(sed -n 's/^saw last //p' "$seen")"
  line "$2" "$(duration "$(microseconds_to "$1")")" "$green"
}

microseconds_to() { # VERB
  audit_log | jq -n --arg verb "$1" '
    def microseconds: (.[0:19] + "Z" | fromdate) * 1000000 + (.[20:26] | tonumber);
    [inputs | select(.responseStatus.code < 300)]
    | (map(select(.user.username == "admin" and .objectRef.name == "example-foo"
                    and (.verb | IN("create", "patch", "delete")))) | last) as $asked
    | (map(select(.user.username != "admin" and .objectRef.resource == "deployments"
                  and .verb == $verb)) | last) as $answered
    | ($answered.stageTimestamp | microseconds) - ($asked.stageTimestamp | microseconds)'
}

duration() { # MICROSECONDS
  if (($1 >= 1000000)); then
    printf '%d.%d s' $(($1 / 1000000)) $(($1 / 100000 % 10))
  else
    printf '%d.%d ms' $(($1 / 1000)) $(($1 / 100 % 10))
  fi
}

line() { printf '%3d. %s%-64s%s %10s\n' "$number" "${3:-}" "$1" "$plain" "$2"; } # SENTENCE TIME [COLOUR]

start_control_plane() { "$cluster" up "$state"; }

# What you do. By curl: kubectl need not be there.
call() { # METHOD PATH [TYPE FILE]
  curl --silent --show-error --fail-with-body --cacert "$state/ca.crt" --cert "$state/admin.crt" \
    --key "$state/admin.key" --request "$1" ${3:+--header "Content-Type: application/$3" --data-binary "@$4"} \
    "https://127.0.0.1:$(<"$state/port")$2"
}

readonly foos=/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos
readonly deployments=/apis/apps/v1/namespaces/default/deployments
readonly definitions=/apis/apiextensions.k8s.io/v1/customresourcedefinitions

install_crd() {
  call POST "$definitions" yaml "$manifests/crd-status-subresource.yaml"
  becomes True 20 established
  # A real API server holds the first objects of a new kind back for 2 s; here, and not in "You create".
  call POST "$foos?dryRun=All" yaml "$manifests/example-foo.yaml"
}

established() {
  call GET "$definitions/foos.samplecontroller.k8s.io" |
    jq -r '.status.conditions[] | select(.type == "Established") | .status'
}

start_controller() {
  if [[ $server == real ]]; then # it has rights, and needs them
    "$KOPP_PROGRAMS/kubectl" --kubeconfig "$state/admin.kubeconfig" apply -f "$manifests/rbac.yaml"
  fi
  "$cluster" service-account "$state" default sample-controller
  controller_start ""
  becomes "the controller watches Foos" 20 watching # then it is ready
}

watching() {
  audit_log | jq -nr 'first(inputs | select(.verb == "watch" and .objectRef.resource == "foos"))
    | "the controller watches Foos"'
}

create_foo() { call POST "$foos" yaml "$manifests/example-foo.yaml"; }
scale_foo() { call PATCH "$foos/example-foo" merge-patch+json - <<<'{"spec":{"replicas":3}}'; }
delete_deployment() { call DELETE "$deployments/example-foo"; }
replicas() { call GET "$deployments/$1" | jq .spec.replicas; }

farewell() {
  local program=${SAMPLE_CONTROLLER#"$PWD"/}
  echo && echo "Try next:"
  if [[ $server == kopp ]]; then
    cat <<EOF
  ${KOPP_APISERVER#"$PWD"/} --demo -- \\
    $program
                                  the same, live, for you to play with
  make test                       the tests that need no cluster
  make demo CLUSTER=real          the same on etcd and kube-apiserver
EOF
  else
    cat <<EOF
  make test                       the tests that need no cluster
  make test-cluster               everything above and more, checked
  $program --help
                                  run it against your own cluster
EOF
  fi
}

fail() { # EXPECTED SEEN
  rm -rf "$root/build/demo"
  mkdir -p "$root/build/demo"
  cp "$state"/*.log "$root/build/demo/" 2>/dev/null || true
  printf '%3d. %s%s: this did not happen%s\n' "$number" "$red" "$doing" "$plain"
  printf '     expected: %s\n     seen:     %s\n' "$1" "$(sed '2,$s/^/               /' <<<"${2:-nothing}")"
  printf '     logs:     %s\n' "$root/build/demo"
  if [[ -s $root/build/demo/controller.log ]]; then
    echo "     The controller's last words:"
    tail -n 3 "$root/build/demo/controller.log" | sed 's/^/       /'
  fi
  exit 1
}

clean_up() { [[ ! -e $state/cluster ]] || "$cluster" down "$state"; }

leave() {
  local code=$?
  set +e
  trap '' INT TERM HUP PIPE
  end_attempt
  clean_up
  rm -rf "$folder"
  exit "$code"
}

main "$@"
