# shellcheck shell=bash disable=SC2154 # shared with ../../node_test.sh
# Checks of the installed operator: Foos, logs, metrics and the change of the leader.

installs() {
  helm install "$release" "$chart" --set replicaCount=2 --wait --timeout 300s
  equals 2 ready_replicas
}

ready_replicas() { kubectl -n "$operators" get deployment "$name" -o 'jsonpath={.status.readyReplicas}'; }

helm_test() { helm test "$release" --timeout 300s; }

create_foo() { # NAME REPLICAS
  kubectl create -f - <<END
{"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo", "metadata": {"name": "$1"},
 "spec": {"deploymentName": "$1", "replicas": $2}}
END
}

available_replicas() { kubectl get foo "$1" -o 'jsonpath={.status.availableReplicas}'; } # FOO

foo_runs() {
  create_foo runs 1
  eventually_equals 1 available_replicas runs
  kubectl patch foo runs --type=merge -p '{"spec": {"replicas": 2}}'
  eventually_equals 2 available_replicas runs
  equals "Running Running" kubectl get pods -l controller=runs -o 'jsonpath={.items[*].status.phase}'
}

lease_holder() { kubectl -n "$operators" get lease "$name" -o 'jsonpath={.spec.holderIdentity}'; }

# The identity of a replica is the name of its Pod and a random part.
leader() { lease_holder | sed 's/_.*//'; }

logs_of_leader() {
  matches 'Successfully acquired lease' kubectl -n "$operators" logs "$(leader)"
  matches 'Event occurred.*default/runs.*reason="Synced"' kubectl -n "$operators" logs "$(leader)"
}

metrics_need_permission() {
  local address token reader
  address=$(kubectl -n "$operators" get pod "$(leader)" -o 'jsonpath={.status.podIP}')
  kubectl create serviceaccount reader
  kubectl create serviceaccount stranger
  reader=$(kubectl get clusterrole -l "app.kubernetes.io/instance=$release" -o name | grep metrics-reader)
  kubectl create clusterrolebinding reader --clusterrole="${reader#*/}" --serviceaccount=default:reader
  token=$(kubectl create token reader)
  matches '^controller_runtime_reconcile_total\{' metrics "$address" --header "Authorization: Bearer $token"
  equals 401 metrics_status "$address"
  equals 403 metrics_status "$address" --header "Authorization: Bearer $(kubectl create token stranger)"
}

# curl runs in the network of the node, which reaches the Pods.
metrics() { inside curl --silent --insecure "https://$1:8443/metrics" "${@:2}"; } # ADDRESS [FLAG...]
metrics_status() { metrics "$@" --output /dev/null --write-out '%{http_code}'; }

# Its retries also patch the Event, which only repeated Events do.
foreign_deployment() {
  kubectl create deployment foreign --image=nginx --replicas=0
  create_foo foreign 1
  eventually_matches '^foreign ErrResourceExists ([2-9]|[1-9][0-9])' foo_events
  equals 0 kubectl get deployment foreign -o 'jsonpath={.spec.replicas}'
  kubectl delete foo foreign
}

foo_events() {
  kubectl get events -o json | jq -r '.items[] | select(.type == "Warning" and .involvedObject.kind == "Foo")
    | "\(.involvedObject.name) \(.reason) \(.count // .series.count // 1)"'
}

# The process gets SIGKILL, so it does not release the Lease: the other replica waits until the Lease
# expires. The Pod is deleted too, so that the kubelet does not start the process again.
leader_killed() {
  local before number
  before=$(leader)
  kill_process_of "$before"
  kubectl -n "$operators" delete pod "$before" --grace-period=0 --force
  for number in 1 2 3 4 5; do create_foo "killed-$number" 1; done
  eventually_equals yes leader_is_another_than "$before"
  eventually_equals "" foos_without_pods
  eventually_equals 2 ready_replicas
}

kill_process_of() { # POD
  local container id
  container=$(kubectl -n "$operators" get pod "$1" -o 'jsonpath={.status.containerStatuses[0].containerID}')
  id=$(inside ctr --address /run/containerd.sock --namespace k8s.io tasks list | awk -v id="${container#*//}" '$1 == id {print $2}')
  inside kill -KILL "$id"
}

leader_is_another_than() { # POD
  local now
  now=$(leader)
  [[ -n $now && $now != "$1" ]] && echo yes
}

# Prints the Foos whose Deployment is not available.
foos_without_pods() {
  kubectl get foos -o json | jq -r '.items[] | select(.status.availableReplicas != .spec.replicas) | .metadata.name'
}
