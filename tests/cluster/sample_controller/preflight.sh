# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# Checks --check on a real API server, with the permissions of rbac.yaml and with one verb less.

readonly production_flags=(--leader-elect --leader-election-namespace default --metrics-bind-address 127.0.0.1:0)

check_preflight() {
  local allowed="--check finds no problem with the permissions of rbac.yaml"
  local denied="--check ends with exit code 1 and names a verb that is not allowed"
  if [[ $server == real ]]; then
    check "$allowed" preflight_without_problems
    check "$denied" preflight_with_missing_verb
  else
    skip_check "$allowed" "kopp-apiserver allows everything here"
    skip_check "$denied" "kopp-apiserver allows everything here"
  fi
}

preflight_without_problems() {
  "$SAMPLE_CONTROLLER" --kubeconfig "$state/sample-controller.kubeconfig" "${production_flags[@]}" --check >"$state/stdout"
  cat "$state/stdout"
  grep -qx 'No problems were found.' "$state/stdout"
}

preflight_with_missing_verb() {
  namespace=default
  local code=0
  kubectl create serviceaccount limited
  "$cluster" service-account "$state" default limited
  kubectl get clusterrole sample-controller -o json | jq '
    del(.metadata.resourceVersion, .metadata.uid) | .metadata.name = "limited"
    | del(.rules[] | select(.resources == ["foos/status"]))' | kubectl create -f -
  kubectl create clusterrolebinding limited --clusterrole=limited --serviceaccount=default:limited
  kubectl create rolebinding limited --role=sample-controller --serviceaccount=default:limited
  # The server applies new bindings a little later.
  eventually_equals yes kubectl auth can-i create leases --as=system:serviceaccount:default:limited
  eventually_equals yes kubectl auth can-i list foos -A --as=system:serviceaccount:default:limited
  "$SAMPLE_CONTROLLER" --kubeconfig "$state/limited.kubeconfig" "${production_flags[@]}" --check >"$state/stdout" || code=$?
  echo "exit code $code" && cat "$state/stdout"
  [[ $code == 1 ]]
  equals "FAILED  may not patch foos/status.samplecontroller.k8s.io in all namespaces" \
    grep FAILED "$state/stdout"
  grep -qx '1 problem was found.' "$state/stdout"
}
