# shellcheck shell=bash disable=SC2154 # shared with ../kubectl_test.sh
# delete: at once, held up by finalizers, and what it takes along.

check_deleting() {
  check "delete returns when the object is gone" deleted
  check "delete of what is not there says so, or nothing with --ignore-not-found" deleted_twice
  check "delete of an object with a finalizer waits until that is removed" finalizer
  check "delete -l and --all take those that they mean" several_deleted
  only_kopp "the real one leaves it to the controller manager, which is not there" \
    "delete takes along what an object owns, in the background and in the foreground" cascade
  only_kopp "the real one leaves it to the controller manager, which is not there" \
    "delete --cascade=orphan leaves what an object owns, without its owner" orphaned
  only_kopp "the real one leaves it to the namespace controller, which is not there" \
    "delete of a namespace takes along all that is in it" namespace_deleted
  check "delete of a definition takes along its objects and its kind" definition_deleted
}

only_kopp() { # REASON SENTENCE FUNCTION
  if [[ $server == kopp ]]; then check "$2" "$3"; else leave_out "$2" "$1"; fi
}

deleted() {
  make configmap a
  is 'configmap "a" deleted' delete configmap a
  is "" kubectl get configmaps a --ignore-not-found
}

# The namespace that newer kubectls name is left out.
delete() { kubectl delete "$@" | sed "s/ from $namespace namespace\$//"; }

deleted_twice() {
  shows 'Error from server \(NotFound\): configmaps "a" not found' 0 kubectl delete configmap a
  is "" kubectl delete configmap a --ignore-not-found
}

finalizer() {
  kubectl create -f - <<<'{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [kopp.example/hold]}}'
  process_start "$state" delete "$KOPP_PROGRAMS/kubectl" --kubeconfig admin.kubeconfig -n "$namespace" \
    delete configmap held
  shows '^20' 10 field configmap/held .metadata.deletionTimestamp
  process_id "$state" delete # it waits
  kubectl patch configmap held --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
  becomes "" 10 process_id "$state" delete
  is "" kubectl get configmap held --ignore-not-found
}

several_deleted() {
  local name
  for name in a b c; do widget "$name" red | kubectl create -f -; done
  kubectl label widget a b tier=front
  kubectl delete widgets -l tier=front
  is widget.test.kopp.example/c kubectl get widgets -o name
  kubectl delete widgets --all
  is "" kubectl get widgets -o name
}

owner_and_owned() { # NAME
  make deployment "$1" --image=nginx
  kubectl create -f - <<END
{apiVersion: v1, kind: ConfigMap, metadata: {name: of-$1, ownerReferences: [{apiVersion: apps/v1,
 kind: Deployment, name: $1, uid: $(field "deployment/$1" .metadata.uid), blockOwnerDeletion: true}]}}
END
}

cascade() {
  owner_and_owned background
  kubectl delete deployment background
  becomes "" 10 kubectl get configmap of-background --ignore-not-found
  owner_and_owned foreground
  kubectl delete deployment foreground --cascade=foreground
  is "" kubectl get configmap of-foreground --ignore-not-found
}

orphaned() {
  owner_and_owned left
  kubectl delete deployment left --cascade=orphan
  becomes "" 10 field configmap/of-left .metadata.ownerReferences
}

namespace_deleted() {
  make namespace gone
  (namespace=gone && make configmap a)
  kubectl delete namespace gone
  shows 'namespaces "gone" not found' 0 kubectl get namespace gone
  is "" kubectl -n gone get configmaps -o name
}

definition_deleted() {
  kubectl create -f - <<'END'
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: fads.test.kopp.example},
 spec: {group: test.kopp.example, scope: Namespaced, names: {kind: Fad, plural: fads},
        versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}
END
  kubectl wait --for=condition=Established --timeout=20s crd/fads.test.kopp.example
  kubectl create -f - <<<'{apiVersion: test.kopp.example/v1, kind: Fad, metadata: {name: a}}'
  kubectl delete crd fads.test.kopp.example
  shows "the server doesn't have a resource type \"fads\"|could not find the requested resource" 20 kubectl get fads
}
