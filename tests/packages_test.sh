#!/usr/bin/env bash
# Tests packages.sh and the targets of make that call it, on systems that files like /etc/os-release describe. The programs that
# install packages, and cmake, are doubles that only record their calls.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tests/at_exit.sh
source "$root/tests/at_exit.sh"
# shellcheck source-path=SCRIPTDIR source=cluster/check.sh
source "$root/tests/cluster/check.sh"
unset CI WERROR PACKAGES CLANG_VERSION CLANG_FORMAT MAKEFLAGS MAKELEVEL

readonly targets=(install build test test-apiserver demo test-cluster bench fuzz soak deb image test-image test-node test-platforms test-differences
  test-charts generate format check-format check-headers tidy docs)

main() {
  folder=$(mktemp -d)
  check_output=$folder/check_output
  at_exit clean_up
  create_systems
  create_programs
  check "the names of packages and the version of clang are those of the system" names
  check "missing packages are installed, and only those" installs_missing_packages
  check "sudo is used by those who are not root" uses_sudo
  check "without root and sudo, a message has the command that installs the packages" names_the_command
  check "a failure of apt-get ends with the command that installs the packages" names_the_command_after_a_failure
  check "on other systems, a message names the packages" names_packages_on_other_systems
  check "with PACKAGES=installed, nothing is installed on any system" installs_nothing
  check "where clang-format 16 is missing, a message names the reason" formatting
  check "another version of clang-format is rejected" rejects_another_clang_format
  check "on other systems, each target of make ends before it does anything" targets_end
  check "make fuzz and make tidy use the clang of the system" uses_the_clang_of_the_system
  print_summary
}

create_systems() {
  mkdir "$folder/systems"
  system debian-12 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"' 'VERSION_ID="12"' ID=debian
  system debian-13 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"' 'VERSION_ID="13"' ID=debian
  system debian-unstable 'PRETTY_NAME="Debian GNU/Linux forky/sid"' ID=debian
  system debian-11 'PRETTY_NAME="Debian GNU/Linux 11 (bullseye)"' 'VERSION_ID="11"' ID=debian
  system ubuntu-24.04 'PRETTY_NAME="Ubuntu 24.04.3 LTS"' 'VERSION_ID="24.04"' ID=ubuntu ID_LIKE=debian
  system ubuntu-26.04 'PRETTY_NAME="Ubuntu 26.04 LTS"' 'VERSION_ID="26.04"' ID=ubuntu ID_LIKE=debian
  system ubuntu-22.04 'PRETTY_NAME="Ubuntu 22.04.5 LTS"' 'VERSION_ID="22.04"' ID=ubuntu ID_LIKE=debian
  system fedora 'PRETTY_NAME="Fedora Linux 43 (Workstation Edition)"' 'VERSION_ID=43' ID=fedora
}
system() { printf '%s\n' "${@:2}" >"$folder/systems/$1"; } # NAME LINE...

# Creates the folder of all programs that packages.sh and the Makefile may call. Those of the doubles write their calls to $folder/calls.
create_programs() {
  local name
  mkdir "$folder/bin"
  for name in awk bash cat dirname env grep head make mkdir nproc paste rm sed sh sort touch tr; do
    ln -s "$(command -v "$name")" "$folder/bin/"
  done
  # shellcheck disable=SC2016 # the doubles expand the variables
  {
    double id 'echo "${USER_ID:-0}"'
    double dpkg-query 'for name; do :; done; [[ " $INSTALLED " != *" $name "* ]] || echo "install ok installed"'
    double flock 'echo "flock $1" >>"$CALLS"; shift; exec "$@"'
    double apt-get 'echo "apt-get $*" >>"$CALLS"; [[ -z ${FAILS:-} ]]'
    double sudo 'echo sudo >>"$CALLS"; exec "$@"'
    double git 'true'
    double cmake 'echo "cmake $*" >>"$CALLS"; false'
    double other-clang-format 'echo "clang-format version 19.1.7"'
    double clang-format-16 'echo "Debian clang-format version 16.0.6"'
  }
}
double() { printf '#!/bin/bash\n%s\n' "$2" >"$folder/bin/$1" && chmod +x "$folder/bin/$1"; } # NAME COMMANDS

# Runs a command on a system. Prints its output and the calls of the doubles, then its exit code unless it is 0.
on() { # SYSTEM COMMAND...
  local result=0
  : >"$folder/calls"
  env PATH="$folder/bin" OS_RELEASE="$folder/systems/$1" CALLS="$folder/calls" INSTALLED="${installed:-}" "${@:2}" 2>&1 || result=$?
  cat "$folder/calls"
  ((result == 0)) || echo "exit code $result"
}
packages() { on "$1" "${programs_environment[@]}" "$root/tests/packages.sh" "${@:2}"; } # SYSTEM ARGUMENT...
programs_environment=(env)

names() {
  local system
  for system in debian-12 ubuntu-24.04; do
    equals 16 packages "$system" clang
    equals 'clang-16 libclang-rt-16-dev clang-16 clang-tidy-16 clang-format-16 shellcheck' packages "$system" names fuzz tidy format
  done
  for system in debian-13 debian-unstable ubuntu-26.04; do
    equals 19 packages "$system" clang
    equals 'clang-19 libclang-rt-19-dev clang-19 clang-tidy-19' packages "$system" names fuzz tidy
  done
  programs_environment=(env CLANG_VERSION=18)
  equals 'clang-18 clang-tidy-18' packages debian-12 names tidy
}

installs_missing_packages() {
  local system installed='curl git'
  for system in debian-12 debian-13 debian-unstable ubuntu-24.04 ubuntu-26.04; do
    equals "installing: jq
flock /run/lock/kopp-packages
apt-get -q update
apt-get -qy install --no-install-recommends jq" packages "$system" install demo
  done
  installed='curl jq'
  equals '' packages debian-12 install demo
}

uses_sudo() {
  programs_environment=(env USER_ID=1000)
  equals 'installing: curl jq
sudo
flock /run/lock/kopp-packages
apt-get -q update
apt-get -qy install --no-install-recommends curl jq' packages debian-12 install demo
}

names_the_command() {
  rm "$folder/bin/sudo"
  programs_environment=(env USER_ID=1000)
  equals 'These packages are missing, and you are neither root nor have sudo. Run as root:
  apt-get update && apt-get install --no-install-recommends curl jq
exit code 1' packages debian-12 install demo
  local installed='curl jq'
  equals '' packages debian-12 install demo
}

names_the_command_after_a_failure() {
  programs_environment=(env FAILS=yes)
  equals 'installing: curl jq
These packages are missing, and could not be installed. Run as root:
  apt-get update && apt-get install --no-install-recommends curl jq
flock /run/lock/kopp-packages
apt-get -q update
exit code 1' packages debian-12 install demo
}

names_packages_on_other_systems() {
  local system
  for system in debian-11 ubuntu-22.04 fedora none; do
    matches 'make installs packages on Debian 12, Ubuntu 24.04 and newer' packages "$system" install demo
    matches '^  curl jq$' packages "$system" install demo
    matches '^exit code 1$' packages "$system" install demo
  done
  matches 'but this is Fedora Linux 43' packages fedora install demo
  matches "but this is a system without $folder/systems/none" packages none install demo
}

installs_nothing() {
  local system
  programs_environment=(env PACKAGES=installed)
  for system in debian-12 fedora none; do equals '' packages "$system" install build; done
}

formatting() {
  matches 'formatted by clang-format 16.*Debian GNU/Linux 13 .trixie. has no package of it' packages debian-13 install format
  equals 1 count '^exit code 1$' packages debian-13 install format
  equals 0 count apt-get packages debian-13 install format
  local installed=shellcheck
  programs_environment=(env CLANG_FORMAT=clang-format-16)
  equals '' packages debian-13 install format
}
count() { "${@:2}" | grep -c -- "$1" || true; } # REGULAR-EXPRESSION COMMAND...

rejects_another_clang_format() {
  programs_environment=(env CLANG_FORMAT=other-clang-format)
  matches 'other-clang-format is not clang-format 16' packages debian-12 install format
}

targets_end() {
  local target
  copy_makefile
  for target in "${targets[@]}"; do
    equals 1 count 'but this is Fedora Linux 43' on fedora make -C "$folder/clone" "$target"
    equals 1 count 'exit code 2' on fedora make -C "$folder/clone" "$target"
    equals 0 count '^cmake ' on fedora make -C "$folder/clone" "$target"
  done
}

uses_the_clang_of_the_system() {
  copy_makefile
  local installed
  installed=$("$root/tests/packages.sh" names build fuzz tidy | sed 's/-16/-19/g')
  matches 'cmake --preset fuzz -DCMAKE_CXX_COMPILER=clang\+\+-19$' on debian-13 make -C "$folder/clone" fuzz
  matches 'cmake --preset tidy -DCMAKE_CXX_COMPILER=clang\+\+-19$' on debian-13 make -C "$folder/clone" tidy
  installed=$(OS_RELEASE=$folder/systems/debian-12 "$root/tests/packages.sh" names build fuzz tidy)
  matches 'cmake --preset fuzz -DCMAKE_CXX_COMPILER=clang\+\+-16$' on debian-12 make -C "$folder/clone" fuzz
}

copy_makefile() {
  mkdir -p "$folder/clone/tests"
  cp "$root/Makefile" "$root/CMakeLists.txt" "$root/CMakePresets.json" "$folder/clone"
  cp "$root/tests/packages.sh" "$folder/clone/tests"
}

clean_up() {
  kill_check
  rm -rf "$folder"
}

main "$@"
