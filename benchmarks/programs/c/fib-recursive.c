// The n-th Fibonacci number by two recursive calls: fib-recursive N.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int64_t fib(int64_t n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  printf("%lld\n", (long long)fib(atoll(argv[1])));
}
