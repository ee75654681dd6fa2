// Command transport measures the CPU time of net/http. It does the same work and prints the same
// lines as transport_bench.cpp does for kopp.
//
//	transport FOLDER
//
// FOLDER has the address and the credentials that `transport_bench prepare` wrote.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// The same numbers are in transport_bench.cpp.
const (
	objects     = 5000
	warmUpCalls = 100  // per goroutine
	calls       = 8000 // of all goroutines
	streams     = 4
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "transport:", err)
		os.Exit(1)
	}
}

func read(folder, name string) []byte {
	bytes, err := os.ReadFile(filepath.Join(folder, name))
	check(err)
	return bytes
}

func cpuMicroseconds() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e3
}

func newClient(folder string) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(read(folder, "ca.crt"))
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots},
		MaxIdleConnsPerHost: 25, // as in client-go
		DisableCompression:  true,
	}}
}

type server struct {
	client *http.Client
	path   string
	token  string
}

func (s server) send(method, path, body string) *http.Response {
	request, err := http.NewRequest(method, s.path+path, strings.NewReader(body))
	check(err)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.token)
	if body != "" {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := s.client.Do(request)
	check(err)
	if response.StatusCode/100 != 2 {
		check(fmt.Errorf("%s %s: %s", method, path, response.Status))
	}
	return response
}

func (s server) call(method, path, body string) {
	response := s.send(method, path, body)
	_, err := io.ReadAll(response.Body)
	check(err)
	response.Body.Close()
}

func (s server) sendCalls(goroutine, count int) {
	path := fmt.Sprintf("/web-%d", goroutine)
	for i := 0; i < count; i += 2 {
		s.call("GET", path, "")
		s.call("PATCH", path, fmt.Sprintf(`{"metadata":{"annotations":{"round":"%d"}}}`, i))
	}
}

func run(goroutines int, function func(goroutine int)) {
	var running sync.WaitGroup
	for i := range goroutines {
		running.Go(func() { function(i) })
	}
	running.Wait()
}

func (s server) cpuPerCall(goroutines int) float64 {
	run(goroutines, func(i int) { s.sendCalls(i, warmUpCalls) })
	start := cpuMicroseconds()
	run(goroutines, func(i int) { s.sendCalls(i, calls/goroutines) })
	return (cpuMicroseconds() - start) / calls
}

func (s server) readStream() {
	response := s.send("GET", "?watch=true", "")
	defer response.Body.Close()
	lines := bufio.NewReaderSize(response.Body, 64<<10)
	for range objects {
		_, err := lines.ReadSlice('\n')
		check(err)
	}
}

func (s server) cpuPerEvent() float64 {
	s.readStream()
	start := cpuMicroseconds()
	for range streams {
		s.readStream()
	}
	return (cpuMicroseconds() - start) / (streams * objects)
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: transport FOLDER")
		os.Exit(2)
	}
	folder := os.Args[1]
	path := string(read(folder, "url")) + "/apis/apps/v1/namespaces/default/deployments"
	s := server{newClient(folder), path, string(read(folder, "token"))}
	fmt.Printf("call_1 %.9g\n", s.cpuPerCall(1))
	fmt.Printf("call_4 %.9g\n", s.cpuPerCall(4))
	fmt.Printf("event %.9g\n", s.cpuPerEvent())
}
