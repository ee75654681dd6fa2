#!/usr/bin/env bash
# Uses the packages that `make deb` has built and that are installed: builds programs with CMake and pkg-config, and runs them and the tools.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$root/tests/install/project
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$root/tests/docs/run_page.sh" "$root/README.md" /usr 6 "Write an operator"

cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(kopp REQUIRED)
add_executable(operator $programs/operator.cpp)
target_link_libraries(operator PRIVATE kopp::framework)
END
cmake -S "$work" -B "$work/build"
cmake --build "$work/build"
"$work/build/operator" --help >/dev/null

# shellcheck disable=SC2046 # the flags are words
g++ -std=c++20 "$programs/queue.cpp" $(pkg-config --cflags --libs kopp-workqueue) -o "$work/queue"
[[ $("$work/queue") == default/web ]]

kopp --version
for program in kopp kopp-apiserver sample-controller; do zgrep -q '^\.SH DESCRIPTION' "/usr/share/man/man1/$program.1.gz"; done
grep -m 1 'create  deployments example-foo' < <(timeout --signal=INT 60 kopp-apiserver --demo -- sample-controller)
