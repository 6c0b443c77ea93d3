"""The n-th Fibonacci number by two recursive calls: fib-recursive N."""

import sys


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


print(fib(int(sys.argv[1])))
