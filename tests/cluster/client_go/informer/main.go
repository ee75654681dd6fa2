// Command informer creates, changes and deletes ConfigMaps while one of client-go's informers
// watches them, then checks that the informer's store equals the server's list.
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

func newInformer(mode string, config *rest.Config) cache.SharedIndexInformer {
	switch mode {
	case "typed": // requests protobuf, like controllers of built-in kinds, and accepts JSON
		config = rest.CopyConfig(config)
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
		return informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0).Core().V1().ConfigMaps().Informer()
	case "dynamic":
		return dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(config), 0).ForResource(configMaps).Informer()
	case "metadata":
		return metadatainformer.NewSharedInformerFactory(metadata.NewForConfigOrDie(config), 0).ForResource(configMaps).Informer()
	}
	must(fmt.Errorf("-mode %q is invalid: use typed, dynamic or metadata", mode))
	return nil
}

// versions maps the name of each object in the namespace to its resourceVersion.
type versions map[string]string

func storedVersions(informer cache.SharedIndexInformer, namespace string) versions {
	result := versions{}
	for _, object := range informer.GetStore().List() {
		if meta := object.(metav1.Object); meta.GetNamespace() == namespace {
			result[meta.GetName()] = meta.GetResourceVersion()
		}
	}
	return result
}

func listedVersions(ctx context.Context, client dynamic.ResourceInterface) versions {
	list, err := client.List(ctx, metav1.ListOptions{})
	must(err)
	result := versions{}
	for _, object := range list.Items {
		result[object.GetName()] = object.GetResourceVersion()
	}
	return result
}

// waitUntilEqual fails if the informer's store does not equal the server's list within 10 seconds.
func waitUntilEqual(ctx context.Context, when string, informer cache.SharedIndexInformer, namespace string, client dynamic.ResourceInterface) {
	want := listedVersions(ctx, client)
	if wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		return maps.Equal(storedVersions(informer, namespace), want), nil
	}) != nil {
		must(fmt.Errorf("%s: the store differs from the server's list: %d and %d objects", when, len(storedVersions(informer, namespace)), len(want)))
	}
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig file")
	mode := flag.String("mode", "typed", "typed, dynamic or metadata")
	n := flag.Int("n", 300, "number of objects")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	must(err)
	config.QPS = -1
	ctx := context.Background()
	namespace := fmt.Sprintf("informer-%d", os.Getpid())
	dynamicClient := dynamic.NewForConfigOrDie(config)
	object := func(kind, name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}}}
	}
	_, err = dynamicClient.Resource(configMaps.GroupVersion().WithResource("namespaces")).Create(ctx, object("Namespace", namespace), metav1.CreateOptions{})
	must(err)
	client := dynamicClient.Resource(configMaps).Namespace(namespace)
	name := func(i int) string { return fmt.Sprintf("c-%d", i) }
	for i := range *n {
		_, err = client.Create(ctx, object("ConfigMap", name(i)), metav1.CreateOptions{})
		must(err)
	}

	informer := newInformer(*mode, config)
	go informer.Run(ctx.Done())
	if !cache.WaitForCacheSync(wait.NeverStop, informer.HasSynced) {
		must(fmt.Errorf("the informer did not sync"))
	}
	waitUntilEqual(ctx, "after the sync", informer, namespace, client)

	for i := range *n {
		_, err = client.Patch(ctx, name(i), types.MergePatchType, []byte(`{"data":{"changed":"yes"}}`), metav1.PatchOptions{})
		must(err)
		if i%2 == 0 {
			must(client.Delete(ctx, name(i), metav1.DeleteOptions{}))
		}
	}
	waitUntilEqual(ctx, "after the changes", informer, namespace, client)
	fmt.Printf("converged: %d objects\n", len(storedVersions(informer, namespace)))
}
