// The measured program in Go: a goroutine per task. Arguments and output as in program.mjs.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	requests          = 5
	stepsPerUnit      = 1000
	minUnits          = 100
	calibrationRounds = 20
)

type options struct {
	Tasks       int
	Origin      string
	Work        int
	CalibrateMs float64
}

type figures struct {
	StartMs       float64 `json:"startMs"`
	WallMs        float64 `json:"wallMs"`
	CPUMs         float64 `json:"cpuMs"`
	PeakBeforeKiB int     `json:"peakBeforeKiB"`
	PeakKiB       int     `json:"peakKiB"`
	Right         int     `json:"right"`
	Error         string  `json:"error,omitempty"`
}

type outcome struct {
	right int
	err   string
}

// compute returns its state so that the compiler keeps the loop.
func compute(units int, state uint32) uint32 {
	for step := 0; step < units*stepsPerUnit; step++ {
		state = state*1_664_525 + 1_013_904_223
	}
	return state
}

func bodyOf(client *http.Client, url string) (string, error) {
	response, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func askServer(client *http.Client, given options, task int) (found outcome) {
	state := uint32(task)
	for request := 0; request < requests; request++ {
		path := fmt.Sprintf("/%d/%d", task, request)
		body, err := bodyOf(client, given.Origin+path)
		switch {
		case err != nil:
			found.err = err.Error()
		case body != path:
			found.err = fmt.Sprintf("the response to %s was %.100s", path, body)
		default:
			found.right++
		}
		state = compute(given.Work, state)
	}
	sink.Lock()
	sink.state ^= state
	sink.Unlock()
	return found
}

// sink keeps results of computations.
var sink struct {
	sync.Mutex
	state uint32
}

var highWaterMark = regexp.MustCompile(`(?m)^VmHWM:\s*(\d+) kB`)

func peakKiB() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	kiB, _ := strconv.Atoi(string(highWaterMark.FindSubmatch(status)[1]))
	return kiB
}

func cpuMs() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}

const msPerSecond = 1000

func run(given options) figures {
	// The default keeps two idle connections per host, so most tasks would connect again each time.
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: given.Tasks}}
	outcomes := make([]outcome, given.Tasks)
	peakBefore := peakKiB()
	cpuBefore := cpuMs()
	began := time.Now()
	var all sync.WaitGroup
	for task := range outcomes {
		all.Add(1)
		go func() {
			defer all.Done()
			outcomes[task] = askServer(client, given, task)
		}()
	}
	all.Wait()
	wall := time.Since(began)
	found := figures{
		WallMs:        wall.Seconds() * msPerSecond,
		CPUMs:         cpuMs() - cpuBefore,
		PeakBeforeKiB: peakBefore,
		PeakKiB:       peakKiB(),
	}
	for _, each := range outcomes {
		found.Right += each.right
		if found.Error == "" {
			found.Error = each.err
		}
	}
	return found
}

func calibrate(ms float64) map[string]int {
	timeOf := func(units int) float64 {
		start := time.Now()
		sink.state ^= compute(units, sink.state)
		return time.Since(start).Seconds() * msPerSecond
	}
	units := minUnits
	for timeOf(units) < ms {
		units *= 2
	}
	least := math.Inf(1)
	for range calibrationRounds {
		least = min(least, timeOf(units))
	}
	return map[string]int{"work": int(math.Round(float64(units) * ms / least))}
}

func main() {
	var given options
	if err := json.Unmarshal([]byte(os.Args[1]), &given); err != nil {
		panic(err)
	}
	var found any
	if given.CalibrateMs > 0 {
		found = calibrate(given.CalibrateMs)
	} else {
		found = run(given)
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		panic(err)
	}
}
