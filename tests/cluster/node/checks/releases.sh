# shellcheck shell=bash disable=SC2154 # shared with ../../node_test.sh
# Checks of upgrade, rollback and removal.

# Creates Foos while COMMAND runs, and checks that all of them finally have their Pods.
while_foos_are_created() { # PREFIX COMMAND...
  local prefix=$1 code=0 creator
  shift
  create_foos "$prefix" &
  creator=$!
  "$@" || code=$?
  touch "$folder/$prefix-enough"
  wait "$creator"
  ((code == 0)) || return "$code"
  eventually_equals 2 ready_replicas
  patience=120 eventually_equals "" foos_without_pods
  equals yes at_least_foos 3 "$prefix"
}

create_foos() { # PREFIX
  local number=0
  until [[ -e $folder/$1-enough || ! -e $state/ready ]] || ((number == 15)); do
    number=$((number + 1))
    create_foo "$1-$number" 1
    sleep 0.5
  done
}

at_least_foos() { # COUNT PREFIX
  (($(kubectl get foos -o name | grep -c "/$2-") >= $1)) && echo yes
}

image_of_operator() {
  kubectl -n "$operators" get pods -l "app.kubernetes.io/instance=$release" -o json |
    jq -r '.items[] | select(.metadata.deletionTimestamp == null) | .spec.containers[0].image' | sort -u
}

crd_columns() {
  kubectl get crd foos.samplecontroller.k8s.io -o 'jsonpath={.spec.versions[0].additionalPrinterColumns[*].name}'
}

upgrade() {
  cp -rL "$chart" "$folder/chart"
  sed -i 's/^version: .*/version: 9.9.9/' "$folder/chart/Chart.yaml"
  sed -i "s/^\( *\)storage: true$/&\n\1additionalPrinterColumns: [{name: Wanted, type: integer, jsonPath: .spec.replicas}]/" \
    "$folder/chart/files/crds/foos.yaml"
  while_foos_are_created upgrade helm upgrade "$release" "$folder/chart" --set replicaCount=2,image.tag=next --wait --timeout 300s
  matches ':next$' image_of_operator
  equals Wanted crd_columns
}

rollback() {
  while_foos_are_created rollback helm rollback "$release" 1 --wait --timeout 300s
  matches ':0\.[0-9.]+$' image_of_operator
  equals "" crd_columns
}

uninstall() {
  local foos
  foos=$(kubectl get foos -o name)
  helm uninstall "$release" --wait --timeout 300s
  eventually_equals "" kubectl -n "$operators" get pods -o name
  equals "$foos" kubectl get foos -o name
  equals "$foos" foos_with_deployments
  # The garbage collector deletes some objects a little later.
  eventually_equals customresourcedefinition.apiextensions.k8s.io/foos.samplecontroller.k8s.io objects_of_release
  eventually_equals "configmap/kube-root-ca.crt lease.coordination.k8s.io/$name serviceaccount/default" objects_in_namespace
}

foos_with_deployments() {
  kubectl get deployments -o json |
    jq -r '.items[].metadata.ownerReferences[]? | select(.kind == "Foo") | "foo.samplecontroller.k8s.io/\(.name)"' | sort
}

readonly namespaced_kinds=configmaps,deployments,endpointslices,leases,networkpolicies,poddisruptionbudgets,pods,replicasets,rolebindings,roles,secrets,serviceaccounts,services

objects_of_release() {
  kubectl get "crd,clusterroles,clusterrolebindings,$namespaced_kinds" --all-namespaces \
    -l "app.kubernetes.io/instance=$release" -o name
}

objects_in_namespace() {
  kubectl -n "$operators" get "$namespaced_kinds" -o name | sort | tr '\n' ' ' | sed 's/ $//'
}
