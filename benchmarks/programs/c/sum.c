// Adds up i XOR (i >> 3) for the integers i from 0 up to, not including, N: sum N.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  int64_t n = atoll(argv[1]);
  int64_t total = 0;
  for (int64_t i = 0; i < n; i++) total += i ^ (i >> 3);
  printf("%lld\n", (long long)total);
}
