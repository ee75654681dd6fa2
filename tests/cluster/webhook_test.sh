#!/usr/bin/env bash
# Checks what a real kube-apiserver does with the webhooks of kopp: webhooks/webhook_operator.cpp.
#   WEBHOOK_OPERATOR   the program (default: that of build/default)
# Stops all programs and removes their folder at the end. If a check fails, the logs are kept in
# build/test-cluster.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
WEBHOOK_OPERATOR=$(realpath -m "${WEBHOOK_OPERATOR:-$root/build/default/tests/cluster/webhooks/webhook_operator}")
SERVER=real
# shellcheck source=tests/at_exit.sh
source "$here/../at_exit.sh"
# shellcheck source-path=SCRIPTDIR source=process.sh
source "$here/process.sh"
# shellcheck source-path=SCRIPTDIR source=server.sh
source "$here/server.sh"
# shellcheck source-path=SCRIPTDIR source=check.sh
source "$here/check.sh"

main() {
  local started=$EPOCHREALTIME
  prepare
  check "The API server accepts the printed configurations without a warning" configurations_are_accepted
  check "A create gets the defaults, and keeps the fields that the view does not have" defaults_are_set
  check "A repeated apply changes nothing" apply_is_idempotent
  check "An invalid object is rejected with its fields in the words of the API server" invalid_is_rejected
  check "An update is compared with the stored object" update_is_compared
  check "A warning reaches kubectl, and an audit annotation the audit log" warnings_are_shown
  check "A dry run calls the webhooks" dry_run_calls
  check "A delete is denied with the text of the exception" delete_is_denied
  check "An exception of a webhook rejects the write, and is logged and counted" exception_rejects
  check "A function is stopped when the API server does not wait any longer" slow_function_is_stopped
  check "A webhook for a built-in kind is called for the objects of its selector only" selector_is_respected
  check "A webhook for a subresource is called" subresource_is_checked
  check "A token is authenticated by a webhook" token_is_authenticated
  check "A new certificate is used without a restart" certificate_is_replaced
  check "A webhook that requires a client certificate is called with that of the API server" client_certificate_is_required
  check "Without the operator, the failure policy Fail rejects writes" fails_without_operator
  check "Without the operator, the failure policy Ignore lets writes pass" ignored_without_operator
  echo "# $(seconds_since "$started")"
  print_summary
}

prepare() {
  KOPP_PROGRAMS=$("$here/programs.sh" cluster)
  export KOPP_PROGRAMS
  folder=$(mktemp -d)
  state=$folder/cluster check_output=$folder/check_output certificates=$folder/certificates
  at_exit remove_cluster
  port=$(free_port)
  write_token_webhook_config
  write_admission_config
  CLUSTER_FLAGS="--authentication-token-webhook-config-file=$folder/tokens.yaml --authentication-token-webhook-version=v1 \
    --admission-control-config-file=$folder/admission.yaml" "$cluster" up "$state" >/dev/null
  create_certificate ca
  "$WEBHOOK_OPERATOR" --print-crd | kubectl create -f - >/dev/null
  await_kind shop.example.com/v1 widgets
  start_operator
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

kubectl() { "$KOPP_PROGRAMS/kubectl" --kubeconfig "$state/admin.kubeconfig" --cache-dir "$state/discovery" "$@"; }

start_operator() { # [ARGUMENT...]
  process_start "$state" operator "$WEBHOOK_OPERATOR" --kubeconfig "$state/admin.kubeconfig" --webhook-port "$port" \
    --webhook-cert-path "$certificates" --webhook-shutdown-delay 0s --metrics-bind-address 127.0.0.1:0 --metrics-secure=false "$@"
  disown -a # do not report when the operator ends
  eventually_matches '"Serving webhooks"' cat "$state/operator.log" >/dev/null
}

# Writes a certificate of a new authority for loopback.
create_certificate() { # AUTHORITY
  mkdir -p "$certificates"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -subj "/CN=$1" -days 1 \
    -keyout "$folder/$1.key" -out "$folder/$1.crt" 2>/dev/null
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -subj /CN=webhooks \
    -keyout "$folder/tls.key" -out "$folder/tls.csr" 2>/dev/null
  openssl x509 -req -in "$folder/tls.csr" -CA "$folder/$1.crt" -CAkey "$folder/$1.key" -CAcreateserial -days 1 \
    -extfile <(echo subjectAltName=IP:127.0.0.1) -out "$folder/tls.crt" 2>/dev/null
  mv "$folder/tls.crt" "$folder/tls.key" "$certificates/"
}

# Token reviews are sent without verification of the certificate, because it does not exist yet.
write_token_webhook_config() {
  cat >"$folder/tokens.yaml" <<END
apiVersion: v1
kind: Config
clusters:
- {name: webhook, cluster: {server: "https://127.0.0.1:$port/authenticate", insecure-skip-tls-verify: true}}
users:
- {name: apiserver, user: {}}
contexts:
- {name: webhook, context: {cluster: webhook, user: apiserver}}
current-context: webhook
END
}

# Writes the certificate that the API server presents to admission webhooks, its CA and its configuration.
write_admission_config() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -subj /CN=clients -days 1 \
    -keyout "$folder/clients.key" -out "$folder/clients.crt" 2>/dev/null
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -subj /CN=apiserver \
    -keyout "$folder/apiserver.key" -out "$folder/apiserver.csr" 2>/dev/null
  openssl x509 -req -in "$folder/apiserver.csr" -CA "$folder/clients.crt" -CAkey "$folder/clients.key" -CAcreateserial -days 1 \
    -extfile <(echo extendedKeyUsage=clientAuth) -out "$folder/apiserver.crt" 2>/dev/null
  cat >"$folder/webhooks.kubeconfig" <<END
apiVersion: v1
kind: Config
users:
- {name: "*", user: {client-certificate: "$folder/apiserver.crt", client-key: "$folder/apiserver.key"}}
END
  cat >"$folder/admission.yaml" <<END
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: MutatingAdmissionWebhook
  configuration: &webhooks
    apiVersion: apiserver.config.k8s.io/v1
    kind: WebhookAdmissionConfiguration
    kubeConfigFile: $folder/webhooks.kubeconfig
- name: ValidatingAdmissionWebhook
  configuration: *webhooks
END
}

# Prints the configurations with the address of the operator in place of the Service, and the CA of its certificate.
configurations() { # AUTHORITY
  "$WEBHOOK_OPERATOR" --print-webhooks --webhook-service=shop-system/webhooks |
    kubectl create --dry-run=client -f - -o json | jq --slurp '.[]' |
    jq --arg url "https://127.0.0.1:$port" --arg ca "$(base64 --wrap=0 "$folder/$1.crt")" \
      '.webhooks[].clientConfig |= {url: ($url + .service.path), caBundle: $ca}'
}

configurations_are_accepted() {
  "$WEBHOOK_OPERATOR" --print-webhooks --webhook-service=shop-system/webhooks |
    kubectl create --dry-run=server --warnings-as-errors -f -
  configurations ca | kubectl apply --server-side --warnings-as-errors -f -
  # The API server reads the configurations a little later.
  widget probe '{}' >"$folder/probe.json"
  eventually_equals 1 kubectl create --dry-run=server -o 'jsonpath={.spec.replicas}' -f "$folder/probe.json"
}

widget() { # NAME SPEC [LABELS]
  jq --null-input --arg name "$1" --argjson spec "$2" --argjson labels "${3:-null}" \
    '{apiVersion: "shop.example.com/v1", kind: "Widget", metadata: ({name: $name} + if $labels then {labels: $labels} else {} end), spec: $spec}'
}

defaults_are_set() {
  widget full '{"color": "red", "parts": [{"name": "door", "size": 2}]}' | kubectl create -f -
  equals '{"color":"red","owner":"admin","parts":[{"image":"registry.example.com/door","name":"door","size":2}],"replicas":1}' \
    spec_of full
}

spec_of() { kubectl get widget "$1" -o json | jq --compact-output --sort-keys .spec; } # NAME

apply_is_idempotent() {
  local version
  widget applied '{"color": "red"}' >"$folder/applied.json"
  kubectl apply --server-side -f "$folder/applied.json"
  version=$(kubectl get widget applied -o 'jsonpath={.metadata.resourceVersion}')
  kubectl apply --server-side -f "$folder/applied.json"
  equals "$version" kubectl get widget applied -o 'jsonpath={.metadata.resourceVersion}'
}

invalid_is_rejected() {
  widget large '{"replicas": 300}' >"$folder/large.json"
  matches '^The Widget "large" is invalid: spec.replicas: Invalid value: 300: must be at most 100$' kubectl create -f "$folder/large.json"
  equals '422 Invalid spec.replicas FieldValueInvalid' status_of_create "$folder/large.json" \
    '"\(.code) \(.reason) \(.details.causes[0].field) \(.details.causes[0].reason)"'
  equals 'admission webhook "validate.v1.widgets.shop.example.com" denied the request: Widget.shop.example.com "large" is invalid: spec.replicas: Invalid value: 300: must be at most 100' \
    status_of_create "$folder/large.json" .message
}

# Prints a part of the response to a create.
status_of_create() { # FILE FILTER
  curl --silent --show-error --max-time 20 --cacert "$state/ca.crt" --cert "$state/admin.crt" --key "$state/admin.key" \
    --header 'Content-Type: application/json' --data-binary @"$1" \
    "https://127.0.0.1:$(<"$state/port")/apis/shop.example.com/v1/namespaces/default/widgets" | jq --raw-output "$2"
}

update_is_compared() {
  matches '^The Widget "full" is invalid: spec.owner: Forbidden: is immutable$' \
    kubectl patch widget full --type=merge --patch '{"spec": {"owner": "bob"}}'
  kubectl patch widget full --type=merge --patch '{"spec": {"color": "blue"}}'
}

warnings_are_shown() {
  matches '^Warning: more than 10 replicas are expensive' kubectl create -f <(widget many '{"replicas": 20}')
  eventually_matches '"validate.v1.widgets.shop.example.com/replicas":"20"' cat "$state/audit.log"
}

dry_run_calls() {
  equals 1 kubectl create --dry-run=server -o 'jsonpath={.spec.replicas}' -f <(widget dry '{}')
  matches '^The Widget "dry" is invalid' kubectl create --dry-run=server -f <(widget dry '{"replicas": 101}')
  equals "" kubectl get widget dry --ignore-not-found
}

delete_is_denied() {
  widget kept '{}' '{"keep": "yes"}' | kubectl create -f -
  matches 'Error from server \(Forbidden\): admission webhook "validate.v1.widgets.shop.example.com" denied the request: it has the label keep' \
    kubectl delete widget kept
  kubectl label widget kept keep-
  kubectl delete widget kept
}

exception_rejects() {
  matches 'InternalError.*denied the request: nobody is not in the map' kubectl create -f <(widget broken '{"owner": "nobody"}')
  matches 'A webhook failed.*std::out_of_range: nobody is not in the map' cat "$state/operator.log"
  matches '^controller_runtime_webhook_panics_total 1$' metrics
  matches '^controller_runtime_webhook_requests_total\{code="200",webhook="/validate-shop-example-com-v1-widget"\} [1-9]' metrics
}

metrics() {
  local address
  address=$(sed -n 's/.*"Serving metrics" address="\([^"]*\)".*/\1/p' "$state/operator.log" | tail -n 1)
  curl --silent --show-error --max-time 10 "http://$address/metrics"
}

slow_function_is_stopped() {
  matches 'failed calling webhook "validate.v1.widgets.shop.example.com"' \
    kubectl create -f <(widget slow '{"owner": "patient"}')
  eventually_matches 'The API server does not wait any longer.*requestID=' cat "$state/operator.log"
}

selector_is_respected() {
  kubectl create namespace shop-system
  kubectl create configmap plain
  equals "" kubectl get configmap plain -o 'jsonpath={.data.marked-by}'
  local namespace
  for namespace in default shop-system; do
    jq --null-input '{apiVersion: "v1", kind: "ConfigMap", metadata: {name: "marked", labels: {marked: "yes"}}}' |
      kubectl create --namespace "$namespace" -f -
  done
  secret marked | kubectl create -f -
  equals kopp kubectl get secret marked -o 'jsonpath={.metadata.labels.marked-by}'
  equals kopp kubectl get configmap marked -o 'jsonpath={.data.marked-by}'
  equals "" kubectl get configmap marked --namespace shop-system -o 'jsonpath={.data.marked-by}'
}

subresource_is_checked() {
  kubectl create namespace finalized
  kubectl get namespace finalized -o json >"$folder/namespace.json"
  matches '^Warning: finalize of finalized' kubectl replace --raw /api/v1/namespaces/finalized/finalize -f "$folder/namespace.json"
}

token_is_authenticated() {
  equals alice whoami token-of-alice
  matches Unauthorized whoami token-of-bob
}

whoami() { # TOKEN
  "$KOPP_PROGRAMS/kubectl" --kubeconfig /dev/null --server "https://127.0.0.1:$(<"$state/port")" --certificate-authority "$state/ca.crt" \
    --token "$1" auth whoami -o 'jsonpath={.status.userInfo.username}'
}

certificate_is_replaced() {
  create_certificate second-ca
  configurations second-ca | kubectl apply --server-side -f -
  eventually_equals 1 kubectl create --dry-run=server -o 'jsonpath={.spec.replicas}' -f "$folder/probe.json"
  matches 'Updated current TLS certificate' cat "$state/operator.log"
}

client_certificate_is_required() {
  process_stop "$state" operator TERM
  cp "$folder/clients.crt" "$certificates/"
  start_operator --webhook-client-ca-name=clients.crt
  eventually_equals 1 kubectl create --dry-run=server -o 'jsonpath={.spec.replicas}' -f "$folder/probe.json"
  matches '^curl: \((35|56)\) .*(certificate required|reset)' curl --silent --show-error --insecure --max-time 10 "https://127.0.0.1:$port/"
}

secret() { # NAME
  jq --null-input --arg name "$1" '{apiVersion: "v1", kind: "Secret", metadata: {name: $name, labels: {marked: "yes"}}}'
}

ignored_without_operator() {
  secret ignored | kubectl create -f -
  equals "" kubectl get secret ignored -o 'jsonpath={.metadata.labels.marked-by}'
}

fails_without_operator() {
  process_stop "$state" operator TERM
  matches 'failed calling webhook "mutate.v1.widgets.shop.example.com": failed to call webhook: Post "https://127.0.0.1:[0-9]+/mutate-shop-example-com-v1-widget\?timeout=2s".*connection refused' \
    kubectl create -f <(widget last '{}')
}

main "$@"
