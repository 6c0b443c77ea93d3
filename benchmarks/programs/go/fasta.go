// Random DNA in the FASTA format, made in one buffer and written to standard output: fasta N.
package main

import (
	"os"
	"strconv"
)

const (
	IM   = 139968
	IA   = 3877
	IC   = 29573
	line = 60
	alu  = "GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGGGAGGCCGAGGCGGGCGGATCACCTGAGG" +
		"TCAGGAGTTCGAGACCAGCCTGGCCAACATGGTGAAACCCCGTCTCTACTAAAAATACAAAAATTAGCCGGG" +
		"CGTGGTGGCGCGCGCCTGTAATCCCAGCTACTCGGGAGGCTGAGGCAGGAGAATCGCTTGAACCCGGGAGGC" +
		"GGAGGTTGCAGTGAGCCGAGATCGCGCCACTGCACTCCAGCCTGGGCGACAGAGCGAGACTCCGTCTCAAAAA"
)

var iub = []float64{
	0.27, 0.12, 0.12, 0.27, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02,
}
var human = []float64{0.3029549426680, 0.1979883004921, 0.1975473066391, 0.3015094502008}

func toSums(shares []float64) []float64 {
	sums := make([]float64, len(shares))
	sum := 0.0
	for i, share := range shares {
		sum += share
		sums[i] = sum
	}
	return sums
}

func bytesOf(length int) int { return length + (length+line-1)/line }

// Each function returns the place after what it wrote.
func start(out []byte, head string, at int) int {
	return at + copy(out[at:], head)
}

func repeat(out []byte, letters string, length, at int) int {
	next := 0
	for left := length; left > 0; left -= line {
		for i := min(left, line); i > 0; i-- {
			out[at] = letters[next]
			at++
			next++
			if next == len(letters) {
				next = 0
			}
		}
		out[at] = '\n'
		at++
	}
	return at
}

var seed int32 = 42

func random(out []byte, letters string, sums []float64, length, at int) int {
	last := seed
	for left := length; left > 0; left -= line {
		for i := min(left, line); i > 0; i-- {
			last = (last*IA + IC) % IM
			r := float64(last) / IM
			pick := 0
			for r >= sums[pick] {
				pick++
			}
			out[at] = letters[pick]
			at++
		}
		out[at] = '\n'
		at++
	}
	seed = last
	return at
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	one, two, three := ">ONE Homo sapiens alu\n", ">TWO IUB ambiguity codes\n",
		">THREE Homo sapiens frequency\n"
	heads := len(one) + len(two) + len(three)
	out := make([]byte, heads+bytesOf(2*n)+bytesOf(3*n)+bytesOf(5*n))
	at := start(out, one, 0)
	at = repeat(out, alu, 2*n, at)
	at = start(out, two, at)
	at = random(out, "acgtBDHKMNRSVWY", toSums(iub), 3*n, at)
	at = start(out, three, at)
	random(out, "acgt", toSums(human), 5*n, at)
	if _, err := os.Stdout.Write(out); err != nil {
		panic(err)
	}
}
