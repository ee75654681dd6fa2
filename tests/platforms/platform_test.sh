#!/usr/bin/env bash
# Tests a system of docs/platforms.md in empty chroots: clones the last commit into one, and runs there `make demo`, `make test` and
# `make deb`. Then installs the packages into another one, and builds README's operator with them. With a compiler only `make test`.
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
clean_up() { chroot_remove "$system" && chroot_remove "$packages"; }
at_exit clean_up

main() {
  local code=0 command
  clean_up
  chroot_create "$system" "$release"
  chroot_install "$system" make git ca-certificates ${compiler:+"$compiler"}
  clone "$system"
  : >"$log"
  for command in ${COMMANDS:-$([[ -n $compiler ]] && echo test || echo demo test deb)}; do
    timed "make $command" build "$command" || code=1
    [[ $command != deb ]] || timed "packages" test_packages || code=1
  done
  return "$code"
}

clone() { git clone --quiet --no-hardlinks "$root" "$1/root/kopp"; } # SYSTEM

# Runs a command, and prints a line with its result and its seconds.
timed() { # NAME COMMAND...
  local started=$SECONDS result=passed
  "${@:2}" >>"$log" 2>&1 || result=FAILED
  printf '%-20s  %-9s  %-6s  %5d s\n' "$name" "$1" "$result" $((SECONDS - started))
  [[ $result == passed ]] || { tail -n 40 "$log" >&2 && return 1; }
}

build() { # COMMAND
  chroot_run "$system" WERROR=1 ${compiler:+"CXX=${compiler/#clang/clang++}"} make -C /root/kopp "$1"
}

# lintian checks the packages. README's operator needs them, cmake and a compiler; curl, jq and procps are for the test.
test_packages() {
  local files=$system/root/kopp/build/deb/packages
  chroot_install "$system" lintian &&
    chroot_run "$system" bash -c 'lintian --fail-on error,warning --allow-root /root/kopp/build/deb/packages/*.deb' &&
    chroot_create "$packages" "$release" && cp "$files"/*.deb "$packages/root/" && clone "$packages" &&
    chroot_run "$packages" DEBIAN_FRONTEND=noninteractive bash -c \
      'apt-get install -y -qq --no-install-recommends /root/*.deb cmake g++ make curl jq procps' &&
    chroot_run "$packages" /root/kopp/tests/docs/run_page.sh /root/kopp/README.md /usr 6 "Write an operator" &&
    chroot_run "$packages" timeout --signal=INT 60 bash -c \
      'kopp-apiserver --demo -- sample-controller | sed "/create  deployments example-foo/q" | grep "create  deployments example-foo"'
}

main
