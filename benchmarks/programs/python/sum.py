"""Adds up the integers from 0 up to, not including, N: sum N."""

import sys


def main():
    total = 0
    for i in range(int(sys.argv[1])):
        total += i
    print(total)


main()
