# shellcheck shell=bash disable=SC2154 # shared with ../../node_test.sh
# Checks of the operator's permissions, with the audit log of the preceding checks. It holds only the
# requests of ServiceAccounts in the operator's namespace.

no_request_rejected() { equals "" rejections; }

rejections() {
  jq -r 'select(.responseStatus.code | IN(401, 403)) | "\(.responseStatus.code) \(.verb) \(.requestURI)"' \
    "$state/cluster/audit.log" | sort | uniq -c
}

# The operator gets a Deployment only if another client replaces it at the same time, which the checks do not do.
every_rule_used() { diff --label rules --label used -u <(rules | without_get) <(used_rules | without_get); }

without_get() { grep -vx 'get deployments apps'; }

# Prints the rules of the roles that are bound to the operator's ServiceAccount, except those that an admission plugin
# requires, because no request uses them.
rules() {
  local role
  kubectl get clusterrolebindings,rolebindings --all-namespaces -o json | jq -r --arg namespace "$operators" '
    .items[] | select([.subjects[]? | select(.kind == "ServiceAccount" and .namespace == $namespace)] | any)
    | "\(.roleRef.kind)/\(.roleRef.name)"' | while read -r role; do
    kubectl -n "$operators" get "$role" -o json </dev/null | jq -r '.rules[]
      | select(.resources != ["foos/finalizers"]) | .verbs[] as $verb | .apiGroups[] as $group
      | .resources[] | "\($verb) \(.) \($group)"'
  done | sort -u
}

# Every authenticated user may review its own access, which `helm test` does.
used_rules() {
  jq -r 'select(.objectRef.resource != null) | .objectRef as {$apiGroup, $resource, $subresource}
    | select($resource != "selfsubjectaccessreviews")
    | "\(.verb) \($resource)\(if $subresource then "/" + $subresource else "" end) \($apiGroup // "")"' \
    "$state/cluster/audit.log" | sort -u
}
