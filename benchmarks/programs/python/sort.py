"""Sorts N random floats and prints a checksum that depends on their order: sort N."""

import sys


def main():
    values = []
    seed = 42
    for _ in range(int(sys.argv[1])):
        seed = seed * 48271 % 2147483647
        values.append(seed / 2147483647)
    values.sort()
    checksum = 0
    for i, value in enumerate(values):
        checksum += (i + 1) * int(value * 1000000)
    print(checksum)


main()
