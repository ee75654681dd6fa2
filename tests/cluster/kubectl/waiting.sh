# shellcheck shell=bash disable=SC2154 # shared with ../kubectl_test.sh
# wait: for conditions, fields and ends.

check_waiting() {
  check "wait --for=condition returns once the condition holds" condition
  check "wait --for=condition that does not come says so when its time is up" no_condition
  check "wait --for=jsonpath returns once the field has the value" json_path_value
  check "wait --for=create and --for=delete return once it is there, and gone" there_and_gone
}

# In the background, until `returned`. It is there once it has got an answer to a request that matches:
# what it has asked is in its log.
waits() { # REGULAR-EXPRESSION WORD...
  rm -f "$state/wait.log"
  process_start "$state" wait "$KOPP_PROGRAMS/kubectl" --kubeconfig admin.kubeconfig -n "$namespace" \
    --v=6 wait --timeout=20s "${@:2}"
  shows "$1" 10 cat "$state/wait.log"
}

waits_on() { # also after its watch has had time for what has happened
  local tenths
  for ((tenths = 5; tenths > 0; --tenths)); do
    process_id "$state" wait
    sleep 0.1
  done
}

returned() { # REGULAR-EXPRESSION
  local id
  becomes "" 10 process_id "$state" wait
  shows "$1" 0 cat "$state/wait.log"
  read -r id _ <"$state/wait.id"
  wait "$id" # its exit code is 0
}

set_status() { kubectl patch widget a --subresource=status --type=merge -p "{\"status\":$1}"; } # STATUS

condition() {
  widget a red | kubectl create -f -
  waits 'widgets\?.*watch=true' --for=condition=Ready widget/a
  set_status '{"conditions":[{"type":"Ready","status":"False"}]}'
  waits_on
  set_status '{"conditions":[{"type":"Ready","status":"True"}]}'
  returned 'widget.test.kopp.example/a condition met'
}

no_condition() {
  shows 'error: timed out waiting for the condition on widgets/a' 0 \
    kubectl wait --timeout=1s --for=condition=Late widget/a
}

json_path_value() {
  waits 'widgets\?.*watch=true' --for='jsonpath={.status.phase}=Running' widget/a
  set_status '{"phase":"Pending"}'
  waits_on
  set_status '{"phase":"Running"}'
  returned 'condition met'
}

there_and_gone() {
  waits 'widgets/late.*404' --for=create widget/late
  widget late red | kubectl create -f -
  returned 'widget.test.kopp.example/late condition met'
  waits 'widgets\?.*watch=true' --for=delete widget/late
  kubectl delete widget late
  returned 'widget.test.kopp.example/late condition met'
}
