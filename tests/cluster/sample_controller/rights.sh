# shellcheck shell=bash disable=SC2154 # shared with ../sample_controller_test.sh
# The controller under its own RBAC rules, judged by the audit log of the checks that ran before.

check_rights() {
  local never="The controller was never refused: not one answer of 401 or 403"
  if [[ $server == real ]]; then check "$never" never_refused; else leave_out "$never" "kopp's refuses nobody"; fi
  check "The controller used every rule of rbac.yaml, and nothing else" every_rule_used
}

never_refused() { is "" refusals; }

refusals() { # but for those of an API server that has just been started and is not ready
  controller_audit_log | jq -r --rawfile starts "$state/apiserver.starts" '
    select(.responseStatus.code | IN(401, 403))
    | .stageTimestamp as $time
    | select([$starts / "\n" | .[] / " " | length == 2 and .[0] <= $time and $time <= .[1]] | any | not)
    | "\(.responseStatus.code) \(.verb) \(.requestURI)"' | sort | uniq -c
}

every_rule_used() { diff --label rbac.yaml --label used -u <(rules) <(used); }

rules() {
  kubectl get clusterrole sample-controller -o json | jq -r '
    .rules[] | .verbs[] as $verb | .apiGroups[] as $group | .resources[]
    | "\($verb) \(.) \($group)"' | sort -u
}

used() {
  controller_audit_log | jq -r '
    select(.objectRef != null) | .objectRef as {$apiGroup, $resource, $subresource}
    | "\(.verb) \($resource)\(if $subresource then "/" + $subresource else "" end) \($apiGroup // "")"' |
    sort -u
}
