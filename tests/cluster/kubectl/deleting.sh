# shellcheck shell=bash disable=SC2154 # shared with ../kubectl_test.sh
# Tests kubectl delete: finalizers, selectors, cascading deletion, namespaces and CRDs.

check_deleting() {
  check "delete returns after the object is deleted" delete_object
  check "delete of a missing object fails with NotFound, or prints nothing with --ignore-not-found" delete_missing_object
  check "delete of an object with a finalizer waits until the finalizer is removed" finalizer
  check "delete -l deletes the selected objects and --all deletes all objects" delete_several
  only_kopp "the real server needs the controller manager for this, which does not run here" \
    "delete also deletes the dependents of an object, in the background and in the foreground" cascade
  only_kopp "the real server needs the controller manager for this, which does not run here" \
    "delete --cascade=orphan keeps the dependents and removes their owner references" orphan
  only_kopp "the real server needs the namespace controller for this, which does not run here" \
    "delete of a namespace deletes all objects in it" delete_namespace
  check "delete of a CRD deletes its objects and removes the kind" delete_crd
}

only_kopp() { # REASON DESCRIPTION FUNCTION
  if [[ $server == kopp ]]; then check "$2" "$3"; else skip_check "$2" "$1"; fi
}

delete_object() {
  kubectl create configmap a
  equals 'configmap "a" deleted' delete configmap a
  equals "" kubectl get configmaps a --ignore-not-found
}

# Removes the namespace from the output: only newer versions of kubectl print it.
delete() { kubectl delete "$@" | sed "s/ from $namespace namespace\$//"; }

delete_missing_object() {
  matches 'Error from server \(NotFound\): configmaps "a" not found' kubectl delete configmap a
  equals "" kubectl delete configmap a --ignore-not-found
}

finalizer() {
  kubectl create -f - <<<'{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [kopp.example/hold]}}'
  process_start "$state" delete "$KOPP_PROGRAMS/kubectl" --kubeconfig admin.kubeconfig -n "$namespace" \
    delete configmap held
  eventually_matches '^20' field configmap/held .metadata.deletionTimestamp
  process_id "$state" delete # it is still waiting
  kubectl patch configmap held --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
  eventually_equals "" process_id "$state" delete
  equals "" kubectl get configmap held --ignore-not-found
}

delete_several() {
  local name
  for name in a b c; do widget "$name" red | kubectl create -f -; done
  kubectl label widget a b tier=front
  kubectl delete widgets -l tier=front
  equals widget.test.kopp.example/c kubectl get widgets -o name
  kubectl delete widgets --all
  equals "" kubectl get widgets -o name
}

create_owner_and_dependent() { # NAME
  kubectl create deployment "$1" --image=nginx
  kubectl create -f - <<END
{apiVersion: v1, kind: ConfigMap, metadata: {name: of-$1, ownerReferences: [{apiVersion: apps/v1,
 kind: Deployment, name: $1, uid: $(field "deployment/$1" .metadata.uid), blockOwnerDeletion: true}]}}
END
}

cascade() {
  create_owner_and_dependent background
  kubectl delete deployment background
  eventually_equals "" kubectl get configmap of-background --ignore-not-found
  create_owner_and_dependent foreground
  kubectl delete deployment foreground --cascade=foreground
  equals "" kubectl get configmap of-foreground --ignore-not-found
}

orphan() {
  create_owner_and_dependent orphaned
  kubectl delete deployment orphaned --cascade=orphan
  eventually_equals "" field configmap/of-orphaned .metadata.ownerReferences
}

delete_namespace() {
  kubectl create namespace gone
  (namespace=gone && kubectl create configmap a)
  kubectl delete namespace gone
  matches 'namespaces "gone" not found' kubectl get namespace gone
  equals "" kubectl -n gone get configmaps -o name
}

delete_crd() {
  kubectl create -f - <<'END'
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: fads.test.kopp.example},
 spec: {group: test.kopp.example, scope: Namespaced, names: {kind: Fad, plural: fads},
        versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}
END
  await_kind test.kopp.example/v1 fads
  kubectl create -f - <<<'{apiVersion: test.kopp.example/v1, kind: Fad, metadata: {name: a}}'
  kubectl delete crd fads.test.kopp.example
  eventually_matches "the server doesn't have a resource type \"fads\"|could not find the requested resource" kubectl get fads
}
