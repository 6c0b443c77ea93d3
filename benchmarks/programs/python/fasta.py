"""Random DNA in the FASTA format, made in one buffer and written to standard output: fasta N."""

import sys

IM = 139968
IA = 3877
IC = 29573
LINE = 60
NEWLINE = 10
ALU = (
    b"GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGGGAGGCCGAGGCGGGCGGATCACCTGAGG"
    b"TCAGGAGTTCGAGACCAGCCTGGCCAACATGGTGAAACCCCGTCTCTACTAAAAATACAAAAATTAGCCGGG"
    b"CGTGGTGGCGCGCGCCTGTAATCCCAGCTACTCGGGAGGCTGAGGCAGGAGAATCGCTTGAACCCGGGAGGC"
    b"GGAGGTTGCAGTGAGCCGAGATCGCGCCACTGCACTCCAGCCTGGGCGACAGAGCGAGACTCCGTCTCAAAAA"
)
IUB = [0.27, 0.12, 0.12, 0.27] + [0.02] * 11
HUMAN = [0.3029549426680, 0.1979883004921, 0.1975473066391, 0.3015094502008]


def to_sums(shares):
    sums = []
    total = 0.0
    for share in shares:
        total += share
        sums.append(total)
    return sums


def bytes_of(length):
    return length + (length + LINE - 1) // LINE


# Each function returns the place after what it wrote.
def start(out, head, at):
    out[at : at + len(head)] = head
    return at + len(head)


def repeat(out, letters, length, at):
    following = 0
    for left in range(length, 0, -LINE):
        for _ in range(min(left, LINE)):
            out[at] = letters[following]
            at += 1
            following = 0 if following + 1 == len(letters) else following + 1
        out[at] = NEWLINE
        at += 1
    return at


def random(out, letters, sums, length, at, seed):
    for left in range(length, 0, -LINE):
        for _ in range(min(left, LINE)):
            seed = (seed * IA + IC) % IM
            r = seed / IM
            pick = 0
            while r >= sums[pick]:
                pick += 1
            out[at] = letters[pick]
            at += 1
        out[at] = NEWLINE
        at += 1
    return at, seed


def main():
    n = int(sys.argv[1])
    one = b">ONE Homo sapiens alu\n"
    two = b">TWO IUB ambiguity codes\n"
    three = b">THREE Homo sapiens frequency\n"
    heads = len(one) + len(two) + len(three)
    out = bytearray(heads + bytes_of(2 * n) + bytes_of(3 * n) + bytes_of(5 * n))
    at = start(out, one, 0)
    at = repeat(out, ALU, 2 * n, at)
    at = start(out, two, at)
    at, seed = random(out, b"acgtBDHKMNRSVWY", to_sums(IUB), 3 * n, at, 42)
    at = start(out, three, at)
    random(out, b"acgt", to_sums(HUMAN), 5 * n, at, seed)
    sys.stdout.buffer.write(out)


main()
