# shellcheck shell=bash disable=SC2154,SC2016 # shared with ../kubectl_test.sh
# Tests the kubectl commands that send strategic merge patches to objects of built-in kinds.

check_patching() {
  check "apply changes an existing Deployment and reports it unchanged if nothing differs" apply_deployment
  check "apply removes a field, a container and an environment variable deleted from the file" apply_removes_from_deployment
  check "apply sorts containers in the order of the file" apply_sorts_containers
  check "diff shows the changes of an apply and stores nothing" diff_deployment
  check "patch sends a strategic merge patch by default" default_patch
  check "patch fails with the server's reason if an item has no merge key" patch_without_merge_key
  check "set image and set env change one container" set_fields
  check "rollout restart sets an annotation of the Pod template" rollout_restart
  check "edit stores what the editor wrote" edit_object
  check "label and annotate change an object of a built-in kind" label_and_annotate_built_in
  check "taint adds, changes and removes the taints of a Node" taint_node
  check "cordon and uncordon set whether a Node is schedulable" cordon_node
}

deployment() { # IMAGE EXTRA-CONTAINER [ENVIRONMENT-VARIABLE...]: prints a Deployment manifest
  printf '%s\n' 'apiVersion: apps/v1' 'kind: Deployment' 'metadata: {name: web}' 'spec:' \
    '  selector: {matchLabels: {app: web}}' '  template:' '    metadata: {labels: {app: web}}' \
    '    spec:' '      containers:' "      - {name: web, image: $1, env: [$(environment "${@:3}")]}"
  [[ -z $2 ]] || printf '      - {name: %s, image: helper, workingDir: /tmp}\n' "$2"
}

environment() { # NAME...: prints environment variables as YAML
  local name
  for name in "$@"; do printf '{name: %s, value: x},' "$name"; done
}

apply_web() { deployment "$@" | kubectl apply -f -; }
containers() { field deployment/web '.spec.template.spec.containers[*].name'; }

apply_deployment() {
  equals "deployment.apps/web created" apply_web web:1 helper A B
  equals "deployment.apps/web configured" apply_web web:2 helper A B
  equals web:2 field deployment/web '.spec.template.spec.containers[0].image'
  equals "deployment.apps/web unchanged" apply_web web:2 helper A B
}

apply_removes_from_deployment() {
  kubectl patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","tty":true}]}}}}'
  equals "deployment.apps/web configured" apply_web web:2 "" B C
  equals web containers
  equals "B C" field deployment/web '.spec.template.spec.containers[0].env[*].name'
  equals true field deployment/web '.spec.template.spec.containers[0].tty' # set by another client
}

apply_sorts_containers() {
  kubectl patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"first","image":"x"}]}}}}'
  equals "first web" containers
  equals "deployment.apps/web configured" apply_web web:2 last B C
  equals "first web last" containers
}

diff_deployment() {
  apply_web web:3 last B C
  equals "" diff_web web:3
  matches '^-.*image: web:3' diff_web web:4
  matches '^\+.*image: web:4' diff_web web:4
  equals web:3 field deployment/web '.spec.template.spec.containers[1].image'
}

diff_web() { deployment "$1" last B C | kubectl diff -f - || (($? == 1)); } # IMAGE

default_patch() {
  kubectl patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"first","$patch":"delete"}]}}}}'
  equals "web last" containers
  matches '\(no change\)' kubectl patch deployment web -p '{"spec":{"replicas":1}}'
}

patch_without_merge_key() {
  matches 'map: map\[image:x\] does not contain declared merge key: name' kubectl patch deployment web \
    -p '{"spec":{"template":{"spec":{"containers":[{"image":"x"}]}}}}'
}

set_fields() {
  matches 'deployment.apps/web image updated' kubectl set image deployment/web last=helper:9
  equals "web:3 helper:9" field deployment/web '.spec.template.spec.containers[*].image'
  matches 'deployment.apps/web env updated' kubectl set env deployment/web -c web D=y B-
  equals "C D" field deployment/web '.spec.template.spec.containers[0].env[*].name'
}

rollout_restart() {
  matches 'deployment.apps/web restarted' kubectl rollout restart deployment/web
  matches '^20..-' field deployment/web '.spec.template.metadata.annotations.kubectl\.kubernetes\.io/restartedAt'
}

edit_object() {
  matches 'deployment.apps/web edited' env_edit 's/replicas: 1/replicas: 4/'
  equals 4 field deployment/web .spec.replicas
  matches 'Edit cancelled, no changes made' env_edit 's/nothing/else/'
}

env_edit() { KUBE_EDITOR="sed -i '$1'" kubectl edit deployment web; } # SED-COMMAND

label_and_annotate_built_in() {
  kubectl label deployment web tier=front
  kubectl annotate deployment web greeting=hello
  equals "front hello" kubectl get deployment web \
    -o 'jsonpath={.metadata.labels.tier} {.metadata.annotations.greeting}'
  kubectl label deployment web tier-
  equals "" field deployment/web .metadata.labels.tier
}

node() { printf '{apiVersion: v1, kind: Node, metadata: {name: node}}\n'; }
taints() { field node/node '.spec.taints[?(@.key=="dedicated")].value'; }

taint_node() {
  node | kubectl create -f -
  matches 'node/node tainted' kubectl taint node node dedicated=a:NoSchedule
  equals a taints
  matches 'already has dedicated taint' kubectl taint node node dedicated=b:NoSchedule
  kubectl taint --overwrite node node dedicated=b:NoSchedule
  equals b taints
  matches 'node/node untainted' kubectl taint node node dedicated-
  equals "" taints
}

cordon_node() {
  matches 'node/node cordoned' kubectl cordon node
  equals true field node/node .spec.unschedulable
  matches 'node/node uncordoned' kubectl uncordon node
  equals "" field node/node .spec.unschedulable
}
