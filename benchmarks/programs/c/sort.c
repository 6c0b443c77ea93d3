// Sorts N random floats and prints a checksum that depends on their order: sort N.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *left, const void *right) {
  double a = *(const double *)left;
  double b = *(const double *)right;
  return (a > b) - (a < b);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  int64_t n = atoll(argv[1]);
  double *values = malloc(n * sizeof *values);
  if (values == NULL) return 1;
  int64_t seed = 42;
  for (int64_t i = 0; i < n; i++) {
    seed = seed * 48271 % 2147483647;
    values[i] = seed / 2147483647.0;
  }
  qsort(values, n, sizeof *values, compare);
  int64_t checksum = 0;
  for (int64_t i = 0; i < n; i++) checksum += (i + 1) * (int64_t)(values[i] * 1000000);
  printf("%lld\n", (long long)checksum);
}
