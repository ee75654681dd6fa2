# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# Checks reconciliation: the controller creates a Deployment for each Foo and keeps its replicas and
# status in sync.

check_reconcile() {
  check "A Foo gets the Deployment that it names, with an owner reference" foo_gets_its_deployment
  check "A Foo without replicas gets one replica, and scaling its Deployment is not reverted" \
    no_replicas
  check "Scaling a Foo up and down scales its Deployment" scaled
  check "A Deployment whose replicas drift from its Foo is replaced completely" drift
  check "A deleted Deployment is created again" deployment_deleted
  check "A Foo's status follows its Deployment's status" status_follows
  check "For a Foo with an empty deploymentName, nothing is written until it gets a name" empty_name
  check "A changed deploymentName creates a new Deployment and keeps the old one with its owner" deployment_name_changed
  check "The API server rejects 0 and 11 replicas" invalid_replicas
  check "All syncs of a Foo are counted in one Event, Normal Synced" synced_events
  check "kubectl describe foo prints the Events" describe_foo
}

foo_gets_its_deployment() {
  use_new_namespace create
  kubectl create -f "$manifests/example-foo.yaml"
  eventually_equals 1 replicas example-foo
  equals "$(uid foo/example-foo)" owner_uid example-foo
  equals "nginx nginx:latest" kubectl get deployment example-foo \
    -o 'jsonpath={.spec.template.spec.containers[*].name} {.spec.template.spec.containers[*].image}'
  equals '{"app":"nginx","controller":"example-foo"}' kubectl get deployment example-foo \
    -o 'jsonpath={.spec.selector.matchLabels}'
  eventually_equals 0 available_replicas example-foo
}

no_replicas() {
  use_new_namespace no-replicas
  create_foo a a
  eventually_equals 0 available_replicas a
  equals 1 replicas a
  kubectl scale deployment a --replicas=4
  set_available_replicas a 4
  eventually_equals 4 available_replicas a # the controller has processed the change
  equals 4 replicas a
}

scaled() {
  use_new_namespace scale
  create_foo a a 1
  eventually_equals 1 replicas a
  patch_foo_spec a '{"replicas":10}'
  eventually_equals 10 replicas a
  patch_foo_spec a '{"replicas":2}'
  eventually_equals 2 replicas a
}

drift() {
  use_new_namespace drift
  create_foo a a 2
  eventually_equals 0 available_replicas a
  kubectl label deployment a foreign=label
  kubectl scale deployment a --replicas=7
  eventually_equals 2 replicas a
  eventually_equals "" kubectl get deployment a -o 'jsonpath={.metadata.labels}'
}

deployment_deleted() {
  use_new_namespace deployment-deleted
  create_foo a a 3
  eventually_equals 0 available_replicas a
  local before
  before=$(uid deployment/a)
  kubectl delete deployment a
  eventually_equals 3 replicas a
  [[ $(uid deployment/a) != "$before" ]]
}

status_follows() {
  use_new_namespace status
  create_foo a a 3
  eventually_equals 0 available_replicas a
  set_available_replicas a 2
  eventually_equals 2 available_replicas a
  set_available_replicas a 3
  eventually_equals 3 available_replicas a
  set_available_replicas a 0
  eventually_equals 0 available_replicas a
}

empty_name() {
  use_new_namespace empty-name
  create_foo a "" 1
  create_foo after after 1
  eventually_equals 0 available_replicas after # the first Foo has been processed by now
  equals deployment.apps/after deployments
  equals "" available_replicas a
  equals "" foo_events a Synced
  patch_foo_spec a '{"deploymentName":"named"}'
  eventually_equals 1 replicas named
}

deployment_name_changed() {
  use_new_namespace rename
  create_foo a old 1
  eventually_equals 0 available_replicas a
  patch_foo_spec a '{"deploymentName":"new"}'
  eventually_equals 1 replicas new
  equals 1 replicas old
  equals "$(uid foo/a)" owner_uid old
  equals "$(uid foo/a)" owner_uid new
}

invalid_replicas() {
  use_new_namespace invalid
  matches 'spec.replicas: Invalid value.*greater than or equal to 1' create_foo none none 0
  matches 'spec.replicas: Invalid value.*less than or equal to 10' create_foo many many 11
  equals "" kubectl get foos,deployments -o name
}

synced_events() {
  use_new_namespace events
  create_foo a a 1
  eventually_equals 1 replicas a
  eventually_equals "Normal sample-controller: Foo synced successfully" foo_events a Synced
  local round
  for round in 1 2 3 4 5; do
    kubectl annotate foo a "round=$round" --overwrite
    eventually_equals yes at_least "$((round + 1))" event_count a Synced
  done
  equals "Normal sample-controller: Foo synced successfully" foo_events a Synced # still one Event object
  equals "samplecontroller.k8s.io/v1alpha1 $(uid foo/a)" kubectl get events \
    --field-selector involvedObject.name=a \
    -o 'jsonpath={.items[0].involvedObject.apiVersion} {.items[0].involvedObject.uid}'
}

describe_foo() {
  namespace=events
  matches 'Normal +Synced .*sample-controller +Foo synced successfully' kubectl describe foo a
}
