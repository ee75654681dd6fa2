# shellcheck shell=bash
# Systems of Debian in folders, made by debootstrap, in which commands run as root. Source this file.
# Each command has its own mounts, processes and terminals: all of them end with it, also if it is killed.

# Makes FOLDER the root of an empty system. FOLDER must not exist.
chroot_create() { # FOLDER RELEASE
  [[ ! -e $1 ]] || { echo "chroot.sh: $1 exists" >&2 && return 1; }
  mkdir -p "$(dirname "$1")"
  unshare --mount --pid --fork --kill-child --mount-proc \
    debootstrap --variant=minbase "$2" "$1" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$1.log" 2>&1 ||
    { cat "$1.log" >&2 && return 1; }
  cp /etc/resolv.conf "$1/etc/"
  printf '127.0.0.1 localhost\n::1 localhost\n' >"$1/etc/hosts"
  local file
  for file in /etc/apt/apt.conf.d/*proxy*; do
    [[ ! -e $file ]] || cp "$file" "$1/etc/apt/apt.conf.d/"
  done
  mkdir -p "$1/dev/pts" "$1/dev/shm"
  ln -sf pts/ptmx "$1/dev/ptmx"
  chroot_run "$1" apt-get update -qq
}

# Runs a command in the system. VARIABLE=VALUE before it sets a variable of its environment, which is empty otherwise.
chroot_run() { # FOLDER [VARIABLE=VALUE...] COMMAND...
  # shellcheck disable=SC2016 # the inner shell expands them
  unshare --mount --pid --fork --kill-child --mount-proc="$1/proc" bash -c '
    mount -t devpts -o newinstance,ptmxmode=666 devpts "$0/dev/pts" && mount -t tmpfs tmpfs "$0/dev/shm" &&
    exec chroot "$0" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"' "$@"
}

chroot_install() { # FOLDER PACKAGE...
  chroot_run "$1" DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${@:2}" >/dev/null
}

chroot_remove() { rm -rf --one-file-system "$1" "$1.log"; } # FOLDER
