# shellcheck shell=bash disable=SC2154 # shared with ../kubectl_test.sh
# Tests kubectl create, patch, label, annotate and scale.

check_writing() {
  check "create makes objects from a file and from command-line arguments" create_objects
  check "create generates objects of every kind that it knows" create_all_generated_kinds
  check "create of an existing object fails with AlreadyExists" create_existing_object
  check "create of an object that violates the schema reports the field and the reason" create_invalid_object
  check "create of an object with an unknown field reports the field" unknown_field
  check "create of an unknown kind asks to install its CRD first" unknown_kind
  check "create --dry-run=server prints the object's name and creates nothing" dry_run
  check "patch --type=merge changes fields and removes fields that are null" merge_patch
  check "patch --type=json changes the object only if its test operation succeeds" json_patch
  check "patch --subresource=status changes only the status" status_patch
  check "label adds, changes (only with --overwrite) and removes labels" label_object
  check "annotate adds, changes (only with --overwrite) and removes annotations" annotate_object
  check "scale changes the replicas of a Deployment and of a custom resource" scale_objects
  check "scale --current-replicas fails if the current number differs" scale_with_precondition
}

create_objects() {
  widget a red | kubectl create -f -
  equals "red 1" kubectl get widget a -o 'jsonpath={.spec.colour} {.spec.replicas}' # 1 is the default
  kubectl create secret generic s --from-literal=key=value
  equals dmFsdWU= field secret/s .data.key
  kubectl create serviceaccount robot
  kubectl create service clusterip web --tcp=80:8080
  equals 8080 field service/web '.spec.ports[0].targetPort'
  kubectl create job once --image=busybox
  equals busybox field job/once '.spec.template.spec.containers[0].image'
}

# kubectl sends the objects of built-in kinds that it generates as protobuf.
create_all_generated_kinds() {
  kubectl create configmap all --from-literal=a=b
  equals b field configmap/all .data.a
  kubectl create deployment all --image=busybox --replicas=2 --port=80 -- sleep 60
  equals '2 busybox ["sleep","60"]' kubectl get deployment all \
    -o 'jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image} {.spec.template.spec.containers[0].command}'
  kubectl create secret docker-registry all --docker-username=u --docker-password=p
  equals kubernetes.io/dockerconfigjson field secret/all .type
  kubectl create serviceaccount all
  kubectl create service nodeport all --tcp=80:http
  equals 'NodePort http' kubectl get service all -o 'jsonpath={.spec.type} {.spec.ports[0].targetPort}'
  kubectl create cronjob all --image=busybox --schedule='* * * * *'
  equals '* * * * *' field cronjob/all .spec.schedule
  kubectl create ingress all --rule='a.example/*=all:80'
  equals all field ingress/all '.spec.rules[0].http.paths[0].backend.service.name'
  kubectl create poddisruptionbudget all --selector=app=all --min-available=50%
  equals '50%' field poddisruptionbudget/all .spec.minAvailable
  kubectl create quota all --hard=cpu=1500m
  equals 1500m field resourcequota/all .spec.hard.cpu
  kubectl create role all --verb=get,list --resource=pods
  equals '["get","list"]' field role/all '.rules[0].verbs'
  kubectl create rolebinding all --role=all --serviceaccount="$namespace:all"
  equals ServiceAccount field rolebinding/all '.subjects[0].kind'
  kubectl create clusterrole "all-$namespace" --verb=get --non-resource-url=/metrics
  kubectl create clusterrolebinding "all-$namespace" --clusterrole="all-$namespace" --user=u
  equals u field "clusterrolebinding/all-$namespace" '.subjects[0].name'
}

create_existing_object() {
  matches 'Error from server \(AlreadyExists\).* widgets.test.kopp.example "a" already exists' create a red
}

create() { widget "$@" | kubectl create -f -; }

create_invalid_object() {
  matches 'spec.colour: Unsupported value: "pink": supported values: "red", "green", "blue"' create b pink
  matches 'spec.replicas: Invalid value.*greater than or equal to 0' create b red -1
}

unknown_field() {
  matches 'strict decoding error: unknown field "spec.color"' create b "red, color: red"
  matches 'strict decoding error: unknown field "spec.replicaz"' create_deployment_with_typo
}

create_deployment_with_typo() {
  kubectl create deployment typo --image=nginx --dry-run=client -o json |
    sed 's/"replicas"/"replicaz"/' | kubectl create -f -
}

unknown_kind() {
  matches 'ensure CRDs are installed first' create_gadget
}

create_gadget() { widget g red | sed 's/kind: Widget/kind: Gadget/' | kubectl create -f -; }

dry_run() {
  equals $'widget.test.kopp.example/dry created (server dry run)' create_widget_dry_run
  equals "" kubectl get widget dry --ignore-not-found
}

create_widget_dry_run() { widget dry red | kubectl create --dry-run=server -f -; }

merge_patch() {
  kubectl patch widget a --type=merge -p '{"spec":{"colour":"green","note":"hello"}}'
  equals "green hello 1" kubectl get widget a -o 'jsonpath={.spec.colour} {.spec.note} {.spec.replicas}'
  kubectl patch widget a --type=merge -p '{"spec":{"note":null}}'
  equals "green" kubectl get widget a -o 'jsonpath={.spec.colour}{.spec.note}'
  matches '\(no change\)' kubectl patch widget a --type=merge -p '{"spec":{"colour":"green"}}'
}

json_patch() {
  kubectl patch widget a --type=json \
    -p '[{"op":"test","path":"/spec/colour","value":"green"},{"op":"replace","path":"/spec/colour","value":"blue"}]'
  equals blue field widget/a .spec.colour
  matches 'The request is invalid: the server rejected our request' kubectl patch widget a --type=json \
    -p '[{"op":"test","path":"/spec/colour","value":"green"},{"op":"remove","path":"/spec/colour"}]'
  equals blue field widget/a .spec.colour
}

status_patch() {
  kubectl patch widget a --subresource=status --type=merge -p '{"status":{"phase":"Ready"},"spec":{"colour":"red"}}'
  equals "Ready blue" kubectl get widget a -o 'jsonpath={.status.phase} {.spec.colour}'
  kubectl patch widget a --type=merge -p '{"status":{"phase":"Lost"}}'
  equals Ready field widget/a .status.phase
}

label_object() {
  kubectl label widget a tier=front
  matches "already has a value \(front\), and --overwrite is false" kubectl label widget a tier=back
  kubectl label --overwrite widget a tier=back
  equals back field widget/a .metadata.labels.tier
  kubectl label widget a tier-
  equals "" field widget/a .metadata.labels.tier
}

annotate_object() {
  kubectl annotate widget a greeting=hello
  matches "already has a value \(hello\)|--overwrite is false" kubectl annotate widget a greeting=goodbye
  kubectl annotate --overwrite widget a greeting=goodbye
  equals goodbye field widget/a .metadata.annotations.greeting
  kubectl annotate widget a greeting-
  equals "" field widget/a .metadata.annotations.greeting
}

scale_objects() {
  kubectl create deployment web --image=nginx
  matches 'deployment.apps/web scaled' kubectl scale deployment web --replicas=5
  equals 5 field deployment/web .spec.replicas
  matches 'widget.test.kopp.example/a scaled' kubectl scale widget a --replicas=7
  equals 7 field widget/a .spec.replicas
}

scale_with_precondition() {
  matches 'Expected replicas to be 2, was 5' kubectl scale deployment web --current-replicas=2 --replicas=9
  equals 5 field deployment/web .spec.replicas
  kubectl scale deployment web --current-replicas=5 --replicas=6
  equals 6 field deployment/web .spec.replicas
}
