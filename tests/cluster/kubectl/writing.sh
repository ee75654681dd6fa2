# shellcheck shell=bash disable=SC2154 # shared with ../kubectl_test.sh
# create, patch, label, annotate and scale.

check_writing() {
  check "create makes what a file says, and things by name" created
  check "create of what is there already says so" created_twice
  check "create of what the schema forbids says where and why" forbidden
  check "create of a field that nobody knows says which" unknown_field
  check "create of a kind that nobody defines says to define it first" undefined_kind
  check "create --dry-run=server says what would be made, and makes nothing" dry_run
  check "patch --type=merge changes some fields and removes those that are null" merge_patch
  check "patch --type=json changes what its test allows" json_patch
  check "patch --subresource=status changes the status and nothing else" status_patch
  check "label adds, changes only with --overwrite, and removes" labelled
  check "annotate adds, changes only with --overwrite, and removes" annotated
  check "scale changes the replicas of a Deployment and of a custom resource" scaled
  check "scale with --current-replicas keeps away from another number" scaled_from
}

created() {
  widget a red | kubectl create -f -
  is "red 1" kubectl get widget a -o 'jsonpath={.spec.colour} {.spec.replicas}' # 1 is the default
  make secret generic s --from-literal=key=value
  is dmFsdWU= field secret/s .data.key
  make serviceaccount robot
  make service clusterip web --tcp=80:8080
  is 8080 field service/web '.spec.ports[0].targetPort'
  make job once --image=busybox
  is busybox field job/once '.spec.template.spec.containers[0].image'
}

created_twice() {
  shows 'Error from server \(AlreadyExists\).* widgets.test.kopp.example "a" already exists' 0 create a red
}

create() { widget "$@" | kubectl create -f -; }

forbidden() {
  shows 'spec.colour: Unsupported value: "pink": supported values: "red", "green", "blue"' 0 create b pink
  shows 'spec.replicas: Invalid value.*greater than or equal to 0' 0 create b red -1
}

unknown_field() {
  shows 'strict decoding error: unknown field "spec.color"' 0 create b "red, color: red"
  shows 'strict decoding error: unknown field "spec.replicaz"' 0 deployment_with_a_slip
}

deployment_with_a_slip() {
  kubectl create deployment slip --image=nginx --dry-run=client -o json |
    sed 's/"replicas"/"replicaz"/' | kubectl create -f -
}

undefined_kind() {
  shows 'ensure CRDs are installed first' 0 create_gadget
}

create_gadget() { widget g red | sed 's/kind: Widget/kind: Gadget/' | kubectl create -f -; }

dry_run() {
  is $'widget.test.kopp.example/dry created (server dry run)' create_dry
  is "" kubectl get widget dry --ignore-not-found
}

create_dry() { widget dry red | kubectl create --dry-run=server -f -; }

merge_patch() {
  kubectl patch widget a --type=merge -p '{"spec":{"colour":"green","note":"hello"}}'
  is "green hello 1" kubectl get widget a -o 'jsonpath={.spec.colour} {.spec.note} {.spec.replicas}'
  kubectl patch widget a --type=merge -p '{"spec":{"note":null}}'
  is "green" kubectl get widget a -o 'jsonpath={.spec.colour}{.spec.note}'
  shows '\(no change\)' 0 kubectl patch widget a --type=merge -p '{"spec":{"colour":"green"}}'
}

json_patch() {
  kubectl patch widget a --type=json \
    -p '[{"op":"test","path":"/spec/colour","value":"green"},{"op":"replace","path":"/spec/colour","value":"blue"}]'
  is blue field widget/a .spec.colour
  shows 'The request is invalid: the server rejected our request' 0 kubectl patch widget a --type=json \
    -p '[{"op":"test","path":"/spec/colour","value":"green"},{"op":"remove","path":"/spec/colour"}]'
  is blue field widget/a .spec.colour
}

status_patch() {
  kubectl patch widget a --subresource=status --type=merge -p '{"status":{"phase":"Ready"},"spec":{"colour":"red"}}'
  is "Ready blue" kubectl get widget a -o 'jsonpath={.status.phase} {.spec.colour}'
  kubectl patch widget a --type=merge -p '{"status":{"phase":"Lost"}}'
  is Ready field widget/a .status.phase
}

labelled() {
  kubectl label widget a tier=front
  shows "already has a value \(front\), and --overwrite is false" 0 kubectl label widget a tier=back
  kubectl label --overwrite widget a tier=back
  is back field widget/a .metadata.labels.tier
  kubectl label widget a tier-
  is "" field widget/a .metadata.labels.tier
}

annotated() {
  kubectl annotate widget a said=hello
  shows "already has a value \(hello\)|--overwrite is false" 0 kubectl annotate widget a said=goodbye
  kubectl annotate --overwrite widget a said=goodbye
  is goodbye field widget/a .metadata.annotations.said
  kubectl annotate widget a said-
  is "" field widget/a .metadata.annotations.said
}

scaled() {
  make deployment web --image=nginx
  shows 'deployment.apps/web scaled' 0 kubectl scale deployment web --replicas=5
  is 5 field deployment/web .spec.replicas
  shows 'widget.test.kopp.example/a scaled' 0 kubectl scale widget a --replicas=7
  is 7 field widget/a .spec.replicas
}

scaled_from() {
  shows 'Expected replicas to be 2, was 5' 0 kubectl scale deployment web --current-replicas=2 --replicas=9
  is 5 field deployment/web .spec.replicas
  kubectl scale deployment web --current-replicas=5 --replicas=6
  is 6 field deployment/web .spec.replicas
}
