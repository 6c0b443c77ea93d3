// Sorts N random floats and prints a checksum that depends on their order: sort N.
package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
)

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	values := make([]float64, n)
	seed := 42
	for i := range values {
		seed = seed * 48271 % 2147483647
		values[i] = float64(seed) / 2147483647
	}
	slices.Sort(values)
	checksum := 0
	for i, value := range values {
		checksum += (i + 1) * int(value*1000000)
	}
	fmt.Println(checksum)
}
