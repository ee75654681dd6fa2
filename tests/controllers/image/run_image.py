"""Runs the program of an image as a container would: user 65532, read-only root, no /proc, PID 1."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path


class Container:
    """A program in a mount namespace and a process namespace of its own, in the host's network.
    Needs root. `stop` must be called."""

    def __init__(self, tree, root, log, *command):
        shutil.copytree(tree, root, dirs_exist_ok=True)
        script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec setpriv --no-new-privs chroot ' \
                 '--userspec=65532:65532 --groups= "$0" "$@"'
        self.log = Path(log)
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, str(root), *command],
                stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]})

    def wait(self, timeout=60):
        """Blocks until the program has ended, and returns its exit code."""
        return self.process.wait(timeout)

    def terminate(self, timeout=60):
        """Sends SIGTERM to the program, as the kubelet does, and returns its exit code."""
        child = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        os.kill(int(child[0]), signal.SIGTERM)
        return self.wait(timeout)

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def eventually(condition, timeout=60):
    """Returns the first true result of `condition`, or the last one after `timeout` seconds."""
    end = time.monotonic() + timeout
    while not (result := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return result
