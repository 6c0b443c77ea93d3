// Adds up the n-th numbers of Fibonacci sequences that begin with k and k + 1, for k = i AND 1023, by a loop each: fib-loop N TIMES.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func fib(k, n int) int {
	a, b := k, k+1
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
		total += fib(i&1023, n)
	}
	fmt.Println(total)
}
