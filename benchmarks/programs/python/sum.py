"""Adds up i XOR (i >> 3) for the integers i from 0 up to, not including, N: sum N."""

import sys


def main():
    total = 0
    for i in range(int(sys.argv[1])):
        total += i ^ (i >> 3)
    print(total)


main()
