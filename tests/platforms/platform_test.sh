#!/usr/bin/env bash
# Tests a system of docs/platforms.md: clones the last commit into an empty chroot, and runs `make demo` and `make test` there, with
# another compiler only `make test`. Prints a line with the result and the seconds of each. Needs root, debootstrap and network.
#   platform_test.sh RELEASE [COMPILER]    RELEASE: of Debian; COMPILER: one of its packages, such as clang-19 or g++-13
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
system=$root/build/platforms/$name
log=$root/build/platforms/$name.txt
clean_up() { chroot_remove "$system"; }
at_exit clean_up

main() {
  clean_up
  chroot_create "$system" "$release"
  chroot_install "$system" make git ca-certificates ${compiler:+"$compiler"}
  git clone --quiet --no-hardlinks "$root" "$system/root/kopp"
  : >"$log"
  local code=0 target
  local -a targets=(demo test)
  [[ -z $compiler ]] || targets=(test)
  for target in "${targets[@]}"; do
    run "$target" || code=1
  done
  return "$code"
}

run() { # TARGET
  local started=$SECONDS result=passed
  local -a variables=(WERROR=1)
  [[ -z $compiler ]] || variables+=("CXX=${compiler/#clang/clang++}")
  chroot_run "$system" "${variables[@]}" make -C /root/kopp "$1" >>"$log" 2>&1 || result=FAILED
  printf '%-20s  make %-5s %-6s  %5d s\n' "$name" "$1" "$result" $((SECONDS - started))
  [[ $result == passed ]] || { tail -n 40 "$log" >&2 && return 1; }
}

main
