# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# Checks the ways to connect to the API server: each kind of credentials, a proxy, IPv6, and
# certificates that are rotated while the controller runs. The controllers log everything.

check_connections() {
  write_connection_kubeconfigs
  check "A controller with a token reconciles Foos" reconciles_as token
  check "A controller with a client certificate reconciles Foos" reconciles_as certificate
  check "A controller with a credential plugin reconciles Foos and runs the plugin once" reconciles_with_plugin
  check "A controller whose kubeconfig has a proxy-url reconciles Foos through the proxy" reconciles_through_proxy
  check "A controller reconciles Foos through an https:// proxy whose CA is in SSL_CERT_FILE" reconciles_through_https_proxy
  check "A controller reconciles Foos over [::1]" reconciles_over_ipv6
  local rotated="A running controller misses no change when all certificates are replaced"
  if [[ $server == real ]]; then
    check "$rotated" certificates_rotated
    "$cluster" service-account "$state" default sample-controller # with the new CA
  else
    skip_check "$rotated" "kopp-apiserver creates its certificates when it starts"
  fi
  check "The log at the highest verbosity shows neither a token nor a private key" log_shows_no_credentials
  process_stop "$state" controller TERM
  start_controller_process
}

# Starts the proxies, and writes USER-user.kubeconfig for each way to connect.
write_connection_kubeconfigs() {
  local certificate=$state/sample-controller-certificate.kubeconfig
  local token
  stat -c %s "$state/controller.log" >"$state/connections.offset"
  process_start "$state" proxy python3 "$here/proxy.py" connect 127.0.0.1
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 1 -subj /CN=proxy \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$state/proxy.key" -out "$state/proxy.crt" 2>/dev/null
  process_start "$state" https-proxy python3 "$here/proxy.py" connect 127.0.0.1 "$state/proxy.crt" "$state/proxy.key"
  process_start "$state" ipv6 python3 "$here/proxy.py" forward ::1 127.0.0.1 "$state/port"
  disown -a # do not report when they are killed
  until [[ -s $state/proxy.log && -s $state/https-proxy.log && -s $state/ipv6.log ]]; do sleep 0.05; done
  cp "$state/sample-controller.kubeconfig" "$state/token-user.kubeconfig"
  cp "$certificate" "$state/certificate-user.kubeconfig"
  cp "$certificate" "$state/rotated-user.kubeconfig"
  write_proxy_kubeconfig "http://127.0.0.1:$(head -n 1 "$state/proxy.log")" proxy
  write_proxy_kubeconfig "https://127.0.0.1:$(head -n 1 "$state/https-proxy.log")" https-proxy
  sed -E "s|https://127.0.0.1:[0-9]+|https://[::1]:$(head -n 1 "$state/ipv6.log")|" \
    "$certificate" >"$state/ipv6-user.kubeconfig"

  token=$(token_of token-user)
  cat >"$state/plugin" <<END
#!/bin/sh
echo run >>plugin.runs
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "$token"}}'
END
  chmod 700 "$state/plugin"
  sed -E "s|user: \{client-certificate: .*\}\}|user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never}}}|" \
    "$certificate" >"$state/plugin-user.kubeconfig"
}

write_proxy_kubeconfig() { # URL USER
  sed "s|certificate-authority:|proxy-url: \"$1\", certificate-authority:|" \
    "$state/sample-controller-certificate.kubeconfig" >"$state/$2-user.kubeconfig"
}

token_of() { # USER
  kubectl --kubeconfig "$state/$1.kubeconfig" config view --raw -o 'jsonpath={.users[0].user.token}'
}

reconciles_as() { # USER
  process_stop "$state" controller TERM
  start_controller_process "$state/$1-user.kubeconfig" -v 10
  use_new_namespace "$1-user"
  create_foo a a 2
  eventually_equals 2 replicas a
  eventually_equals 0 available_replicas a
  patch_foo_spec a '{"replicas":3}'
  eventually_equals 3 replicas a
}

reconciles_with_plugin() {
  reconciles_as plugin
  equals run cat "$state/plugin.runs"
}

reconciles_through_proxy() {
  reconciles_as proxy
  equals yes at_least 3 count_tunnels proxy # two watches and the calls
}

reconciles_through_https_proxy() {
  SSL_CERT_FILE=$state/proxy.crt reconciles_as https-proxy
  equals yes at_least 3 count_tunnels https-proxy
}

count_tunnels() { grep -cFx "CONNECT 127.0.0.1:$(<"$state/port")" "$state/$1.log"; } # PROXY

reconciles_over_ipv6() {
  reconciles_as ipv6
  equals yes at_least 3 count_ipv6_connections
}

count_ipv6_connections() { grep -cFx connection "$state/ipv6.log"; }

certificates_rotated() {
  reconciles_as rotated
  local before
  before=$(process_id "$state" controller)
  "$cluster" kill-apiserver "$state"
  "$cluster" rotate-certificates "$state"
  "$cluster" start-apiserver "$state"
  patch_foo_spec a '{"replicas":5}'
  create_foo b b 4
  eventually_equals 5 replicas a
  eventually_equals 4 replicas b
  equals "$before" process_id "$state" controller
}

log_shows_no_credentials() {
  local key=$state/sample-controller-certificate.key
  equals yes at_least 50 count_logged_requests
  matches '^.{60}' key_lines "$key"
  equals 0 count_in_connections_log -F -e "$(token_of token-user)"
  equals 0 count_in_connections_log -F -f <(key_lines "$key")
}

key_lines() { grep -v -e '-----' "$1"; } # KEY

count_logged_requests() { count_in_connections_log '"Response"'; }

# Counts the matching lines of all controllers since the start of this part.
count_in_connections_log() { # GREP-ARGUMENT...
  tail -c "+$(($(<"$state/connections.offset") + 1))" "$state/controller.log" | grep -c "$@"
}
