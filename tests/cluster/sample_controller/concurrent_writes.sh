# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# Checks two clients that change the same 200 Foos at the same time. Each client is a curl with one
# connection, because kubectl limits itself to five calls per second.

readonly foo_count=200

check_concurrent_writes() {
  check "When two clients change 200 Foos at the same time, every Deployment ends with its Foo's replicas" \
    concurrent_writes
}

concurrent_writes() {
  use_new_namespace concurrent-writes
  send_replicas POST 1 "range($foo_count)"
  # Each client changes all Foos three times, one in ascending and one in descending order, so that
  # both change the same Foos in the middle of each round.
  local ascending descending
  patch_in_rounds "range($foo_count)" 2 4 6 &
  ascending=$!
  patch_in_rounds "range($foo_count - 1; -1; -1)" 3 5 7 &
  descending=$!
  # Each must succeed. Not `wait -n`, which may forget one of two jobs that end at the same time.
  wait "$ascending"
  wait "$descending"
  eventually_equals "$foo_count reconciled" count_reconciled_foos
}

patch_in_rounds() { # ORDER REPLICAS...
  local replicas
  for replicas in "${@:2}"; do send_replicas PATCH "$replicas" "$1"; done
}

send_replicas() { # METHOD REPLICAS ORDER
  send_calls "$1" "$3" '{deploymentName: "d\(.)", replicas: '"$2}" --fail-early
}

# Sends a call of each method for each Foo of $namespace on one connection. ORDER prints their numbers,
# SPEC makes the spec of a number; both are in the language of jq. Fails if a call has failed.
send_calls() { # "METHOD..." ORDER SPEC [CURL-OPTION...]
  jq -nr --arg server "https://127.0.0.1:$(<"$state/port")" --arg methods "$1" --arg namespace "$namespace" \
    --arg ca "$state/ca.crt" --arg certificate "$state/admin.crt" --arg key "$state/admin.key" "$2"'
    | ($methods / " ")[] as $method
    | (if $method == "POST" then "" else "/f\(.)" end) as $name
    | (if $method == "PATCH" then "merge-patch+json" else "json" end) as $type
    | {apiVersion: "samplecontroller.k8s.io/v1alpha1", kind: "Foo", metadata: {name: "f\(.)"}, spec: ('"$3"')} as $foo
    | ["url = \($server)/apis/samplecontroller.k8s.io/v1alpha1/namespaces/\($namespace)/foos\($name)",
       "request = \($method)",
       (select($method != "DELETE") | "header = \("Content-Type: application/\($type)" | tojson)",
         "data = \($foo | tojson | tojson)"),
       "cacert = \($ca)", "cert = \($certificate)", "key = \($key)",
       "fail", "silent", "show-error", "output = /dev/null", "next"] | join("\n")' |
    sed '$d' | curl "${@:4}" --config -
}

count_reconciled_foos() {
  kubectl get foos,deployments -o json | jq -r '
    (.items | map(select(.kind == "Deployment")) | INDEX(.metadata.name)) as $deployments
    | .items | map(select(.kind == "Foo")
        | select($deployments[.spec.deploymentName].spec.replicas == .spec.replicas
                 and $deployments[.spec.deploymentName].metadata.ownerReferences[0].uid == .metadata.uid
                 and .status.availableReplicas == 0))
    | "\(length) reconciled"'
}
