#!/usr/bin/env bash
# Measures how long g++ -O2 takes to compile one source file of an operator: the umbrella header, what
# the types of <kopp/kinds.hpp> add to the header of a kind, the operator of README.md, and a realistic one. Compiles each in turn
# RUNS times (default 3) and prints the medians of the CPU seconds in user space, which depend less on other work of the machine
# than the time that passes. Writes the table, and the results of each run, to build/bench.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$root/build/bench
runs=${RUNS:-3}
# shellcheck source=tests/bench/table.sh
source "$here/table.sh"

includes=()
for folder in "$root"/{workqueue,informer,informer/k8s,framework/*}/include; do includes+=(-I"$folder"); done
TIMEFORMAT=%U

# Prints the source of the operator in README.md.
readme_operator() {
  awk '/^<!-- file: main.cpp -->$/ { wanted = 1 }
       wanted && /^```$/ { exit }
       inside { print }
       wanted && /^```cpp$/ { inside = 1 }' "$root/README.md"
}

measure() { # MEASURE SOURCE
  local seconds
  seconds=$({ time c++ -std=c++20 -O2 "${includes[@]}" -c -o "$folder/object.o" "$2" >&2; } 2>&1) ||
    { printf 'compile.sh: %s does not compile:\n%s\n' "$2" "$seconds" >&2; return 1; }
  echo "kopp $1 $seconds" >>"$out/compile_runs.txt"
}

# Writes the difference of the last times of two sources, of one round.
difference() { # MEASURE SOURCE WITHOUT
  awk -v measure="$1" -v with="$2" -v without="$3" '$1 == "kopp" { time[$2] = $3 }
    END { print "kopp", measure, time[with] - time[without] }' "$out/compile_runs.txt" >"$folder/difference"
  cat "$folder/difference" >>"$out/compile_runs.txt"
}

print_fixed_budget() {
  cat <<'END'
budget readme_operator 3
budget realistic_operator 7
budget kinds_add 0.6
END
}

print_budget() {
  cat <<'END'
readme_operator        budget readme_operator        less 1
realistic_operator     budget realistic_operator     less 1
kinds_add              budget kinds_add              less 1
umbrella_header        kopp   readme_operator        less -
standard_headers       kopp   readme_operator        less -
END
}

mkdir -p "$out"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
readme_operator >"$folder/readme_operator.cpp"
echo '#include <kopp/framework.hpp>' >"$folder/umbrella_header.cpp"
echo '#include <kopp/informer/object.hpp>' >"$folder/object_header.cpp"
echo '#include <kopp/kinds.hpp>' >"$folder/kinds_header.cpp"
printf '#include <%s>\n' chrono functional map memory mutex optional stop_token string vector >"$folder/standard_headers.cpp"
cp "$here/compile/realistic_operator.cpp" "$folder/"
print_fixed_budget >"$out/compile_runs.txt"
for ((round = 1; round <= runs; ++round)); do
  for source in standard_headers umbrella_header object_header kinds_header readme_operator realistic_operator; do
    measure "$source" "$folder/$source.cpp"
  done
  difference kinds_add kinds_header object_header
done
{ print_machine "g++ -O2, CPU seconds in user space" "$runs" && print_table "$out/compile_runs.txt"; } |
  tee "$out/compile.txt"
