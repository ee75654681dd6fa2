# shellcheck shell=bash disable=SC2154 # shared with ../sample_controller_test.sh
# What a user gets who gives the controller something wrong: one clear line, and an exit code.

check_bad_input() {
  check "A missing kubeconfig: exit code 1 and one line that names the file" \
    refuses 1 "$state/none.kubeconfig" --kubeconfig "$state/none.kubeconfig"
  check "A kubeconfig that cannot be parsed: exit code 1 and one line that names the file" malformed
  check "A kubeconfig whose current context is not there: exit code 1 and one line that names it" \
    no_context
  check "A kubeconfig with a certificate that is not there: exit code 1 and one line that names it" \
    no_certificate
  check "An unknown flag: exit code 2 and the flag is named" unknown_flag
  check "--help: exit code 0, and the flags are explained on stdout" help
  check "A server that nobody answers for: exit code 1 and one line that names it" unreachable_server
  check "A server whose certificate is not trusted: exit code 1 and one line that says so" untrusted_server
}

refuses() { # CODE WORD ARGUMENT...: this exit code and one line of stderr, which has the word
  local expected=$1 word=$2 code=0
  shift 2
  timeout 20 "$SAMPLE_CONTROLLER" "$@" >"$state/stdout" 2>"$state/stderr" </dev/null || code=$?
  echo "exit code $code, stderr:" && cat "$state/stderr"
  [[ $code == "$expected" ]]
  [[ $(wc -l <"$state/stderr") == 1 ]]
  grep -qF -- "$word" "$state/stderr"
}

kubeconfig_with() { # SED-EXPRESSION: the controller's own, with one thing changed
  sed -E "$1" "$state/sample-controller-certificate.kubeconfig" >"$state/bad.kubeconfig"
}

malformed() {
  echo 'clusters: [{name: "no end' >"$state/bad.kubeconfig"
  refuses 1 "$state/bad.kubeconfig" --kubeconfig "$state/bad.kubeconfig"
}

no_context() {
  kubeconfig_with 's/^current-context: .*/current-context: elsewhere/'
  refuses 1 elsewhere --kubeconfig "$state/bad.kubeconfig"
}

no_certificate() {
  kubeconfig_with "s|client-certificate: [^,]*|client-certificate: $state/none.crt|"
  refuses 1 "$state/none.crt" --kubeconfig "$state/bad.kubeconfig"
}

unknown_flag() {
  local code=0
  "$SAMPLE_CONTROLLER" --replicaz=3 >"$state/stderr" 2>&1 || code=$?
  echo "exit code $code, output:" && cat "$state/stderr"
  [[ $code == 2 ]]
  grep -qF -- replicaz "$state/stderr"
}

help() {
  "$SAMPLE_CONTROLLER" --help >"$state/stdout"
  cat "$state/stdout"
  grep -q -- --kubeconfig "$state/stdout"
}

unreachable_server() {
  kubeconfig_with 's|https://127.0.0.1:[0-9]+|https://127.0.0.1:1|' # nobody serves TCP port 1
  refuses 1 127.0.0.1:1 --kubeconfig "$state/bad.kubeconfig"
  grep -q refused "$state/stderr"
}

untrusted_server() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$state/other.key" \
    -out "$state/other.crt" -subj /CN=another-ca -days 1
  kubeconfig_with "s|certificate-authority: [^}]*|certificate-authority: $state/other.crt|"
  refuses 1 "127.0.0.1:$(cat "$state/port")" --kubeconfig "$state/bad.kubeconfig"
  grep -q certificate-authority "$state/stderr"
}
