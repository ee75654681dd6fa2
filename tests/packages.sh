#!/usr/bin/env bash
# Installs the packages that the targets of make need, on Debian 12, Ubuntu 24.04 and newer releases of both.
#   packages.sh install GROUP...    install those packages of the groups that are missing; wait for another make that does so
#   packages.sh names GROUP...      print the packages of the groups
#   packages.sh clang               print the version of clang for make fuzz and make tidy
#   PACKAGES=installed    install nothing, on any system: you have installed everything in another way
#   CLANG_VERSION         the version of clang, instead of that of the system
#   CLANG_FORMAT          a clang-format 16, instead of that of the system
#   OS_RELEASE            the file that describes the system (default: /etc/os-release)
set -euo pipefail
shopt -s inherit_errexit

main() { # COMMAND [GROUP...]
  local id='' release='' system="a system without ${OS_RELEASE:=/etc/os-release}"
  [[ ! -r $OS_RELEASE ]] || read_system
  case $1 in
    install) shift && install_missing "$@" ;;
    names) shift && names_of "$@" | paste -sd ' ' - ;;
    clang) clang_version ;;
    *) fail "packages.sh: there is no command '$1'" ;;
  esac
}

# Sets $id, $release and $system. The unstable release of Debian has no number.
read_system() {
  # shellcheck disable=SC1090 # assignments in the syntax of the shell
  { read -r id && read -r release && read -r system; } < <(
    source "$OS_RELEASE"
    printf '%s\n' "${ID:-unknown}" "${VERSION_ID:-9999}" "${PRETTY_NAME:-${NAME:-${ID:-an unknown system}}}"
  )
}

is_supported() {
  case $id in
    debian) is_at_least 12 ;;
    ubuntu) is_at_least 24.04 ;;
    *) return 1 ;;
  esac
}

is_at_least() { [[ $(printf '%s\n' "$1" "$release" | sort -V | head -n 1) == "$1" ]]; } # RELEASE

# Newer releases have no package of clang 16.
has_clang_16() { [[ "$id $release" == 'debian 12' || "$id $release" == 'ubuntu 24.04' ]]; }

clang_version() { if has_clang_16; then echo "${CLANG_VERSION:-16}"; else echo "${CLANG_VERSION:-19}"; fi; }

# Go, which builds etcd, kube-apiserver, kubectl and client-go, is in no group: tests/go.sh installs it if it is missing.
names_of() { # GROUP...
  local group
  for group; do
    case $group in
      library)
        echo build-essential cmake ninja-build libboost-dev libcli11-dev libcpprest-dev libfmt-dev libprotobuf-dev libre2-dev
        echo libsimdjson-dev libssl-dev libyaml-cpp-dev nlohmann-json3-dev prometheus-cpp-dev
        ;;
      build) names_of library && echo ccache curl jq libgmock-dev libgtest-dev librapidcheck-dev mold patch pkgconf python3 ;;
      deb) names_of library && echo dpkg-dev file gzip help2man ;;
      demo) echo curl jq ;;
      cluster) echo ca-certificates curl jq openssl python3 util-linux ;;
      node) names_of cluster && echo build-essential containerd containernetworking-plugins iproute2 runc ;;
      image) names_of library | sed 's/ libcpprest-dev//' && echo python3 ;;
      fuzz) echo "clang-$(clang_version)" "libclang-rt-$(clang_version)-dev" ;;
      tidy) echo "clang-$(clang_version)" "clang-tidy-$(clang_version)" ;;
      format) [[ -n ${CLANG_FORMAT:-} ]] || echo clang-format-16 && echo shellcheck ;;
      docs) echo doxygen graphviz ;;
      venv) echo python3-venv ;;
      platforms) echo debootstrap git util-linux ;;
      *) fail "packages.sh: there is no group '$group'" ;;
    esac
  done
}

install_missing() { # GROUP...
  local names name command
  local -a missing=() as_root=()
  names=$(names_of "$@" | paste -sd ' ' -)
  if [[ " $* " == *' format '* ]]; then check_clang_format; fi
  [[ ${PACKAGES:-} != installed ]] || return 0
  is_supported || fail "make installs packages on Debian 12, Ubuntu 24.04 and newer releases of both, but this is $system." \
    "Install these packages, whose names are those of Debian; docs/platforms.md has other names of the libraries:" "  $names" \
    "Then run make with PACKAGES=installed."
  for name in $names; do
    [[ $(dpkg-query -W -f='${Status}' "$name" 2>/dev/null || true) == *'ok installed'* ]] || missing+=("$name")
  done
  ((${#missing[@]} > 0)) || return 0
  command="apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || fail "These packages are missing, and you are neither root nor have sudo. Run as root:" "  $command"
    as_root=(sudo)
  fi
  echo "installing: ${missing[*]}"
  # shellcheck disable=SC2016 # the inner shell expands $@
  "${as_root[@]}" flock /run/lock/kopp-packages sh -c \
    'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends "$@"' sh "${missing[@]}" ||
    fail "These packages are missing, and could not be installed. Run as root:" "  $command"
}

check_clang_format() {
  if [[ -n ${CLANG_FORMAT:-} ]]; then
    [[ $("$CLANG_FORMAT" --version) == *' version 16.'* ]] || fail "$CLANG_FORMAT is not clang-format 16. Other versions format otherwise."
  elif is_supported && ! has_clang_16; then
    fail "The sources are formatted by clang-format 16, because other versions format otherwise. $system has no package of it." \
      "Run this on Debian 12 or Ubuntu 24.04. Or install version 16, for example clang-format==16.0.6 of PyPI, and run this" \
      "with CLANG_FORMAT=FILE."
  fi
}

fail() { # LINE...
  printf '%s\n' "$@" >&2
  exit 1
}

main "$@"
