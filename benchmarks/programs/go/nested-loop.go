// Adds up i XOR j for all pairs below N: nested-loop N.
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
		for j := 0; j < n; j++ {
			total += i ^ j
		}
	}
	fmt.Println(total)
}
