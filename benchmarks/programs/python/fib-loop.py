"""Adds up the n-th Fibonacci number, computed by a loop each time: fib-loop N TIMES."""

import sys


def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def main():
    n, times = int(sys.argv[1]), int(sys.argv[2])
    total = 0
    for _ in range(times):
        total += fib(n)
    print(total)


main()
