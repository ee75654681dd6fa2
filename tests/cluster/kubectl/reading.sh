# shellcheck shell=bash disable=SC2154 # shared with ../kubectl_test.sh
# Tests kubectl get, describe, events, api-resources and version.

check_reading() {
  kubectl create deployment web --image=nginx:1.27 --replicas=3 >/dev/null
  widget a red 2 | kubectl create -f - >/dev/null
  check "get prints the columns of a built-in kind, and all columns with -o wide" columns
  check "get prints the additionalPrinterColumns of a custom resource" additional_printer_columns
  check "get of several kinds or of a category prints the objects with their kind" several_kinds
  check "get -w prints objects and their changes" watch_objects
  check "get -o yaml prints an object that replace accepts" yaml
  check "get -o custom-columns prints the requested columns" custom_columns
  check "get -o jsonpath prints the requested fields" json_path
  check "get -l and --field-selector print only matching objects" selectors
  check "get --chunk-size reads a list page by page" pages
  check "get fails for a missing object and for an unknown kind" missing_object_or_kind
  check "describe prints an object and its Events" describe_object
  check "events --for prints the Events of an object" events_of_object
  check "api-resources lists the built-in kinds and the custom ones" api_resources
  check "version prints the server's version" version
}

columns() {
  matches '^NAME +READY +UP-TO-DATE +AVAILABLE +AGE$' kubectl get deployments
  matches '^web +0/3 +0 +0 +[0-9]+s$' kubectl get deployments
  matches '^web .* nginx +nginx:1.27 +app=web$' kubectl get deployments -o wide
}

additional_printer_columns() {
  matches '^NAME +COLOUR +REPLICAS$' kubectl get wd
  matches '^a +red +2$' kubectl get widget a
  matches '^NAME +COLOUR +REPLICAS +NOTE$' kubectl get widgets.test.kopp.example -o wide
}

several_kinds() {
  equals $'deployment.apps/web\nwidget.test.kopp.example/a' kubectl get deployments,widgets -o name
  matches '^widget.test.kopp.example/a +red' kubectl get all
}

watch_objects() {
  process_start "$state" watch "$KOPP_PROGRAMS/kubectl" --kubeconfig admin.kubeconfig -n "$namespace" \
    get widgets -w --no-headers
  eventually_matches '^a +red' cat "$state/watch.log"
  widget b green 5 | kubectl create -f -
  kubectl patch widget b --type=merge -p '{"spec":{"colour":"blue"}}'
  kubectl delete widget b
  eventually_equals 'a red 2,b green 5,b blue 5,b blue 5,' watched_lines
  process_stop "$state" watch TERM
}

watched_lines() { awk -v ORS=, '{$1 = $1} 1' "$state/watch.log"; }

yaml() {
  kubectl get deployment web -o yaml >"$state/web.yaml"
  grep -q '^  replicas: 3$' "$state/web.yaml"
  sed -i 's/^  replicas: 3$/  replicas: 4/' "$state/web.yaml"
  matches 'deployment.apps/web replaced' kubectl replace -f "$state/web.yaml"
  equals 4 field deployment/web .spec.replicas
  matches 'the object has been modified' kubectl replace -f "$state/web.yaml"
}

custom_columns() {
  equals $'WIDGET   COUNT\na        2' kubectl get widgets -o custom-columns=WIDGET:.metadata.name,COUNT:.spec.replicas
}

json_path() {
  equals "nginx=nginx:1.27" kubectl get deployment web \
    -o 'jsonpath={range .spec.template.spec.containers[*]}{.name}={.image}{end}'
}

selectors() {
  kubectl create configmap one --from-literal=a=b
  kubectl create configmap two --from-literal=a=b
  kubectl label configmap one tier=front
  equals configmap/one kubectl get configmaps -l tier=front -o name
  equals configmap/two kubectl get configmaps -l 'tier!=front' --field-selector metadata.name=two -o name
}

pages() {
  local number
  for number in 1 2 3 4 5; do
    printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: page-%d, labels: {of: pages}}}\n---\n' "$number"
  done | kubectl create -f - >/dev/null
  equals 5 count_config_maps --chunk-size=2
}

count_config_maps() { kubectl get configmaps -l of=pages -o name "$@" | wc -l; }

missing_object_or_kind() {
  matches '^Error from server \(NotFound\): widgets.test.kopp.example "none" not found$' kubectl get widget none
  matches "the server doesn't have a resource type \"gadgets\"" kubectl get gadgets
  equals "" kubectl get widget none --ignore-not-found
}

describe_object() {
  kubectl create -f - <<END
{apiVersion: v1, kind: Event, metadata: {name: a.1}, type: Normal, reason: Painted, message: it is red,
 involvedObject: {apiVersion: test.kopp.example/v1, kind: Widget, name: a, namespace: $namespace,
                  uid: $(field widget/a .metadata.uid)},
 source: {component: painter}, firstTimestamp: "2026-01-02T03:04:05Z", lastTimestamp: "2026-01-02T03:04:05Z",
 count: 1}
END
  matches '^ *Colour: +red$' kubectl describe widget a
  matches '^ *Normal +Painted .* painter +it is red$' kubectl describe widget a
  matches '^Replicas: +[0-9]+ desired' kubectl describe deployment web
}

events_of_object() {
  matches ' Normal +Painted +Widget/a +it is red$' kubectl events --for widget/a
  matches ' Normal +Painted +widget/a +it is red$' kubectl get events
}

api_resources() {
  matches '^deployments +deploy +apps/v1 +true +Deployment$' kubectl api-resources
  matches '^widgets +wd +test.kopp.example/v1 +true +Widget$' kubectl api-resources
  equals widgets.test.kopp.example kubectl api-resources --api-group=test.kopp.example -o name
}

version() { matches '^Server Version: v1\.[0-9]+' kubectl version; }
