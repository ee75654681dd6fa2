#!/usr/bin/env bash
# Generates ../expected from the Go types with the pinned controller-gen. Run it after a change of
# types/ or of go.mod; the tests need only its output.
#   KOPP_CACHE   the folder for the files of Go (default: $XDG_CACHE_HOME/kopp, usually ~/.cache/kopp)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${KOPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kopp}
# shellcheck source=tests/go.sh
source "$here/../../../go.sh"

go_is_new_enough || install_go
use_go_cache_folder
cd "$here"
rm -rf ../expected
go tool controller-gen crd:allowDangerousTypes=true paths=./types/... output:crd:dir=../expected
