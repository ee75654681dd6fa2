# shellcheck shell=bash disable=SC2154 # shared with ../kubectl_test.sh
# Tests kubectl apply, client-side and server-side.

check_applying() {
  check "apply creates a custom resource, changes it, and reports it unchanged if nothing differs" apply_creates_and_changes
  check "apply removes fields deleted from the file and keeps fields of other clients" apply_removes_fields
  check "apply creates an object of a built-in kind" apply_built_in
  check "apply --server-side creates and changes objects of built-in and custom kinds" server_side_apply
  check "apply --server-side reports a conflict with the field's manager; --force-conflicts takes the field over" server_side_conflict
  check "apply --server-side removes fields deleted from the file" server_side_removes_fields
}

apply() { widget "$@" | kubectl apply -f -; }

apply_creates_and_changes() {
  equals "widget.test.kopp.example/a created" apply a red 2
  equals "widget.test.kopp.example/a configured" apply a green 2
  equals green field widget/a .spec.colour
  equals "widget.test.kopp.example/a unchanged" apply a green 2
}

apply_removes_fields() {
  kubectl patch widget a --type=merge -p '{"spec":{"note":"mine"}}'
  equals "widget.test.kopp.example/a configured" apply a green
  equals "1 mine" kubectl get widget a -o 'jsonpath={.spec.replicas} {.spec.note}' # 1 is the default
}

apply_built_in() {
  kubectl create configmap c --from-literal=key=one --dry-run=client -o yaml >"$state/c.yaml"
  matches 'configmap/c created' kubectl apply -f "$state/c.yaml"
  equals one field configmap/c .data.key
}

server_side_apply() {
  kubectl create deployment web --image=nginx:1.27 --dry-run=client -o yaml >"$state/web.yaml"
  equals "deployment.apps/web serverside-applied" kubectl apply --server-side -f "$state/web.yaml"
  sed -i 's/nginx:1.27/nginx:1.28/' "$state/web.yaml"
  equals "deployment.apps/web serverside-applied" kubectl apply --server-side -f "$state/web.yaml"
  equals nginx:1.28 field deployment/web '.spec.template.spec.containers[0].image'
  equals "widget.test.kopp.example/s serverside-applied" apply_server_side s red 3
  equals "kubectl Apply" kubectl get widget s --show-managed-fields \
    -o 'jsonpath={.metadata.managedFields[*].manager} {.metadata.managedFields[*].operation}'
}

apply_server_side() { widget "${@:1:3}" | kubectl apply --server-side "${@:4}" -f -; }

server_side_conflict() {
  kubectl patch widget s --type=merge --field-manager=painter -p '{"spec":{"colour":"blue"}}'
  matches 'Apply failed with 1 conflict: conflict with "painter".*: .spec.colour' apply_server_side s red 3
  equals blue field widget/s .spec.colour
  equals "widget.test.kopp.example/s serverside-applied" apply_server_side s red 3 --force-conflicts
  equals red field widget/s .spec.colour
}

server_side_removes_fields() {
  apply_server_side s red ""
  equals 1 field widget/s .spec.replicas # the default
}
