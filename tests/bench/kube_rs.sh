# shellcheck shell=bash disable=SC2034,SC2154 # the sourcing script uses $kube_rs and sets the others
# Builds the programs in peers/kube-rs. Source this file; the sourcing script sets $here, $out and
# $cache.

# Sets $kube_rs to the folder of the programs, or to "" if cargo is missing or too old.
build_kube_rs() {
  kube_rs=
  if ! cargo_is_new_enough; then
    say "cargo 1.89 or newer is not installed: skipping kube-rs"
    return
  fi
  (cd "$here/peers/kube-rs" && CARGO_TARGET_DIR=$cache/kube-rs cargo build --quiet --release --locked >>"$out/build.log" 2>&1) ||
    { say "the build of kube-rs failed: see $out/build.log"; return 1; }
  kube_rs=$cache/kube-rs/release
}

# kube-rs needs a newer Rust than Debian's.
cargo_is_new_enough() {
  local version
  version=$(cargo --version 2>/dev/null | cut -d' ' -f2) || return 1
  [[ $(printf '%s\n' 1.89 "$version" | sort -V | head -n1) == 1.89 ]]
}
