# shellcheck shell=bash disable=SC2154 # shared with ../sample_controller_test.sh
# Checks the controller's RBAC rules with the audit log of the preceding checks.

check_rbac() {
  local description="No request of the controller was rejected with 401 or 403"
  if [[ $server == real ]]; then check "$description" no_request_rejected; else skip_check "$description" "kopp-apiserver has no authorization"; fi
  check "The controller used every rule of rbac.yaml and nothing else" used_rules_equal_rbac_yaml
}

no_request_rejected() { equals "" rejections; }

# Prints the rejected requests, except those at a time when the API server was starting.
rejections() {
  controller_audit_log | jq -r --rawfile startups "$state/apiserver.startups" '
    select(.responseStatus.code | IN(401, 403))
    | .stageTimestamp as $time
    | select([$startups / "\n" | .[] / " " | length == 2 and .[0] <= $time and $time <= .[1]] | any | not)
    | "\(.responseStatus.code) \(.verb) \(.requestURI)"' | sort | uniq -c
}

used_rules_equal_rbac_yaml() { diff --label rbac.yaml --label used -u <(rules | without_get) <(used_rules | without_get); }

# The controller reads a Deployment only if somebody else replaces it at the same time.
without_get() { grep -vx 'get deployments apps'; }

# Prints the rules, except those that an admission plugin requires, because no request uses them.
rules() {
  kubectl -n default get clusterrole/sample-controller role/sample-controller -o json | jq -r '
    .items[].rules[] | select(.resources != ["foos/finalizers"]) | .verbs[] as $verb | .apiGroups[] as $group | .resources[]
    | "\($verb) \(.) \($group)"' | without_reviews_on_kopp | sort -u
}

# Every authenticated user may review its own access.
used_rules() {
  controller_audit_log | jq -r '
    select(.objectRef != null) | .objectRef as {$apiGroup, $resource, $subresource}
    | select($resource != "selfsubjectaccessreviews")
    | "\(.verb) \($resource)\(if $subresource then "/" + $subresource else "" end) \($apiGroup // "")"' |
    sort -u
}

# kopp-apiserver has no reviews, so the part `metrics` uses no HTTPS there.
without_reviews_on_kopp() { if [[ $server == kopp ]]; then grep -v reviews; else cat; fi; }
