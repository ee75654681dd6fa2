# shellcheck shell=bash disable=SC2154 # shared with ../sample_controller_test.sh
# Checks that invalid flags, kubeconfigs and servers cause one clear line of output and a nonzero
# exit code.

check_bad_input() {
  check "A missing kubeconfig causes exit code 1 and one line that names the file" \
    fails_with_message 1 "$state/none.kubeconfig" --kubeconfig "$state/none.kubeconfig"
  check "A malformed kubeconfig causes exit code 1 and one line that names the file" malformed_kubeconfig
  check "A kubeconfig without its current context causes exit code 1 and one line that names the context" \
    missing_context
  check "A kubeconfig with a missing certificate file causes exit code 1 and one line that names the file" \
    missing_certificate
  check "An unknown flag causes exit code 2 and a message that names the flag" unknown_flag
  check "--help prints the flags on stdout with exit code 0" help_flag
  check "An unreachable server causes exit code 1 and one line that names the server" unreachable_server
  check "An untrusted server certificate causes exit code 1 and one line with the reason" untrusted_server
}

# Runs the controller; checks its exit code, and that its stderr is one line that contains TEXT.
fails_with_message() { # CODE TEXT ARGUMENT...
  local expected=$1 text=$2 code=0
  shift 2
  timeout "$patience" "$SAMPLE_CONTROLLER" "$@" >"$state/stdout" 2>"$state/stderr" </dev/null || code=$?
  echo "exit code $code, stderr:" && cat "$state/stderr"
  [[ $code == "$expected" ]]
  [[ $(wc -l <"$state/stderr") == 1 ]]
  grep -qF -- "$text" "$state/stderr"
}

write_bad_kubeconfig() { # SED-EXPRESSION, applied to the controller's kubeconfig
  sed -E "$1" "$state/sample-controller-certificate.kubeconfig" >"$state/bad.kubeconfig"
}

malformed_kubeconfig() {
  echo 'clusters: [{name: "no end' >"$state/bad.kubeconfig"
  fails_with_message 1 "$state/bad.kubeconfig" --kubeconfig "$state/bad.kubeconfig"
}

missing_context() {
  write_bad_kubeconfig 's/^current-context: .*/current-context: elsewhere/'
  fails_with_message 1 elsewhere --kubeconfig "$state/bad.kubeconfig"
}

missing_certificate() {
  write_bad_kubeconfig "s|client-certificate: [^,]*|client-certificate: $state/none.crt|"
  fails_with_message 1 "$state/none.crt" --kubeconfig "$state/bad.kubeconfig"
}

unknown_flag() {
  local code=0
  "$SAMPLE_CONTROLLER" --replicaz=3 >"$state/stderr" 2>&1 || code=$?
  echo "exit code $code, output:" && cat "$state/stderr"
  [[ $code == 2 ]]
  grep -qF -- replicaz "$state/stderr"
}

help_flag() {
  "$SAMPLE_CONTROLLER" --help >"$state/stdout"
  cat "$state/stdout"
  grep -q -- --kubeconfig "$state/stdout"
}

unreachable_server() {
  write_bad_kubeconfig 's|https://127.0.0.1:[0-9]+|https://127.0.0.1:1|' # nothing listens on TCP port 1
  fails_with_message 1 127.0.0.1:1 --kubeconfig "$state/bad.kubeconfig"
  grep -q refused "$state/stderr"
}

untrusted_server() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$state/other.key" \
    -out "$state/other.crt" -subj /CN=another-ca -days 1
  write_bad_kubeconfig "s|certificate-authority: [^}]*|certificate-authority: $state/other.crt|"
  fails_with_message 1 "127.0.0.1:$(cat "$state/port")" --kubeconfig "$state/bad.kubeconfig"
  grep -q certificate-authority "$state/stderr"
}
