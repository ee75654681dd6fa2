// Command informer measures client-go's informers. It does the same work and prints the same lines
// as informer_bench.cpp does for kopp, with the API server of $KUBECONFIG.
//
//	informer pods|configmaps typed-json|typed-protobuf|dynamic|metadata events COUNT
//	informer pods|configmaps typed-json|typed-protobuf|dynamic|metadata reads SECONDS
package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// The same number is in informer_bench.cpp.
const readKeys = 100_000

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "informer:", err)
		os.Exit(1)
	}
}

func report(measure string, value float64) { fmt.Printf("%s %.9g\n", measure, value) }

func cpuSeconds() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// statusMiB returns a field of /proc/self/status.
func statusMiB(field string) float64 {
	file, err := os.Open("/proc/self/status")
	check(err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if words := strings.Fields(lines.Text()); words[0] == field+":" {
			kib, err := strconv.Atoi(words[1])
			check(err)
			return float64(kib) / 1024
		}
	}
	check(fmt.Errorf("/proc/self/status has no field %s", field))
	return 0
}

func heapBytes() float64 {
	debug.FreeOSMemory() // collects garbage first
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return float64(memory.HeapAlloc)
}

func newInformer(resource, form string, config *rest.Config) cache.SharedIndexInformer {
	gvr := schema.GroupVersionResource{Version: "v1", Resource: resource}
	switch form {
	case "typed-json", "typed-protobuf":
		config.ContentType = "application/json"
		if form == "typed-protobuf" {
			config.ContentType = "application/vnd.kubernetes.protobuf"
		}
		config.AcceptContentTypes = config.ContentType
		factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
		informer, err := factory.ForResource(gvr)
		check(err)
		return informer.Informer()
	case "dynamic":
		return dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(config), 0).ForResource(gvr).Informer()
	case "metadata":
		return metadatainformer.NewSharedInformerFactory(metadata.NewForConfigOrDie(config), 0).ForResource(gvr).Informer()
	}
	check(fmt.Errorf("the form %q is unknown", form))
	return nil
}

func measureSync(informer cache.SharedIndexInformer) {
	heap, wall, cpu := heapBytes(), time.Now(), cpuSeconds()
	go informer.Run(context.Background().Done())
	if !cache.WaitForCacheSync(context.Background().Done(), informer.HasSynced) {
		check(fmt.Errorf("the informer did not sync"))
	}
	cpu = cpuSeconds() - cpu
	report("sync_wall", time.Since(wall).Seconds())
	report("sync_cpu", cpu)
	report("peak_rss", statusMiB("VmHWM"))
	objects := float64(len(informer.GetStore().ListKeys()))
	report("object_cpu", cpu*1e6/objects)
	report("object_bytes", (heapBytes()-heap)/objects)
	report("settled_rss", statusMiB("VmRSS")) // the last line of the sync: informer.sh waits for it
}

func measureEvents(updates *atomic.Int64, count int64) {
	cpu := cpuSeconds()
	for updates.Load() < count {
		time.Sleep(500 * time.Millisecond)
	}
	report("event_cpu", (cpuSeconds()-cpu)*1e6/float64(count))
}

// measureReads gets random objects while the server sends events.
func measureReads(store cache.Store, updates *atomic.Int64, duration time.Duration) {
	keys := store.ListKeys()
	rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	keys = keys[:min(len(keys), readKeys)]
	var histogram [1_000_000]int64 // by nanoseconds
	var reads int64
	first, start := updates.Load(), time.Now()
	for time.Since(start) < duration {
		key := keys[reads%int64(len(keys))]
		before := time.Now()
		if _, found, _ := store.GetByKey(key); !found {
			check(fmt.Errorf("the store has lost %s", key))
		}
		histogram[min(time.Since(before).Nanoseconds(), int64(len(histogram)-1))]++
		reads++
	}
	report("events_per_second", float64(updates.Load()-first)/time.Since(start).Seconds())
	quantile := func(q float64) float64 {
		var sum int64
		for nanoseconds, count := range histogram {
			if sum += count; float64(sum) >= q*float64(reads) {
				return float64(nanoseconds)
			}
		}
		return 0
	}
	report("get_p50", quantile(0.5))
	report("get_p99", quantile(0.99))
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: informer RESOURCE FORM events|reads NUMBER")
		os.Exit(2)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	check(err)
	config.QPS = -1 // no limit
	number, err := strconv.Atoi(os.Args[4])
	check(err)
	informer := newInformer(os.Args[1], os.Args[2], config)
	var updates atomic.Int64
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { updates.Add(1) }})
	check(err)
	measureSync(informer)
	if os.Args[3] == "events" {
		measureEvents(&updates, int64(number))
	} else {
		measureReads(informer.GetStore(), &updates, time.Duration(number)*time.Second)
	}
}
