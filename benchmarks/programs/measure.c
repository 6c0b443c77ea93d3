// Runs a program and measures it from outside: measure FIGURES OUTPUT PROGRAM ARGS...
// OUTPUT gets its standard output; FIGURES gets nanoseconds of wall time, microseconds of processor time
// (user and system) and KiB of peak resident memory.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static long long micros(struct timeval time) {
  return time.tv_sec * 1000000LL + time.tv_usec;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, argv[2], O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  pid_t pid;
  long long start = now();
  int error = posix_spawnp(&pid, argv[3], &actions, NULL, argv + 3, environ);
  if (error != 0) {
    fprintf(stderr, "cannot start %s: error %d\n", argv[3], error);
    return 1;
  }
  int status;
  struct rusage usage;
  // With wait4 the figures are of this child and the children that it waited for.
  if (wait4(pid, &status, 0, &usage) < 0) return 1;
  long long wall = now() - start;
  long rss = usage.ru_maxrss;
#ifdef __APPLE__
  rss /= 1024;
#endif
  FILE *figures = fopen(argv[1], "w");
  if (figures == NULL) return 1;
  fprintf(figures, "%lld %lld %ld\n", wall, micros(usage.ru_utime) + micros(usage.ru_stime), rss);
  fclose(figures);
  if (WIFSIGNALED(status)) {
    fprintf(stderr, "ended by signal %d\n", WTERMSIG(status));
    return 1;
  }
  return WEXITSTATUS(status);
}
