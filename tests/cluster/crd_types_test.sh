#!/usr/bin/env bash
# Generates C++ structs with `kopp gen types` for all CustomResourceDefinitions of cert-manager, Gateway API, the
# Prometheus operator and Argo CD, compiles them, and round-trips the examples of these projects.
#   crd_types_test.sh [PROJECT...]
#   KOPP     the program kopp (default: the build of preset default)
#   BUILD    the build folder with kopp's libraries (default: build/default)
# Writes the structs to the folder BUILD/crd_types, and removes it at the end.
# The manifests come from the Go modules in crd_types/modules and stay in the cache folder of programs.sh.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${KOPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kopp}
BUILD=${BUILD:-$root/build/default}
KOPP=${KOPP:-$BUILD/framework/command/kopp}
# shellcheck source=tests/at_exit.sh
source "$here/../at_exit.sh"
# shellcheck source=tests/go.sh
source "$here/../go.sh"
# shellcheck source-path=SCRIPTDIR source=check.sh
source "$here/check.sh"

modules() { grep -v '^#' "$here/crd_types/modules"; }

# Copies the manifests of the modules to the cache folder. Sets $manifests.
prepare_manifests() {
  manifests=$cache/crds-$(modules | cut -d' ' -f1-5 | sha256sum | cut -c1-12)
  [[ ! -d $manifests ]] || return 0
  mkdir -p "$cache"
  download_while_locked 9>"$cache/cluster.lock" # the lock of programs.sh, which removes Go's caches
}

download_while_locked() {
  local unfinished name module checksum crds examples
  flock 9
  [[ ! -d $manifests ]] || return 0
  say "Downloading the CustomResourceDefinitions of $(modules | wc -l) projects: only the first time."
  go_is_new_enough || install_go
  use_go_cache_folder
  rm -rf "$cache"/unfinished-*
  unfinished=$(mktemp -d "$cache/unfinished-XXXXXX")
  while read -r name module checksum crds examples _; do
    download "$unfinished/$name" "$module" "$checksum" "$crds" "$examples" </dev/null
  done < <(modules)
  chmod 755 "$unfinished"
  mv "$unfinished" "$manifests"
  rm -rf "$cache/go"
}

download() { # FOLDER MODULE CHECKSUM CRDS EXAMPLES
  local described source example
  described=$(cd / && go mod download -json "$2")
  [[ $(jq -r .Sum <<<"$described") == "$3" ]] || { say "$2 does not have the checksum $3" && return 1; }
  source=$(jq -r .Dir <<<"$described")
  mkdir -p "$1/crds" "$1/examples"
  cp "$source/$4"/*.yaml "$1/crds"
  rm -f "$1/crds/kustomization.yaml"
  for example in ${5//,/ }; do
    (cd "$source" && find "$example" -name '*.yaml' -size -100k -exec cp --parents -t "$1/examples" {} +)
  done
}

compiler_flags() {
  printf -- '-std=c++20\n-Wall\n-Wextra\n-Werror\n-Wno-maybe-uninitialized\n'
  printf -- '-I%s\n' "$folder" "$root"/{workqueue,informer,informer/k8s,framework/*}/include "$root"/framework/*/internal
}

generate() { # PROJECT
  "$KOPP" gen types "$manifests/$1"/crds/*.yaml --output "$folder/$1" >/dev/null
}

# Writes registrations.inc of a project: its headers, and one line for each kind.
write_registrations() { # PROJECT
  local header
  while read -r header; do
    printf '#include "%s"\n' "$header"
    awk -v header="$header" '
      /^namespace / { space = $2 }
      /^struct / { name = $2 }
      / kKind[{]/ { gsub(/[^A-Za-z0-9]/, "_", header); printf "const Registered<%s::%s> %s;\n", space, name, header }' "$folder/$1/$header"
  done < <(cd "$folder/$1" && find . -name '*.hpp' -printf '%P\n' | sort)
}

# Runs a compiler, through ccache if it is installed: equal structs in another clone are not compiled again.
run_compiler() { # COMPILER ARGUMENT...
  local -a launcher=()
  ! command -v ccache >/dev/null || launcher=(env "CCACHE_BASEDIR=$root" CCACHE_NOHASHDIR=1 ccache)
  (cd "$folder" && "${launcher[@]}" "$@")
}

compile() { # PROJECT
  local -a flags
  mapfile -t flags < <(compiler_flags)
  write_registrations "$1" >"$folder/$1/registrations.inc"
  run_compiler "${CXX:-c++}" "${flags[@]}" "-I$folder/$1" -c "$here/crd_types/round_trip.cpp" -o "$folder/$1/round_trip.o"
}

compile_with_clang() { # PROJECT
  local -a flags
  mapfile -t flags < <(compiler_flags | grep -v maybe-uninitialized)
  run_compiler clang++-16 "${flags[@]}" "-I$folder/$1" -c "$here/crd_types/round_trip.cpp" -o "$folder/$1/clang.o"
}

round_trip() { # PROJECT
  local -a examples
  local least
  least=$(modules | awk -v project="$1" '$1 == project { print $6 }')
  "${CXX:-c++}" "$folder/$1/round_trip.o" -Wl,--start-group "$BUILD"/framework/*/libkopp_*.a -Wl,--end-group "$BUILD/informer/k8s/libkopp_k8s.a" \
    "$BUILD/informer/libkopp_informer.a" \
    -lyaml-cpp -lsimdjson -lssl -lcrypto -lprometheus-cpp-core -lre2 -lpthread -o "$folder/$1/round_trip"
  mapfile -t examples < <(find "$manifests/$1/examples" "$here/crd_types/examples" -name '*.yaml' | grep -Ev -f <(grep -v '^#' "$here/crd_types/not_valid"))
  "$folder/$1/round_trip" "$least" "${examples[@]}"
}

clean_up() {
  kill_check
  rm -rf "$folder"
}

main() {
  local project
  local -a projects=("$@")
  ((${#projects[@]})) || mapfile -t projects < <(modules | awk '{print $1}')
  folder=$(realpath "$BUILD")/crd_types # a fixed name, for ccache
  exec 8>"$folder.lock"
  flock 8 # two runs at the same time use the folder in turn
  rm -rf "$folder"
  mkdir "$folder"
  check_output=$folder/check_output
  at_exit clean_up
  prepare_manifests
  for project in "${projects[@]}"; do
    check "kopp gen types writes structs for all CustomResourceDefinitions of $project" generate "$project"
    check "The structs of $project compile without warnings" compile "$project"
    if command -v clang++-16 >/dev/null; then
      check "The structs of $project compile with clang" compile_with_clang "$project"
    fi
    check "The examples of $project are equal after a round trip through the structs" round_trip "$project"
  done
  print_summary
}

main "$@"
