# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# Checks ownership: the controller never changes a Deployment of another owner, and writes nothing
# for a deleted Foo.

check_ownership() {
  check "A Deployment of another owner is not changed; the Foo gets the Warning ErrResourceExists, repeated with back-off" \
    foreign_deployment
  check "After the Deployment of another owner is deleted, the Foo gets its own" foreign_deployment_deleted
  local recreated="A recreated Foo waits until the Deployment of the deleted Foo is deleted"
  local deleted="After a Foo is deleted, the controller does not write to it or to its Deployment"
  if [[ $server == real ]]; then
    check "$recreated" foo_recreated
    check "$deleted" foo_deleted
  else
    skip_check "$recreated" "$garbage_collection"
    skip_check "$deleted" "$garbage_collection"
    check "A recreated Foo gets a new Deployment" recreated_foo_gets_new_deployment
  fi
}

readonly garbage_collection="kopp-apiserver deletes a Foo's dependents together with the Foo"
readonly resource_exists='Warning sample-controller: Resource "taken" already exists and is not managed by Foo'

foreign_deployment() {
  use_new_namespace foreign
  kubectl create deployment taken --image=somebody/else
  local before
  before=$(kubectl get deployment taken -o 'jsonpath={.metadata.resourceVersion}')
  create_foo a taken 2
  eventually_equals "$resource_exists" foo_events a ErrResourceExists
  eventually_equals yes at_least 4 event_count a ErrResourceExists
  # Without back-off there would be thousands of retries, and the Event count would reach its limit
  # of 25.
  sleep 2
  equals "" at_least 20 event_count a ErrResourceExists
  equals "$before" kubectl get deployment taken -o 'jsonpath={.metadata.resourceVersion}'
  equals "" available_replicas a
}

foreign_deployment_deleted() {
  namespace=foreign
  kubectl delete deployment taken
  eventually_equals 2 replicas taken
  equals "$(uid foo/a)" owner_uid taken
  eventually_equals 0 available_replicas a
}

foo_recreated() {
  use_new_namespace recreated
  create_foo a taken 1
  eventually_equals 0 available_replicas a
  local old_uid
  old_uid=$(uid foo/a)
  kubectl delete foo a
  create_foo a taken 2
  eventually_equals "$resource_exists" foo_events a ErrResourceExists
  equals "$old_uid" owner_uid taken
  kubectl delete deployment taken # like the garbage collector
  eventually_equals 2 replicas taken
  equals "$(uid foo/a)" owner_uid taken
}

recreated_foo_gets_new_deployment() {
  use_new_namespace recreated
  create_foo a a 1
  eventually_equals 0 available_replicas a
  local old_uid
  old_uid=$(uid deployment/a)
  kubectl delete foo a
  equals "" deployments
  create_foo a a 2
  eventually_equals 2 replicas a
  [[ $(uid deployment/a) != "$old_uid" ]]
  equals "$(uid foo/a)" owner_uid a
}

foo_deleted() {
  use_new_namespace foo-deleted
  create_foo a a 1
  eventually_equals 0 available_replicas a
  wait_until_controller_is_idle
  kubectl delete foo a
  set_available_replicas a 1
  kubectl annotate deployment a touched=yes
  kubectl delete deployment a
  local marker
  for marker in b c; do # when these are processed, all earlier items are processed too
    create_foo "$marker" "$marker" 1
    eventually_equals 0 available_replicas "$marker"
  done
  wait_until_controller_is_idle
  equals "" writes_after_deletion a
  equals "deployment.apps/b deployment.apps/c" deployments
}

# Prints the controller's successful writes to a deleted Foo and to its Deployment, which has the
# same name.
writes_after_deletion() { # FOO
  audit_log | jq -rn --arg namespace "$namespace" --arg name "$1" '
    foreach (inputs | select(.objectRef.namespace == $namespace and .objectRef.name == $name
                             and .responseStatus.code < 300)) as $call (false;
      . or ($call.user.username == "admin" and $call.verb == "delete" and $call.objectRef.resource == "foos");
      if . and ($call.verb | IN("create", "update", "patch", "delete")) and $call.user.username != "admin"
      then "\($call.verb) \($call.objectRef.resource) \($call.objectRef.subresource // "")" else empty end)'
}
