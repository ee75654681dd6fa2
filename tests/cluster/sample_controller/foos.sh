# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# Defines functions for Foos, Deployments, the controller and its audit log. Source this file;
# the sourcing script sets $state, $KOPP_PROGRAMS and $SAMPLE_CONTROLLER.
namespace=default
readonly controller_user=system:serviceaccount:default:sample-controller # defined in rbac.yaml

kubectl() { "$KOPP_PROGRAMS/kubectl" --kubeconfig "$state/admin.kubeconfig" -n "$namespace" "$@"; }

use_new_namespace() { namespace=$1 && kubectl create namespace "$1"; }

create_foo() { # NAME DEPLOYMENT [REPLICAS]
  printf '{apiVersion: samplecontroller.k8s.io/v1alpha1, kind: Foo, metadata: {name: %s},
    spec: {deploymentName: "%s"%s}}' "$1" "$2" "${3:+, replicas: $3}" | kubectl create -f -
}

patch_foo_spec() { kubectl patch foo "$1" --type=merge -p "{\"spec\":$2}"; } # NAME SPEC

# Writes the status that the Deployment controller of a full cluster writes when Pods become ready.
set_available_replicas() { # DEPLOYMENT COUNT
  kubectl patch deployment "$1" --subresource=status --type=merge \
    -p "{\"status\":{\"replicas\":$2,\"readyReplicas\":$2,\"availableReplicas\":$2}}"
}

deployments() { kubectl get deployments -o name | sort | xargs; }
replicas() { kubectl get deployment "$1" --ignore-not-found -o 'jsonpath={.spec.replicas}'; }
uid() { kubectl get "$1" --ignore-not-found -o 'jsonpath={.metadata.uid}'; } # KIND/NAME
owner_uid() { kubectl get deployment "$1" --ignore-not-found -o 'jsonpath={.metadata.ownerReferences[*].uid}'; }
available_replicas() { kubectl get foo "$1" --ignore-not-found -o 'jsonpath={.status.availableReplicas}'; }

foo_events() { # FOO REASON: prints type, component and message of each Event
  kubectl get events --field-selector "involvedObject.kind=Foo,involvedObject.name=$1,reason=$2" \
    -o 'jsonpath={range .items[*]}{.type} {.source.component}: {.message}{"\n"}{end}'
}

event_count() { # FOO REASON: prints the sum of the Events' counts
  kubectl get events --field-selector "involvedObject.kind=Foo,involvedObject.name=$1,reason=$2" \
    -o json | jq '[.items[].count // 1] | add // 0'
}

at_least() { # NUMBER COMMAND...: prints yes if the command's output is NUMBER or more
  (($("${@:2}") >= $1)) && echo yes
}

# Starts the controller. Records the log size first, so that controller_log prints only its output.
start_controller_process() { # [KUBECONFIG [FLAG...]]
  stat -c %s "$state/controller.log" >"$state/controller.log.offset" 2>/dev/null || echo 0 >"$state/controller.log.offset"
  process_start "$state" controller "$SAMPLE_CONTROLLER" \
    --kubeconfig "${1:-$state/sample-controller.kubeconfig}" --metrics-bind-address 127.0.0.1:0 --metrics-secure=false \
    --http-transport "${HTTP_TRANSPORT:-beast}" "${@:2}"
}

controller_log() { tail -c "+$(($(cat "$state/controller.log.offset") + 1))" "$state/controller.log"; }

controller_is_running() { process_id "$state" controller >/dev/null && echo yes; }

# Prints the audit log as JSON values. A killed API server may leave an incomplete line.
audit_log() { jq -cR 'try fromjson catch empty' "$state/audit.log"; }

controller_audit_log() { audit_log | jq -c --arg user "$controller_user" 'select(.user.username == $user)'; }

count_controller_calls() { grep -cF "\"username\":\"$controller_user\"" "$state/audit.log"; }

# Blocks until the controller has sent no request for one second. Fails after $patience seconds.
wait_until_controller_is_idle() {
  local before=-1 now attempts
  for ((attempts = 0; attempts < patience; ++attempts)); do
    now=$(count_controller_calls || true)
    [[ $now != "$before" ]] || return 0
    before=$now
    sleep 1
  done
  echo "the controller is still sending requests after $patience seconds" && return 1
}
