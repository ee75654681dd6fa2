# shellcheck shell=bash
# Prints the result table of a benchmark. Sourced. Needs the functions print_budget and say.

print_machine() { # PEER RUNS
  printf '%s, %s CPUs; Linux %s; %s; %s; medians of %s alternating runs\n' \
    "$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n1)" "$(nproc)" "$(uname -r)" \
    "$(c++ --version | head -n1)" "$1" "$2"
}

# Reads lines "PROGRAM MEASURE VALUE" of all runs. The sourcing script's function print_budget
# prints lines with a measure of kopp, the program and measure to compare it with, whether more or
# less is better, and the required ratio ("-": no requirement, the line only explains another).
print_table() { # RUNS.TXT
  sort -k1,2 -k3,3g "$1" | awk '
    function finish_measure() {
      if (n == 0) return
      median[key] = n % 2 ? value[(n + 1) / 2] : (value[n / 2] + value[n / 2 + 1]) / 2
      spread[key] = median[key] ? 50 * (value[n] - value[1]) / median[key] : 0
      n = 0
    }
    function format_value(v) {
      return v >= 1e6 ? sprintf("%.2fM", v / 1e6) : v >= 1e4 ? sprintf("%.1fk", v / 1e3) : sprintf("%.4g", v)
    }
    BEGIN { printf "%-24s %9s  %4s  %-37s %9s  %4s  %6s  %-9s\n", "kopp", "median", "±%", "against", "median", "±%", "ratio", "budget" }
    NR == FNR { if ($1 " " $2 != key) { finish_measure(); key = $1 " " $2 } value[++n] = $3; next }
    FNR == 1 { finish_measure() }
    {
      kopp = "kopp " $1; peer = $2 " " $3
      if (!(kopp in median) || !(peer in median)) next
      ratio = median[kopp] / median[peer]
      result = $5 == "-" ? "" : ($4 == "more" ? ratio >= $5 : ratio <= $5) ? "ok" : "MISS"
      requirement = $5 == "-" ? "" : ($4 == "more" ? ">= " : "<= ") $5
      printf "%-24s %9s  %4.0f  %-37s %9s  %4.0f  %6.2f  %-9s %s\n", $1, format_value(median[kopp]), spread[kopp], $2 " " $3, format_value(median[peer]), spread[peer], ratio, requirement, result
    }' - <(print_budget)
}

# Repeats a command until it succeeds. Fails after two minutes.
eventually() { # COMMAND...
  local attempts
  for ((attempts = 0; attempts < 1200; ++attempts)); do
    "$@" && return
    sleep 0.1
  done
  say "this command did not succeed within two minutes: $*"
  return 1
}
