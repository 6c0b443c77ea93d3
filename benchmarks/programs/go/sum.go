// Adds up i XOR (i >> 3) for the integers i from 0 up to, not including, N: sum N.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	total := 0
	for i := 0; i < n; i++ {
		total += i ^ (i >> 3)
	}
	fmt.Println(total)
}
