# shellcheck shell=bash disable=SC2154 # shared with ../kubectl_test.sh
# get, describe, events and what kubectl asks before it can do any of it.

check_reading() {
  make deployment web --image=nginx:1.27 --replicas=3 >/dev/null
  widget a red 2 | kubectl create -f - >/dev/null
  check "get shows a kind's columns, and the others with -o wide" columns
  check "get shows the columns that a custom resource's definition names" custom_columns_of_a_kind
  check "get of several kinds, and of a category, shows each under its name" several_kinds
  check "get -w shows objects and what becomes of them" watched
  check "get -o yaml gives an object that replace takes back" yaml
  check "get -o custom-columns shows what is asked for" custom_columns
  check "get -o jsonpath shows what is asked for" json_path
  check "get -l and --field-selector leave out what does not fit" selectors
  check "get reads a long list page by page" pages
  check "get of what is not there says so, and of a kind that is not there too" not_there
  check "describe shows an object with its Events" described
  check "events shows those of an object" events
  check "api-resources lists the built-in kinds and the custom ones" api_resources
  check "version shows the server's" version
}

columns() {
  shows '^NAME +READY +UP-TO-DATE +AVAILABLE +AGE$' 0 kubectl get deployments
  shows '^web +0/3 +0 +0 +[0-9]+s$' 0 kubectl get deployments
  shows '^web .* nginx +nginx:1.27 +app=web$' 0 kubectl get deployments -o wide
}

custom_columns_of_a_kind() {
  shows '^NAME +COLOUR +REPLICAS$' 0 kubectl get wd
  shows '^a +red +2$' 0 kubectl get widget a
  shows '^NAME +COLOUR +REPLICAS +NOTE$' 0 kubectl get widgets.test.kopp.example -o wide
}

several_kinds() {
  is $'deployment.apps/web\nwidget.test.kopp.example/a' kubectl get deployments,widgets -o name
  shows '^widget.test.kopp.example/a +red' 0 kubectl get all
}

watched() {
  process_start "$state" watch "$KOPP_PROGRAMS/kubectl" --kubeconfig admin.kubeconfig -n "$namespace" \
    get widgets -w --no-headers
  shows '^a +red' 10 cat "$state/watch.log"
  widget b green 5 | kubectl create -f -
  kubectl patch widget b --type=merge -p '{"spec":{"colour":"blue"}}'
  kubectl delete widget b
  becomes 'a red 2,b green 5,b blue 5,b blue 5,' 10 lines
  process_stop "$state" watch TERM
}

lines() { awk -v ORS=, '{$1 = $1} 1' "$state/watch.log"; }

yaml() {
  kubectl get deployment web -o yaml >"$state/web.yaml"
  grep -q '^  replicas: 3$' "$state/web.yaml"
  sed -i 's/^  replicas: 3$/  replicas: 4/' "$state/web.yaml"
  shows 'deployment.apps/web replaced' 0 kubectl replace -f "$state/web.yaml"
  is 4 field deployment/web .spec.replicas
  shows 'the object has been modified' 0 kubectl replace -f "$state/web.yaml"
}

custom_columns() {
  is $'WHAT   MANY\na      2' kubectl get widgets -o custom-columns=WHAT:.metadata.name,MANY:.spec.replicas
}

json_path() {
  is "nginx=nginx:1.27" kubectl get deployment web \
    -o 'jsonpath={range .spec.template.spec.containers[*]}{.name}={.image}{end}'
}

selectors() {
  make configmap one --from-literal=a=b
  make configmap two --from-literal=a=b
  kubectl label configmap one tier=front
  is configmap/one kubectl get configmaps -l tier=front -o name
  is configmap/two kubectl get configmaps -l 'tier!=front' --field-selector metadata.name=two -o name
}

pages() {
  local number
  for number in 1 2 3 4 5; do
    printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: page-%d, labels: {of: pages}}}\n---\n' "$number"
  done | kubectl create -f - >/dev/null
  is 5 count --chunk-size=2
}

count() { kubectl get configmaps -l of=pages -o name "$@" | wc -l; }

not_there() {
  shows '^Error from server \(NotFound\): widgets.test.kopp.example "none" not found$' 0 kubectl get widget none
  shows "the server doesn't have a resource type \"gadgets\"" 0 kubectl get gadgets
  is "" kubectl get widget none --ignore-not-found
}

described() {
  kubectl create -f - <<END
{apiVersion: v1, kind: Event, metadata: {name: a.1}, type: Normal, reason: Painted, message: it is red,
 involvedObject: {apiVersion: test.kopp.example/v1, kind: Widget, name: a, namespace: $namespace,
                  uid: $(field widget/a .metadata.uid)},
 source: {component: painter}, firstTimestamp: "2026-01-02T03:04:05Z", lastTimestamp: "2026-01-02T03:04:05Z",
 count: 1}
END
  shows '^ *Colour: +red$' 0 kubectl describe widget a
  shows '^ *Normal +Painted .* painter +it is red$' 0 kubectl describe widget a
  shows '^Replicas: +[0-9]+ desired' 0 kubectl describe deployment web
}

events() {
  shows ' Normal +Painted +Widget/a +it is red$' 0 kubectl events --for widget/a
  shows ' Normal +Painted +widget/a +it is red$' 0 kubectl get events
}

api_resources() {
  shows '^deployments +deploy +apps/v1 +true +Deployment$' 0 kubectl api-resources
  shows '^widgets +wd +test.kopp.example/v1 +true +Widget$' 0 kubectl api-resources
  is widgets.test.kopp.example kubectl api-resources --api-group=test.kopp.example -o name
}

version() { shows '^Server Version: v1\.[0-9]+' 0 kubectl version; }
