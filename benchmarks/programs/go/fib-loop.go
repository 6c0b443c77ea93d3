// Adds up the n-th Fibonacci number, computed by a loop each time: fib-loop N TIMES.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func fib(n int) int {
	a, b := 0, 1
	for i := 0; i < n; i++ {
		a, b = b, a+b
	}
	return a
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	times, _ := strconv.Atoi(os.Args[2])
	total := 0
	for i := 0; i < times; i++ {
		total += fib(n)
	}
	fmt.Println(total)
}
