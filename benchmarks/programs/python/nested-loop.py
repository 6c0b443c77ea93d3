"""Adds up i XOR j for all pairs below N: nested-loop N."""

import sys


def main():
    n = int(sys.argv[1])
    total = 0
    for i in range(n):
        for j in range(n):
            total += i ^ j
    print(total)


main()
