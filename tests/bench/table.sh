# shellcheck shell=bash
# The table of a benchmark. Sourced.

machine() { # PEER RUNS
  printf '%s, %s CPUs; Linux %s; %s; %s; medians of %s, in turn\n' \
    "$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n1)" "$(nproc)" "$(uname -r)" \
    "$(c++ --version | head -n1)" "$1" "$2"
}

# Of all runs it takes lines "PROGRAM MEASURE VALUE". The script's function `budget` prints a measure of
# kopp's, of whom and which measure it is compared with, whether more or less is better, and the
# ratio that is wanted ("-": none, the line explains another).
table() { # RUNS.TXT
  sort -k1,2 -k3,3g "$1" | awk '
    function close_measure() {
      if (n == 0) return
      median[key] = n % 2 ? value[(n + 1) / 2] : (value[n / 2] + value[n / 2 + 1]) / 2
      spread[key] = median[key] ? 50 * (value[n] - value[1]) / median[key] : 0
      n = 0
    }
    function short(v) {
      return v >= 1e6 ? sprintf("%.2fM", v / 1e6) : v >= 1e4 ? sprintf("%.1fk", v / 1e3) : sprintf("%.4g", v)
    }
    BEGIN { printf "%-23s %9s  %4s  %-33s %9s  %4s  %6s  %-9s\n", "kopp", "median", "±%", "against", "median", "±%", "ratio", "budget" }
    NR == FNR { if ($1 " " $2 != key) { close_measure(); key = $1 " " $2 } value[++n] = $3; next }
    FNR == 1 { close_measure() }
    {
      mine = "kopp " $1; theirs = $2 " " $3
      if (!(mine in median) || !(theirs in median)) next
      ratio = median[mine] / median[theirs]
      met = $5 == "-" ? "" : ($4 == "more" ? ratio >= $5 : ratio <= $5) ? "ok" : "MISS"
      wanted = $5 == "-" ? "" : ($4 == "more" ? ">= " : "<= ") $5
      printf "%-23s %9s  %4.0f  %-33s %9s  %4.0f  %6.2f  %-9s %s\n", $1, short(median[mine]), spread[mine], $2 " " $3, short(median[theirs]), spread[theirs], ratio, wanted, met
    }' - <(budget)
}
