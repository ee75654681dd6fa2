// Command workqueue runs one scenario of the workqueue benchmarks with client-go. It does the same
// work and prints the same lines as workqueue_bench.cpp does for kopp.
//
//	workqueue SCENARIO [KEYS]
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/util/workqueue"
)

func makeKeys(count int) []string {
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%03d/object-name-%07d", i%100, i)
	}
	return keys
}

func printMeasure(measure string, value float64) { fmt.Printf("%s %.9g\n", measure, value) }

func perSecond(count int, start time.Time) float64 {
	return float64(count) / time.Since(start).Seconds()
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

func residentBytes() float64 {
	file, err := os.Open("/proc/self/statm")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	var total, resident float64
	if _, err := fmt.Fscan(file, &total, &resident); err != nil {
		panic(err)
	}
	return resident * float64(os.Getpagesize())
}

func plain(keys []string) {
	queue := workqueue.NewTyped[string]()
	start := time.Now()
	for _, key := range keys {
		queue.Add(key)
	}
	printMeasure("add_distinct", perSecond(len(keys), start))
	start = time.Now()
	for range keys {
		key, _ := queue.Get()
		queue.Done(key)
	}
	printMeasure("get_done", perSecond(len(keys), start))
}

func duplicate(keys []string) {
	queue := workqueue.NewTyped[string]()
	start := time.Now()
	for i := range keys {
		queue.Add(keys[i%1000])
	}
	printMeasure("add_duplicate", perSecond(len(keys), start))
}

func cycle(measure string, producers, workers int) func([]string) {
	return func(keys []string) {
		limiter := workqueue.DefaultTypedControllerRateLimiter[string]()
		queue := workqueue.NewTypedRateLimitingQueue(limiter)
		start := time.Now()
		var consumerGroup, producerGroup sync.WaitGroup
		for range workers {
			consumerGroup.Go(func() {
				for {
					key, shutdown := queue.Get()
					if shutdown {
						return
					}
					queue.Forget(key)
					queue.Done(key)
				}
			})
		}
		for chunk := range slices.Chunk(keys, len(keys)/producers) {
			producerGroup.Go(func() {
				for _, key := range chunk {
					queue.Add(key)
				}
			})
		}
		producerGroup.Wait()
		queue.ShutDown()
		consumerGroup.Wait()
		printMeasure(measure, perSecond(len(keys), start))
	}
}

func addAfter(keys []string) {
	queue := workqueue.NewTypedDelayingQueue[string]()
	start, before := time.Now(), cpuSeconds()
	for i, key := range keys {
		queue.AddAfter(key, 500*time.Millisecond+time.Duration(i%1000)*time.Millisecond)
	}
	printMeasure("add_after_insert", perSecond(len(keys), start))
	inserted := cpuSeconds()
	for range keys {
		key, _ := queue.Get()
		queue.Done(key)
	}
	printMeasure("add_after_all_out", cpuSeconds()-inserted)
	printMeasure("add_after_cpu", float64(len(keys))/(cpuSeconds()-before))
}

func limiter(keys []string) {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second)
	start := time.Now()
	for _, key := range keys {
		limiter.When(key)
	}
	printMeasure("limiter_when", perSecond(len(keys), start))
	start = time.Now()
	for _, key := range keys {
		limiter.Forget(key)
	}
	printMeasure("limiter_forget", perSecond(len(keys), start))

	for _, key := range keys {
		limiter.When(key)
	}
	order := rand.New(rand.NewPCG(1, 1)).Perm(len(keys))
	start = time.Now()
	for _, i := range order {
		limiter.Forget(keys[i])
	}
	printMeasure("limiter_forget_shuffled", perSecond(len(keys), start))
}

// latency adds timestamps in bursts to a queue with idle workers, and measures when workers receive
// them.
func latency(measure string, workers, burst int) {
	const samples = 2000
	start := time.Now()
	queue := workqueue.NewTyped[int64]() // items are nanoseconds since start
	latencies := make([][]float64, workers)
	var workerGroup sync.WaitGroup
	for i := range workers {
		workerGroup.Go(func() {
			for {
				added, shutdown := queue.Get()
				if shutdown {
					return
				}
				latencies[i] = append(latencies[i], float64(time.Since(start).Nanoseconds()-added))
				queue.Done(added)
			}
		})
	}
	for range samples {
		time.Sleep(200 * time.Microsecond)
		for range burst {
			queue.Add(time.Since(start).Nanoseconds())
		}
	}
	queue.ShutDown()
	workerGroup.Wait()
	all := slices.Concat(latencies...)
	slices.Sort(all)
	printMeasure(measure+"_p50", all[len(all)/2])
	printMeasure(measure+"_p99", all[len(all)*99/100])
}

func readyMemory(keys []string) {
	queue := workqueue.NewTyped[string]()
	before := residentBytes()
	for _, key := range keys {
		queue.Add(key)
	}
	printMeasure("memory_ready", (residentBytes()-before)/float64(len(keys)))
	runtime.KeepAlive(keys)
	runtime.KeepAlive(queue)
}

func delayedMemory(keys []string) {
	queue := workqueue.NewTypedDelayingQueue[string]()
	before := residentBytes()
	for _, key := range keys {
		queue.AddAfter(key, time.Hour)
	}
	time.Sleep(100 * time.Millisecond) // a goroutine moves the items from a channel to the heap
	printMeasure("memory_delayed", (residentBytes()-before)/float64(len(keys)))
	runtime.KeepAlive(keys)
	runtime.KeepAlive(queue)
}

func main() {
	scenarios := map[string]func([]string){
		"plain":          plain,
		"duplicate":      duplicate,
		"cycle_1p_1w":    cycle("cycle_1p_1w", 1, 1),
		"cycle_1p_4w":    cycle("cycle_1p_4w", 1, 4),
		"cycle_4p_4w":    cycle("cycle_4p_4w", 4, 4),
		"cycle_4p_16w":   cycle("cycle_4p_16w", 4, 16),
		"add_after":      addAfter,
		"limiter":        limiter,
		"wakeup":         func([]string) { latency("wakeup_latency", 1, 1) },
		"burst":          func([]string) { latency("burst_latency", 8, 4) },
		"memory_ready":   readyMemory,
		"memory_delayed": delayedMemory,
	}
	count := 1_000_000
	if len(os.Args) > 2 {
		var err error
		if count, err = strconv.Atoi(os.Args[2]); err != nil {
			panic(err)
		}
	}
	if len(os.Args) < 2 || scenarios[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: workqueue SCENARIO [KEYS]; the scenarios are the same as in workqueue_bench")
		os.Exit(2)
	}
	scenarios[os.Args[1]](makeKeys(count))
}
