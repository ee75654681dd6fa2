# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# The controller's daily work: one Deployment for each Foo, as the Foo says.

check_keeping_in_line() {
  check "A Foo gets the Deployment that it names, owned by it" foo_gets_its_deployment
  check "A Foo that names no number of replicas gets one, and scaling its Deployment is left alone" \
    no_replicas
  check "A Foo scaled up and down takes its Deployment along" scaled
  check "A Deployment that drifts from its Foo's replicas is written anew, whole" drift
  check "A deleted Deployment is made again" deployment_deleted
  check "A Foo's status follows its Deployment's" status_follows
  check "A Foo with an empty deploymentName has nothing written, until it gets a name" empty_name
  check "A renamed Foo gets a new Deployment; the old one stays, owned" renamed
  check "Replicas of 0 and of 11 are refused by the API server" invalid_replicas
  check "Each sync is an Event, Normal Synced, counted up in one object" synced_events
  check "kubectl describe foo shows the Events" described
}

foo_gets_its_deployment() {
  in_namespace create
  kubectl create -f "$manifests/example-foo.yaml"
  becomes 1 10 replicas example-foo
  is "$(uid foo/example-foo)" owner example-foo
  is "nginx nginx:latest" kubectl get deployment example-foo \
    -o 'jsonpath={.spec.template.spec.containers[*].name} {.spec.template.spec.containers[*].image}'
  is '{"app":"nginx","controller":"example-foo"}' kubectl get deployment example-foo \
    -o 'jsonpath={.spec.selector.matchLabels}'
  becomes 0 10 status example-foo
}

no_replicas() {
  in_namespace no-replicas
  foo a a
  becomes 0 10 status a
  is 1 replicas a
  kubectl scale deployment a --replicas=4
  make_available a 4
  becomes 4 10 status a # the controller has seen it
  is 4 replicas a
}

scaled() {
  in_namespace scale
  foo a a 1
  becomes 1 10 replicas a
  change_foo a '{"replicas":10}'
  becomes 10 10 replicas a
  change_foo a '{"replicas":2}'
  becomes 2 10 replicas a
}

drift() {
  in_namespace drift
  foo a a 2
  becomes 0 10 status a
  kubectl label deployment a foreign=label
  kubectl scale deployment a --replicas=7
  becomes 2 10 replicas a
  becomes "" 10 kubectl get deployment a -o 'jsonpath={.metadata.labels}'
}

deployment_deleted() {
  in_namespace deployment-deleted
  foo a a 3
  becomes 0 10 status a
  local before
  before=$(uid deployment/a)
  kubectl delete deployment a
  becomes 3 10 replicas a
  [[ $(uid deployment/a) != "$before" ]]
}

status_follows() {
  in_namespace status
  foo a a 3
  becomes 0 10 status a
  make_available a 2
  becomes 2 10 status a
  make_available a 3
  becomes 3 10 status a
  make_available a 0
  becomes 0 10 status a
}

empty_name() {
  in_namespace empty-name
  foo a "" 1
  foo after after 1
  becomes 0 10 status after # by now the first one has had its turn
  is deployment.apps/after deployments
  is "" status a
  is "" events a Synced
  change_foo a '{"deploymentName":"named"}'
  becomes 1 10 replicas named
}

renamed() {
  in_namespace rename
  foo a old 1
  becomes 0 10 status a
  change_foo a '{"deploymentName":"new"}'
  becomes 1 10 replicas new
  is 1 replicas old
  is "$(uid foo/a)" owner old
  is "$(uid foo/a)" owner new
}

invalid_replicas() {
  in_namespace invalid
  shows 'spec.replicas: Invalid value.*greater than or equal to 1' 0 foo none none 0
  shows 'spec.replicas: Invalid value.*less than or equal to 10' 0 foo many many 11
  is "" kubectl get foos,deployments -o name
}

synced_events() {
  in_namespace events
  foo a a 1
  becomes 1 10 replicas a
  becomes "Normal sample-controller: Foo synced successfully" 10 events a Synced
  local round
  for round in 1 2 3 4 5; do
    kubectl annotate foo a "round=$round" --overwrite
    becomes yes 10 at_least "$((round + 1))" event_count a Synced
  done
  is "Normal sample-controller: Foo synced successfully" events a Synced # still one object
  is "samplecontroller.k8s.io/v1alpha1 $(uid foo/a)" kubectl get events \
    --field-selector involvedObject.name=a \
    -o 'jsonpath={.items[0].involvedObject.apiVersion} {.items[0].involvedObject.uid}'
}

described() {
  namespace=events
  shows 'Normal +Synced .*sample-controller +Foo synced successfully' 0 kubectl describe foo a
}
