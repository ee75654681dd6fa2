# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# The network between the controller and the API servers: a proxy that the checks can interrupt. The
# part that uses it calls use_network and stop_using_network.

# The mode of proxy.py.
network_mode=(forward)

# Restarts the controller behind the proxy. SUFFIX: of the API server, see connect_to.
use_network() { # [SUFFIX [FLAG...]]
  process_stop "$state" controller TERM
  process_stop "$state" network
  rm -f "$state/network.log" # its first line is the port
  connect_to "${1:-}"
  start_network
  eventually_matches '^[0-9]+$' head -n 1 "$state/network.log"
  network_port=$(head -n 1 "$state/network.log")
  sed -E "s|https://127.0.0.1:[0-9]+|https://127.0.0.1:$network_port|" \
    "$state/sample-controller.kubeconfig" >"$state/network.kubeconfig"
  start_controller_process "$state/network.kubeconfig" -v 4 "${@:2}"
  disown -a # do not report when they end
}

stop_using_network() {
  process_stop "$state" controller TERM
  process_stop "$state" network
  start_controller_process
}

# Selects the API server for new connections: the first one, or the second one with -2. Open
# connections stay.
connect_to() { # [SUFFIX]
  cp "$state/port${1:-}" "$state/network.target.new"
  mv "$state/network.target.new" "$state/network.target"
}

reconnect_to() { # SUFFIX [BYTES]
  interrupt_network
  connect_to "$1"
  resume_network "${@:2}"
}

interrupt_network() { process_stop "$state" network; }
resume_network() { start_network "$network_port" "$@"; } # [BYTES], after which responses are held
start_network() {                                        # [PORT [BYTES]]
  process_start "$state" network python3 "$here/proxy.py" "${network_mode[@]}" 127.0.0.1 127.0.0.1 \
    "$state/network.target" "$@"
  disown -a
}

silence_connections() {
  local before
  before=$(count_silences)
  kill -s USR1 "$(process_id "$state" network)"
  eventually_equals $((before + 1)) count_silences
}
count_silences() { grep -cFx silenced "$state/network.log" || true; }

count_connections() { grep -cFx connection "$state/network.log"; }

informer_metric() { # NAME KIND
  curl --silent --show-error --fail "http://$(metrics_address)/metrics" |
    sed -nE "s/^kopp_informer_$1\{.*kind=\"$2\".*\} //p"
}

# Blocks until both watches have received a bookmark: kube-apiserver sends one about each minute. Only
# then the controller notices within 75 s that a watch is silent. No Foo and no Deployment may change.
await_bookmarks() {
  eventually_equals yes are_quiet
  patience=120 eventually_equals yes received_something Foo
  patience=120 eventually_equals yes received_something Deployment
}
are_quiet() { (($(seconds_since_event Foo) >= 4 && $(seconds_since_event Deployment) >= 4)) && echo yes; }
received_something() { (($(seconds_since_event "$1") < 4)) && echo yes; } # KIND
seconds_since_event() { informer_metric resource_version_age_seconds "$1" | sed 's/\..*//'; } # KIND

lists_of_informers() { echo "Foo $(informer_metric lists_total Foo), Deployment $(informer_metric lists_total Deployment)"; }
