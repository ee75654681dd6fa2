#!/usr/bin/env bash
# Tests a system of docs/platforms.md in empty chroots: clones the last commit into one, and runs there `make demo`, `make test` and
# `make deb`. Then installs the packages into another one, and builds programs with them. With COMPILER, it runs only `make test`.
# Prints a line with the result and the seconds of each. Needs root, debootstrap and network.
#   platform_test.sh RELEASE [COMPILER]    RELEASE: of Debian; COMPILER: one of its packages, such as clang-19 or g++-13
#   COMMANDS         run only these: demo, test, deb
#   DEBIAN_MIRROR    the address of Debian's packages
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=tests/at_exit.sh
source "$here/../at_exit.sh"
# shellcheck source=tests/platforms/chroot.sh
source "$here/chroot.sh"

release=$1 compiler=${2:-}
name=$release${compiler:+-$compiler}
folder=$root/build/platforms
system=$folder/$name packages=$folder/$name-packages
log=$folder/$name.txt
clean_up() { chroot_remove "$system"; chroot_remove "$packages"; }
at_exit clean_up

main() {
  local code=0 command
  clean_up
  chroot_create "$system" "$release"
  chroot_install "$system" make git ca-certificates ${compiler:+"$compiler"}
  clone "$system"
  : >"$log"
  for command in ${COMMANDS:-$([[ -n $compiler ]] && echo test || echo demo test deb)}; do
    timed "make $command" build "$command" && { [[ $command != deb ]] || timed packages test_packages; } || code=1
  done
  return "$code"
}

clone() { git clone --quiet --no-hardlinks "$root" "$1/kopp"; } # SYSTEM

# Runs a command, and prints a line with its result and its seconds.
timed() { # NAME COMMAND...
  local started=$SECONDS result=passed
  "${@:2}" >>"$log" 2>&1 || result=FAILED
  printf '%-20s  %-9s  %-6s  %5d s\n' "$name" "$1" "$result" $((SECONDS - started))
  [[ $result == passed ]] || { tail -n 40 "$log" >&2 && return 1; }
}

build() { # COMMAND
  chroot_run "$system" WERROR=1 ${compiler:+"CXX=${compiler/#clang/clang++}"} make -C /kopp "$1"
}

# lintian checks the packages. A system that has only these, CMake with the make that it recommends, a compiler and pkg-config builds
# README's operator and programs without further settings. curl, jq and procps are for the tests.
test_packages() {
  chroot_install "$system" lintian &&
    chroot_run "$system" bash -c 'lintian --fail-on error,warning --allow-root /kopp/build/deb/packages/*.deb' &&
    chroot_create "$packages" "$release" && clone "$packages" && cp "$system"/kopp/build/deb/packages/*.deb "$packages/" &&
    chroot_run "$packages" DEBIAN_FRONTEND=noninteractive bash -c \
      'apt-get install -y -qq --no-install-recommends /*.deb cmake make g++ pkgconf curl jq procps >/dev/null' &&
    chroot_run "$packages" bash /kopp/tests/platforms/use_packages.sh
}

main
