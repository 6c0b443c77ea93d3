"""Adds up the n-th numbers of Fibonacci sequences that begin with k and k + 1, for k = i AND 1023, by a loop each: fib-loop N TIMES."""

import sys


def fib(k, n):
    a, b = k, k + 1
    for _ in range(n):
        a, b = b, a + b
    return a


def main():
    n, times = int(sys.argv[1]), int(sys.argv[2])
    total = 0
    for i in range(times):
        total += fib(i & 1023, n)
    print(total)


main()
