# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# Whose Deployment is it? What is not the Foo's is never touched, and a Foo that is gone is not served.

check_ownership() {
  check "A Deployment of somebody else is left alone; the Foo gets the Warning ErrResourceExists, again and again with back-off" \
    foreign_deployment
  check "When the Deployment of somebody else goes, the Foo gets its own" foreign_deployment_goes
  local anew="A Foo made anew under its old name waits until the first one's Deployment is gone"
  local after="After a Foo is deleted, nothing is written to it or to its Deployment"
  if [[ $server == real ]]; then
    check "$anew" foo_made_anew
    check "$after" foo_deleted
  else
    leave_out "$anew" "$garbage"
    leave_out "$after" "$garbage"
    check "A Foo made anew under its old name gets a Deployment of its own" foo_with_a_new_deployment
  fi
}

readonly garbage="kopp's API server deletes what a Foo owned along with it"
readonly taken='Warning sample-controller: Resource "taken" already exists and is not managed by Foo'

foreign_deployment() {
  in_namespace foreign
  make deployment taken --image=somebody/else
  local before
  before=$(kubectl get deployment taken -o 'jsonpath={.metadata.resourceVersion}')
  foo a taken 2
  becomes "$taken" 10 events a ErrResourceExists
  becomes yes 10 at_least 4 event_count a ErrResourceExists
  sleep 2 # without back-off, thousands of tries would come now, and the Events' limit of 25 be reached
  is "" at_least 20 event_count a ErrResourceExists
  is "$before" kubectl get deployment taken -o 'jsonpath={.metadata.resourceVersion}'
  is "" status a
}

foreign_deployment_goes() {
  namespace=foreign
  kubectl delete deployment taken
  becomes 2 60 replicas taken
  is "$(uid foo/a)" owner taken
  becomes 0 10 status a
}

foo_made_anew() {
  in_namespace made-anew
  foo a taken 1
  becomes 0 10 status a
  local old
  old=$(uid foo/a)
  kubectl delete foo a
  foo a taken 2
  becomes "$taken" 10 events a ErrResourceExists
  is "$old" owner taken
  kubectl delete deployment taken # as the garbage collector would
  becomes 2 60 replicas taken
  is "$(uid foo/a)" owner taken
}

foo_with_a_new_deployment() {
  in_namespace made-anew
  foo a a 1
  becomes 0 10 status a
  local old
  old=$(uid deployment/a)
  kubectl delete foo a
  is "" deployments
  foo a a 2
  becomes 2 10 replicas a
  [[ $(uid deployment/a) != "$old" ]]
  is "$(uid foo/a)" owner a
}

foo_deleted() {
  in_namespace foo-deleted
  foo a a 1
  becomes 0 10 status a
  settle
  kubectl delete foo a
  make_available a 1
  kubectl annotate deployment a touched=yes
  kubectl delete deployment a
  local marker
  for marker in b c; do # when these are done, all that came before them is
    foo "$marker" "$marker" 1
    becomes 0 10 status "$marker"
  done
  settle
  is "" writes_after_deletion a
  is "deployment.apps/b deployment.apps/c" deployments
}

writes_after_deletion() { # FOO: the controller's successful writes to it or its namesake Deployment
  audit_log | jq -rn --arg namespace "$namespace" --arg name "$1" '
    foreach (inputs | select(.objectRef.namespace == $namespace and .objectRef.name == $name
                             and .responseStatus.code < 300)) as $call (false;
      . or ($call.user.username == "admin" and $call.verb == "delete" and $call.objectRef.resource == "foos");
      if . and ($call.verb | IN("create", "update", "patch", "delete")) and $call.user.username != "admin"
      then "\($call.verb) \($call.objectRef.resource) \($call.objectRef.subresource // "")" else empty end)'
}
