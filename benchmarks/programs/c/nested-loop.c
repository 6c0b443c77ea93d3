// Adds up i XOR j for all pairs below N: nested-loop N.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  int64_t n = atoll(argv[1]);
  int64_t total = 0;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) total += i ^ j;
  }
  printf("%lld\n", (long long)total);
}
