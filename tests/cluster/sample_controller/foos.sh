# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# What the checks do with Foos, Deployments and the controller under test. Sourced; needs $state,
# $KOPP_PROGRAMS and $SAMPLE_CONTROLLER.
namespace=default
readonly controller_user=system:serviceaccount:default:sample-controller # of rbac.yaml

kubectl() { "$KOPP_PROGRAMS/kubectl" --kubeconfig "$state/admin.kubeconfig" -n "$namespace" "$@"; }

# kubectl sends built-in kinds that it makes up itself as protobuf, which kopp's API server does not read:
# so it prints them, and creates what it reads.
make() { kubectl create "$@" --dry-run=client -o json | kubectl create -f -; } # KIND NAME...

in_namespace() { namespace=$1 && make namespace "$1"; }

foo() { # NAME DEPLOYMENT [REPLICAS]
  printf '{apiVersion: samplecontroller.k8s.io/v1alpha1, kind: Foo, metadata: {name: %s},
    spec: {deploymentName: "%s"%s}}' "$1" "$2" "${3:+, replicas: $3}" | kubectl create -f -
}

change_foo() { kubectl patch foo "$1" --type=merge -p "{\"spec\":$2}"; } # NAME SPEC

# As the Deployment controller of a whole cluster would, when Pods become ready.
make_available() { # DEPLOYMENT COUNT
  kubectl patch deployment "$1" --subresource=status --type=merge \
    -p "{\"status\":{\"replicas\":$2,\"readyReplicas\":$2,\"availableReplicas\":$2}}"
}

deployments() { kubectl get deployments -o name | sort | xargs; }
replicas() { kubectl get deployment "$1" --ignore-not-found -o 'jsonpath={.spec.replicas}'; }
uid() { kubectl get "$1" --ignore-not-found -o 'jsonpath={.metadata.uid}'; } # KIND/NAME
owner() { kubectl get deployment "$1" --ignore-not-found -o 'jsonpath={.metadata.ownerReferences[*].uid}'; }
status() { kubectl get foo "$1" --ignore-not-found -o 'jsonpath={.status.availableReplicas}'; }

events() { # FOO REASON: type, component and message of each
  kubectl get events --field-selector "involvedObject.kind=Foo,involvedObject.name=$1,reason=$2" \
    -o 'jsonpath={range .items[*]}{.type} {.source.component}: {.message}{"\n"}{end}'
}

event_count() { # FOO REASON: how often it happened
  kubectl get events --field-selector "involvedObject.kind=Foo,involvedObject.name=$1,reason=$2" \
    -o json | jq '[.items[].count // 1] | add // 0'
}

at_least() { # NUMBER COMMAND...
  (($("${@:2}") >= $1)) && echo yes
}

controller_start() { # [KUBECONFIG]
  stat -c %s "$state/controller.log" >"$state/controller.from" 2>/dev/null || echo 0 >"$state/controller.from"
  process_start "$state" controller "$SAMPLE_CONTROLLER" \
    --kubeconfig "${1:-$state/sample-controller.kubeconfig}" --metrics-bind-address 127.0.0.1:0
}

controller_log() { tail -c "+$(($(cat "$state/controller.from") + 1))" "$state/controller.log"; }

controller_runs() { process_id "$state" controller >/dev/null && echo yes; }

# The audit log as JSON values. A killed API server may leave half a line.
audit_log() { jq -cR 'try fromjson catch empty' "$state/audit.log"; }

controller_audit_log() { audit_log | jq -c --arg user "$controller_user" 'select(.user.username == $user)'; }

controller_calls() { grep -cF "\"username\":\"$controller_user\"" "$state/audit.log"; }

# The controller has had nothing to say to the API server for a second.
settle() {
  local before=-1 now tries
  for ((tries = 0; tries < 30; ++tries)); do
    now=$(controller_calls || true)
    [[ $now != "$before" ]] || return 0
    before=$now
    sleep 1
  done
  echo "the controller does not come to rest" && return 1
}
