# shellcheck shell=bash disable=SC2154 # shared with ../kubectl_test.sh
# Tests the kubectl commands that use reviews, tokens, evictions and ephemeral containers.

check_access() {
  kubectl create serviceaccount default >/dev/null 2>&1 || true # kube-apiserver requires it for Pods
  check "auth whoami prints the user, also with --as and --as-group" who_am_i
  check "auth can-i prints whether the user has a permission" can_i
  check "create token prints a token that authenticates as the ServiceAccount" create_token
  check "drain cordons a node and evicts its Pods" drain
  check "debug adds an ephemeral container" debug
}

user_field() { kubectl auth whoami -o "jsonpath={.status.userInfo.$1}" "${@:2}"; } # FIELD [FLAG...]

who_am_i() {
  equals bob user_field username --as=bob
  equals '["devs","system:authenticated"]' user_field groups --as=bob --as-group=devs
}

can_i() {
  equals yes kubectl auth can-i create pods
  equals yes kubectl auth can-i get /healthz
}

create_token() {
  local token
  kubectl create serviceaccount robot
  token=$(kubectl create token robot --duration=20m)
  equals "system:serviceaccount:$namespace:robot" review_token "$token"
}

review_token() { # TOKEN: prints its user
  kubectl create -o 'jsonpath={.status.user.username}' -f - <<END
{apiVersion: authentication.k8s.io/v1, kind: TokenReview, spec: {token: $1}}
END
}

pod() { # NAME NODE
  kubectl create -f - <<END
{apiVersion: v1, kind: Pod, metadata: {name: $1},
 spec: {nodeName: $2, terminationGracePeriodSeconds: 0, containers: [{name: c, image: nginx}]}}
END
}

drain() {
  kubectl create -f - <<<"{apiVersion: v1, kind: Node, metadata: {name: node-$namespace}}"
  pod evicted "node-$namespace"
  kubectl drain "node-$namespace" --force --timeout="${patience}s"
  equals "" kubectl get pod evicted --ignore-not-found
  equals true field "node/node-$namespace" .spec.unschedulable
}

debug() {
  pod debugged node-of-nobody
  kubectl debug debugged --image=busybox --container=debugger --attach=false
  equals busybox field pod/debugged '.spec.ephemeralContainers[0].image'
}
