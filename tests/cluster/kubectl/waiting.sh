# shellcheck shell=bash disable=SC2154 # shared with ../kubectl_test.sh
# Tests kubectl wait for conditions, fields, creation and deletion.

check_waiting() {
  check "wait --for=condition returns when the condition becomes true" wait_for_condition
  check "wait --for=condition fails after its timeout if the condition does not become true" wait_times_out
  check "wait --for=jsonpath returns when the field has the value" wait_for_json_path
  check "wait --for=create and --for=delete return when the object is created or deleted" wait_for_create_and_delete
}

# Starts `kubectl wait` in the background; expect_wait_succeeds ends it. Blocks until its log shows
# a response to a request that matches.
start_wait() { # REQUEST-REGULAR-EXPRESSION ARGUMENT...
  rm -f "$state/wait.log"
  process_start "$state" wait "$KOPP_PROGRAMS/kubectl" --kubeconfig admin.kubeconfig -n "$namespace" \
    --v=6 wait --timeout="${patience}s" "${@:2}"
  eventually_matches "$1" cat "$state/wait.log"
}

expect_still_waiting() { # also 0.5 s later, when the watch has received the last change
  local tenths
  for ((tenths = 5; tenths > 0; --tenths)); do
    process_id "$state" wait
    sleep 0.1
  done
}

expect_wait_succeeds() { # OUTPUT-REGULAR-EXPRESSION
  local id
  eventually_equals "" process_id "$state" wait
  matches "$1" cat "$state/wait.log"
  read -r id _ <"$state/wait.id"
  wait "$id" # fails if its exit code is not 0
}

set_status() { kubectl patch widget a --subresource=status --type=merge -p "{\"status\":$1}"; } # STATUS

wait_for_condition() {
  widget a red | kubectl create -f -
  start_wait 'widgets\?.*watch=true' --for=condition=Ready widget/a
  set_status '{"conditions":[{"type":"Ready","status":"False"}]}'
  expect_still_waiting
  set_status '{"conditions":[{"type":"Ready","status":"True"}]}'
  expect_wait_succeeds 'widget.test.kopp.example/a condition met'
}

wait_times_out() {
  matches 'error: timed out waiting for the condition on widgets/a' \
    kubectl wait --timeout=1s --for=condition=Late widget/a
}

wait_for_json_path() {
  start_wait 'widgets\?.*watch=true' --for='jsonpath={.status.phase}=Running' widget/a
  set_status '{"phase":"Pending"}'
  expect_still_waiting
  set_status '{"phase":"Running"}'
  expect_wait_succeeds 'condition met'
}

wait_for_create_and_delete() {
  start_wait 'widgets/late.*404' --for=create widget/late
  widget late red | kubectl create -f -
  expect_wait_succeeds 'widget.test.kopp.example/late condition met'
  start_wait 'widgets\?.*watch=true' --for=delete widget/late
  kubectl delete widget late
  expect_wait_succeeds 'widget.test.kopp.example/late condition met'
}
