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
  check "A server that nobody answers for: one clear line that names it" unreachable_server
  check "A server whose certificate is not trusted: one clear line that names it and says so" untrusted_server
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

# Such a server may be there later: the controller may go on trying, but says what is wrong, once.
complains_once() { # WORD REASON: with bad.kubeconfig
  process_start "$state" stranger "$SAMPLE_CONTROLLER" --kubeconfig "$state/bad.kubeconfig"
  local id
  id=$(process_id "$state" stranger || true)
  shows "$1.*$2|$2.*$1" 10 cat "$state/stranger.log"
  stays 1 3 grep -cE "$1.*$2|$2.*$1" "$state/stranger.log"
  if process_id "$state" stranger; then return; fi
  local code=0
  wait "$id" || code=$?
  echo "exit code $code" && [[ $code == 1 ]]
}

unreachable_server() {
  kubeconfig_with 's|https://127.0.0.1:[0-9]+|https://127.0.0.1:1|' # nobody serves TCP port 1
  complains_once 127.0.0.1:1 '[Rr]efused'
  process_stop "$state" stranger
}

untrusted_server() {
  rm -f "$state/stranger.log"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$state/other.key" \
    -out "$state/other.crt" -subj /CN=another-ca -days 1
  kubeconfig_with "s|certificate-authority: [^}]*|certificate-authority: $state/other.crt|"
  complains_once "127.0.0.1:$(cat "$state/port")" '[Cc]ertificate'
  process_stop "$state" stranger
}
