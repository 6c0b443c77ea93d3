// Random DNA in the FASTA format, made in one buffer and written to standard output: fasta N.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IM 139968
#define IA 3877
#define IC 29573
#define LINE 60

static const char ALU[] =
    "GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGGGAGGCCGAGGCGGGCGGATCACCTGAGG"
    "TCAGGAGTTCGAGACCAGCCTGGCCAACATGGTGAAACCCCGTCTCTACTAAAAATACAAAAATTAGCCGGG"
    "CGTGGTGGCGCGCGCCTGTAATCCCAGCTACTCGGGAGGCTGAGGCAGGAGAATCGCTTGAACCCGGGAGGC"
    "GGAGGTTGCAGTGAGCCGAGATCGCGCCACTGCACTCCAGCCTGGGCGACAGAGCGAGACTCCGTCTCAAAAA";
static double iub[] = {0.27, 0.12, 0.12, 0.27, 0.02, 0.02, 0.02, 0.02,
                       0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02};
static double human[] = {0.3029549426680, 0.1979883004921, 0.1975473066391, 0.3015094502008};

static void to_sums(double *shares, int count) {
  for (int i = 1; i < count; i++) shares[i] += shares[i - 1];
}

static int64_t bytes_of(int64_t length) {
  return length + (length + LINE - 1) / LINE;
}

static int64_t min(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// Each function returns the place after what it wrote.
static char *start(const char *head, char *at) {
  memcpy(at, head, strlen(head));
  return at + strlen(head);
}

static char *repeat(const char *letters, int64_t length, char *at) {
  size_t count = strlen(letters);
  size_t next = 0;
  for (int64_t left = length; left > 0; left -= LINE) {
    for (int64_t i = min(left, LINE); i > 0; i--) {
      *at++ = letters[next];
      next = next + 1 == count ? 0 : next + 1;
    }
    *at++ = '\n';
  }
  return at;
}

static int seed = 42;

static char *fill(const char *letters, const double *sums, int64_t length, char *at) {
  int last = seed;
  for (int64_t left = length; left > 0; left -= LINE) {
    for (int64_t i = min(left, LINE); i > 0; i--) {
      last = (last * IA + IC) % IM;
      double r = last / (double)IM;
      int pick = 0;
      while (r >= sums[pick]) pick++;
      *at++ = letters[pick];
    }
    *at++ = '\n';
  }
  seed = last;
  return at;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  int64_t n = atoll(argv[1]);
  const char *one = ">ONE Homo sapiens alu\n";
  const char *two = ">TWO IUB ambiguity codes\n";
  const char *three = ">THREE Homo sapiens frequency\n";
  char *out = malloc(strlen(one) + strlen(two) + strlen(three) + bytes_of(2 * n) +
                     bytes_of(3 * n) + bytes_of(5 * n));
  if (out == NULL) return 1;
  to_sums(iub, 15);
  to_sums(human, 4);
  char *at = start(one, out);
  at = repeat(ALU, 2 * n, at);
  at = start(two, at);
  at = fill("acgtBDHKMNRSVWY", iub, 3 * n, at);
  at = start(three, at);
  at = fill("acgt", human, 5 * n, at);
  size_t length = at - out;
  return fwrite(out, 1, length, stdout) == length ? 0 : 1;
}
