// Adds up the n-th Fibonacci number, computed by a loop each time: fib-loop N TIMES.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int64_t fib(int64_t n) {
  int64_t a = 0;
  int64_t b = 1;
  for (int64_t i = 0; i < n; i++) {
    int64_t next = a + b;
    a = b;
    b = next;
  }
  return a;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int64_t n = atoll(argv[1]);
  int64_t times = atoll(argv[2]);
  int64_t total = 0;
  for (int64_t i = 0; i < times; i++) total += fib(n);
  printf("%lld\n", (long long)total);
}
