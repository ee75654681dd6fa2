# shellcheck shell=bash disable=SC2154 # shared with ../kubectl_test.sh
# wait: for conditions, fields and ends.

check_waiting() {
  check "wait --for=condition returns once the condition holds" condition
  check "wait --for=condition that does not come says so when its time is up" no_condition
  check "wait --for=jsonpath returns once the field has the value" json_path_value
  check "wait --for=create and --for=delete return once it is there, and gone" there_and_gone
}

waits() { # WORD...: in the background, until `returned`
  rm -f "$state/wait.log"
  process_start "$state" wait "$KOPP_PROGRAMS/kubectl" --kubeconfig admin.kubeconfig -n "$namespace" \
    wait --timeout=20s "$@"
  shows . 5 process_id "$state" wait
}

returned() { # REGULAR-EXPRESSION
  becomes "" 10 process_id "$state" wait
  shows "$1" 0 cat "$state/wait.log"
}

set_status() { kubectl patch widget a --subresource=status --type=merge -p "{\"status\":$1}"; } # STATUS

condition() {
  widget a red | kubectl create -f -
  waits --for=condition=Ready widget/a
  set_status '{"conditions":[{"type":"Ready","status":"False"}]}'
  process_id "$state" wait
  set_status '{"conditions":[{"type":"Ready","status":"True"}]}'
  returned 'widget.test.kopp.example/a condition met'
}

no_condition() {
  shows 'error: timed out waiting for the condition on widgets/a' 0 \
    kubectl wait --timeout=1s --for=condition=Late widget/a
}

json_path_value() {
  waits --for='jsonpath={.status.phase}=Running' widget/a
  set_status '{"phase":"Pending"}'
  process_id "$state" wait
  set_status '{"phase":"Running"}'
  returned 'condition met'
}

there_and_gone() {
  waits --for=create widget/late
  widget late red | kubectl create -f -
  returned 'widget.test.kopp.example/late condition met'
  waits --for=delete widget/late
  kubectl delete widget late
  returned '^(widget.test.kopp.example/late condition met)?$' # it may have come too late to see it go
}
