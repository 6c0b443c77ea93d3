// Adds up the n-th numbers of Fibonacci sequences that begin with k and k + 1, for k = i AND 1023, by a loop each: fib-loop N TIMES.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int64_t fib(int64_t k, int64_t n) {
  int64_t a = k;
  int64_t b = k + 1;
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
  for (int64_t i = 0; i < times; i++) total += fib(i & 1023, n);
  printf("%lld\n", (long long)total);
}
