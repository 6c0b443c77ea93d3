// What goroutines and channels cost: worker-costs SAMPLES. Prints a line of samples for each figure:
// start in microseconds, memory in MiB, messages in nanoseconds.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

const (
	inFlight = 1000
	idle     = 10000
	mebibyte = 1 << 20
)

func print(name string, samples []float64) {
	fmt.Print(name)
	for _, sample := range samples {
		fmt.Printf(" %g", sample)
	}
	fmt.Println()
}

// Nanoseconds of each unit of work; the first half of the samples warms up.
func take(samples, units int, work func()) []float64 {
	taken := make([]float64, 0, samples)
	for n := 0; n < 2*samples; n++ {
		started := time.Now()
		work()
		if n >= samples {
			taken = append(taken, float64(time.Since(started).Nanoseconds())/float64(units))
		}
	}
	return taken
}

// From the go statement to the first message, one goroutine after the other.
func start() {
	ready := make(chan float64)
	for n := 0; n < inFlight; n++ {
		go func() { ready <- 0.5 }()
		<-ready
	}
}

// Stacks and heap in use by goroutines that wait.
func memory() float64 {
	var before, after runtime.MemStats
	release := make(chan struct{})
	ready := make(chan struct{})
	runtime.GC()
	runtime.ReadMemStats(&before)
	for n := 0; n < idle; n++ {
		go func() {
			ready <- struct{}{}
			<-release
		}()
		<-ready
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	close(release)
	used := after.StackInuse + after.HeapAlloc - before.StackInuse - before.HeapAlloc
	return float64(used) / idle / mebibyte
}

// Requests and answers through two channels.
func roundTrip(samples int) []float64 {
	requests := make(chan float64, inFlight)
	answers := make(chan float64, inFlight)
	go func() {
		for value := range requests {
			answers <- value
		}
	}()
	defer close(requests)
	return take(samples, inFlight, func() {
		for n := 0; n < inFlight; n++ {
			requests <- float64(n) + 0.5
		}
		for n := 0; n < inFlight; n++ {
			<-answers
		}
	})
}

// Messages of which the last is answered.
func oneWay(samples, capacity int) []float64 {
	messages := make(chan float64, capacity)
	done := make(chan struct{})
	go func() {
		for value := range messages {
			if value < 0 {
				done <- struct{}{}
			}
		}
	}()
	defer close(messages)
	return take(samples, inFlight, func() {
		for n := 0; n < inFlight; n++ {
			messages <- float64(n) + 0.5
		}
		messages <- -1
		<-done
	})
}

func main() {
	samples, _ := strconv.Atoi(os.Args[1])
	used := memory()
	starts := take(samples, inFlight, start)
	for i := range starts {
		starts[i] /= 1000
	}
	print("start", starts)
	print("memory", []float64{used})
	print("round-trip", roundTrip(samples))
	print("buffered", oneWay(samples, inFlight))
	print("unbuffered", oneWay(samples, 0))
}
