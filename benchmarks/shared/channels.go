// Channels and mutexes of Go, for `npm run bench:shared`: prints name and nanoseconds of each operation.
package main

import (
	"fmt"
	"sync"
	"time"
)

func channel(count int) float64 {
	numbers := make(chan float64, 1024)
	started := make(chan time.Time)
	done := make(chan time.Time)
	go func() {
		<-numbers
		started <- time.Now()
		for n := 1; n < count; n++ {
			<-numbers
		}
		done <- time.Now()
	}()
	go func() {
		for n := 0; n < count; n++ {
			numbers <- 1.5
		}
	}()
	start := <-started
	return float64((<-done).Sub(start).Nanoseconds()) / float64(count-1)
}

func mutex(threads, count int) float64 {
	var lock sync.Mutex
	var group sync.WaitGroup
	value := 0
	start := time.Now()
	for thread := 0; thread < threads; thread++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for n := 0; n < count; n++ {
				lock.Lock()
				value++
				lock.Unlock()
			}
		}()
	}
	group.Wait()
	return float64(time.Since(start).Nanoseconds()) / float64(threads*count)
}

func main() {
	fmt.Printf("Go: channel, a number\t%f\n", channel(1000000))
	fmt.Printf("Go: mutex, uncontended\t%f\n", mutex(1, 5000000))
	fmt.Printf("Go: mutex, two goroutines\t%f\n", mutex(2, 2000000))
}
