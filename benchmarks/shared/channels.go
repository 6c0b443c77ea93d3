// Channels and mutexes of Go, for the scenario `shared`: prints a sample of each figure, in nanoseconds for each operation, as
// JSON with the names of benchmarks/scenarios/shared-cases.ts.
package main

import (
	"encoding/json"
	"os"
	"sync"
	"time"
)

const (
	capacity   = 1024
	aloneBatch = 512
	values     = 512 * 1000
	locksAlone = 2000000
	locksBoth  = 2000000
)

type figure struct {
	Case    string    `json:"case"`
	Size    int       `json:"size"`
	Samples []float64 `json:"samples"`
}

func each(elapsed time.Duration, count int) []float64 {
	return []float64{float64(elapsed.Nanoseconds()) / float64(count)}
}

func check(sum, expected float64) {
	if sum != expected {
		panic("a wrong sum")
	}
}

// One goroutine sends values and then receives them.
func channelAlone() []float64 {
	numbers := make(chan float64, capacity)
	sum := 0.0
	start := time.Now()
	for done := 0; done < values; done += aloneBatch {
		for n := 0; n < aloneBatch; n++ {
			numbers <- 1.5
		}
		for n := 0; n < aloneBatch; n++ {
			sum += <-numbers
		}
	}
	elapsed := time.Since(start)
	check(sum, 1.5*values)
	return each(elapsed, values)
}

// From one goroutine to another. The clock starts when the first value is there.
func channel() []float64 {
	numbers := make(chan float64, capacity)
	go func() {
		for n := 0; n < values; n++ {
			numbers <- 1.5
		}
	}()
	sum := <-numbers
	start := time.Now()
	for n := 1; n < values; n++ {
		sum += <-numbers
	}
	elapsed := time.Since(start)
	check(sum, 1.5*values)
	return each(elapsed, values)
}

func mutex(threads, count int) []float64 {
	var lock sync.Mutex
	var ready, done sync.WaitGroup
	total := 0
	begin := make(chan struct{})
	for thread := 0; thread < threads; thread++ {
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			ready.Done()
			<-begin
			for n := 0; n < count; n++ {
				lock.Lock()
				total++
				lock.Unlock()
			}
		}()
	}
	ready.Wait()
	start := time.Now()
	close(begin)
	done.Wait()
	elapsed := time.Since(start)
	check(float64(total), float64(threads*count))
	return each(elapsed, threads*count)
}

func main() {
	figures := []figure{
		{"channel, one thread", 8, channelAlone()},
		{"channel, thread to thread", 8, channel()},
		{"mutex, lock and release", 1, mutex(1, locksAlone)},
		{"mutex, lock and release", 2, mutex(2, locksBoth)},
	}
	if err := json.NewEncoder(os.Stdout).Encode(figures); err != nil {
		panic(err)
	}
}
