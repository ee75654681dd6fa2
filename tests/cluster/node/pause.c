// Waits for SIGTERM or SIGINT: the sandbox of each Pod, and the program of the Pods of Foos.
#include <signal.h>

int main(void) {
  sigset_t signals;
  int received;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, 0);
  return sigwait(&signals, &received);
}
