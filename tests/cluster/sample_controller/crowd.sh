# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# Two clients who change the same 200 Foos at once. They are curl, one connection each: kubectl allows
# itself five calls a second.

readonly crowd_size=200

check_crowd() {
  check "200 Foos changed by two clients at once: every Deployment ends as its Foo says" crowd
}

crowd() {
  in_namespace crowd
  client POST 1 "range($crowd_size)"
  # One goes up and one goes down, three times: they meet in the middle, and elsewhere by chance.
  rounds "range($crowd_size)" 2 4 6 &
  rounds "range($crowd_size - 1; -1; -1)" 3 5 7 &
  wait -n # each must succeed
  wait -n
  becomes "$crowd_size in line" 60 crowd_in_line
}

rounds() { # ORDER REPLICAS...
  local replicas
  for replicas in "${@:2}"; do client PATCH "$replicas" "$1"; done
}

client() { # METHOD REPLICAS ORDER: one connection, a call for each Foo in this order
  jq -nr --arg server "https://127.0.0.1:$(<"$state/port")" --arg method "$1" \
    --argjson replicas "$2" --arg ca "$state/ca.crt" --arg certificate "$state/admin.crt" \
    --arg key "$state/admin.key" "$3"' | tostring
    | (if $method == "PATCH" then ["/f" + ., "merge-patch+json"] else ["", "json"] end) as [$name, $type]
    | ["url = \($server)/apis/samplecontroller.k8s.io/v1alpha1/namespaces/crowd/foos\($name)",
       "request = \($method)", "header = \("Content-Type: application/\($type)" | tojson)",
       "data = \({apiVersion: "samplecontroller.k8s.io/v1alpha1", kind: "Foo", metadata: {name: ("f" + .)},
                  spec: {deploymentName: ("d" + .), $replicas}} | tojson | tojson)",
       "cacert = \($ca)", "cert = \($certificate)", "key = \($key)",
       "fail", "silent", "show-error", "output = /dev/null", "next"] | join("\n")' |
    sed '$d' | curl --fail-early --config -
}

crowd_in_line() {
  kubectl get foos,deployments -o json | jq -r '
    (.items | map(select(.kind == "Deployment")) | INDEX(.metadata.name)) as $deployments
    | .items | map(select(.kind == "Foo")
        | select($deployments[.spec.deploymentName].spec.replicas == .spec.replicas
                 and $deployments[.spec.deploymentName].metadata.ownerReferences[0].uid == .metadata.uid
                 and .status.availableReplicas == 0))
    | "\(length) in line"'
}
