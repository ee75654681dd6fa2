// Command informer follows ConfigMaps by one of client-go's informers while they are made, changed and
// deleted, and says whether its store ends as the server's list is.
//
//	informer -kubeconfig FILE -mode typed|dynamic|metadata [-n 300]
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
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

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func informerOf(mode string, config *rest.Config) cache.SharedIndexInformer {
	switch mode {
	case "typed": // asks for protobuf, as controllers of built-in kinds do, and takes JSON
		config = rest.CopyConfig(config)
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
		return informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0).Core().V1().ConfigMaps().Informer()
	case "dynamic":
		return dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(config), 0).ForResource(configMaps).Informer()
	case "metadata":
		return metadatainformer.NewSharedInformerFactory(metadata.NewForConfigOrDie(config), 0).ForResource(configMaps).Informer()
	}
	must(fmt.Errorf("-mode %q: write typed, dynamic or metadata", mode))
	return nil
}

// What is known of the namespace: the version of each object, by name.
type state map[string]string

func stored(informer cache.SharedIndexInformer, namespace string) state {
	known := state{}
	for _, object := range informer.GetStore().List() {
		if meta := object.(metav1.Object); meta.GetNamespace() == namespace {
			known[meta.GetName()] = meta.GetResourceVersion()
		}
	}
	return known
}

func listed(ctx context.Context, client dynamic.ResourceInterface) state {
	list, err := client.List(ctx, metav1.ListOptions{})
	must(err)
	known := state{}
	for _, object := range list.Items {
		known[object.GetName()] = object.GetResourceVersion()
	}
	return known
}

func converge(ctx context.Context, when string, informer cache.SharedIndexInformer, namespace string, client dynamic.ResourceInterface) {
	want := listed(ctx, client)
	if wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		return maps.Equal(stored(informer, namespace), want), nil
	}) != nil {
		must(fmt.Errorf("%s: the store has %d objects and the server %d, or other versions of them", when, len(stored(informer, namespace)), len(want)))
	}
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how the server is reached")
	mode := flag.String("mode", "typed", "typed, dynamic or metadata")
	n := flag.Int("n", 300, "how many objects")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	must(err)
	config.QPS = -1
	ctx := context.Background()
	namespace := fmt.Sprintf("informer-%d", os.Getpid())
	all := dynamic.NewForConfigOrDie(config)
	object := func(kind, name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}}}
	}
	_, err = all.Resource(configMaps.GroupVersion().WithResource("namespaces")).Create(ctx, object("Namespace", namespace), metav1.CreateOptions{})
	must(err)
	client := all.Resource(configMaps).Namespace(namespace)
	name := func(i int) string { return fmt.Sprintf("c-%d", i) }
	for i := range *n {
		_, err = client.Create(ctx, object("ConfigMap", name(i)), metav1.CreateOptions{})
		must(err)
	}

	informer := informerOf(*mode, config)
	go informer.Run(ctx.Done())
	if !cache.WaitForCacheSync(wait.NeverStop, informer.HasSynced) {
		must(fmt.Errorf("no sync"))
	}
	converge(ctx, "after the sync", informer, namespace, client)

	for i := range *n {
		_, err = client.Patch(ctx, name(i), types.MergePatchType, []byte(`{"data":{"changed":"yes"}}`), metav1.PatchOptions{})
		must(err)
		if i%2 == 0 {
			must(client.Delete(ctx, name(i), metav1.DeleteOptions{}))
		}
	}
	converge(ctx, "after the changes", informer, namespace, client)
	fmt.Printf("in line: %d objects\n", len(stored(informer, namespace)))
}
