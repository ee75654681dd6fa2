# shellcheck shell=bash disable=SC2154 # shared with ../kubectl_test.sh
# apply, by kubectl itself and by the server.

check_applying() {
  check "apply makes a custom resource, changes it, and leaves it when there is nothing to change" applied
  check "apply removes what the file no longer has, and keeps what others wrote" applied_less
  check "apply makes an object of a built-in kind" applied_built_in
  check "apply --server-side makes and changes objects of built-in and custom kinds" server_side
  check "apply --server-side says who owns a field that it would change, and wins it with --force-conflicts" conflict
  check "apply --server-side gives up what the file no longer has" server_side_less
}

apply() { widget "$@" | kubectl apply -f -; }

applied() {
  is "widget.test.kopp.example/a created" apply a red 2
  is "widget.test.kopp.example/a configured" apply a green 2
  is green field widget/a .spec.colour
  is "widget.test.kopp.example/a unchanged" apply a green 2
}

applied_less() {
  kubectl patch widget a --type=merge -p '{"spec":{"note":"mine"}}'
  is "widget.test.kopp.example/a configured" apply a green
  is "1 mine" kubectl get widget a -o 'jsonpath={.spec.replicas} {.spec.note}' # 1 is the default
}

applied_built_in() {
  kubectl create configmap c --from-literal=key=one --dry-run=client -o yaml >"$state/c.yaml"
  shows 'configmap/c created' 0 kubectl apply -f "$state/c.yaml"
  is one field configmap/c .data.key
}

server_side() {
  kubectl create deployment web --image=nginx:1.27 --dry-run=client -o yaml >"$state/web.yaml"
  is "deployment.apps/web serverside-applied" kubectl apply --server-side -f "$state/web.yaml"
  sed -i 's/nginx:1.27/nginx:1.28/' "$state/web.yaml"
  is "deployment.apps/web serverside-applied" kubectl apply --server-side -f "$state/web.yaml"
  is nginx:1.28 field deployment/web '.spec.template.spec.containers[0].image'
  is "widget.test.kopp.example/s serverside-applied" apply_server_side s red 3
  is "kubectl Apply" kubectl get widget s --show-managed-fields \
    -o 'jsonpath={.metadata.managedFields[*].manager} {.metadata.managedFields[*].operation}'
}

apply_server_side() { widget "${@:1:3}" | kubectl apply --server-side "${@:4}" -f -; }

conflict() {
  kubectl patch widget s --type=merge --field-manager=painter -p '{"spec":{"colour":"blue"}}'
  shows 'Apply failed with 1 conflict: conflict with "painter".*: .spec.colour' 0 apply_server_side s red 3
  is blue field widget/s .spec.colour
  is "widget.test.kopp.example/s serverside-applied" apply_server_side s red 3 --force-conflicts
  is red field widget/s .spec.colour
}

server_side_less() {
  apply_server_side s red ""
  is 1 field widget/s .spec.replicas # the default
}
