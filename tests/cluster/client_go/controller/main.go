// Command controller runs a sample controller that uses client-go's informers and workqueue. At the
// same time it acts as the user: it creates and changes Foos and deletes Deployments, then checks
// that every Deployment ends with the replicas of its Foo. It retries failed calls, because the
// server may restart.
//
//	controller -kubeconfig FILE [-n 100] [-hold]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

const namespace = "default"

var (
	foos        = schema.GroupVersionResource{Group: "samplecontroller.k8s.io", Version: "v1alpha1", Resource: "foos"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type controller struct {
	client      dynamic.Interface
	foos        cache.GenericLister
	deployments cache.GenericLister
	queue       workqueue.TypedRateLimitingInterface[string]
}

func replicas(object *unstructured.Unstructured) int64 {
	count, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	return count
}

func deploymentFor(foo *unstructured.Unstructured) *unstructured.Unstructured {
	labels := map[string]any{"controller": foo.GetName()}
	deployment := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": foo.GetName(), "namespace": foo.GetNamespace()},
		"spec": map[string]any{
			"replicas": replicas(foo),
			"selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "nginx", "image": "nginx"}}},
			},
		},
	}}
	deployment.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(foo, foo.GroupVersionKind())})
	return deployment
}

func (c *controller) sync(ctx context.Context, name string) error {
	found, err := c.foos.ByNamespace(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	must(err) // a lister returns no other error
	foo := found.(*unstructured.Unstructured)
	client := c.client.Resource(deployments).Namespace(namespace)
	deployment, err := c.deployments.ByNamespace(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		_, err = client.Create(ctx, deploymentFor(foo), metav1.CreateOptions{})
	} else if replicas(deployment.(*unstructured.Unstructured)) != replicas(foo) {
		_, err = client.Update(ctx, deploymentFor(foo), metav1.UpdateOptions{})
	}
	if err != nil {
		return err
	}
	status := foo.DeepCopy()
	must(unstructured.SetNestedField(status.Object, int64(0), "status", "availableReplicas"))
	_, err = c.client.Resource(foos).Namespace(namespace).UpdateStatus(ctx, status, metav1.UpdateOptions{})
	return err
}

func (c *controller) work(ctx context.Context) {
	for {
		name, ended := c.queue.Get()
		if ended {
			return
		}
		if err := c.sync(ctx, name); err != nil {
			c.queue.AddRateLimited(name)
		} else {
			c.queue.Forget(name)
		}
		c.queue.Done(name)
	}
}

// startController waits until the informers have synced, then starts two workers.
func startController(ctx context.Context, client dynamic.Interface) *controller {
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	c := &controller{
		client:      client,
		foos:        factory.ForResource(foos).Lister(),
		deployments: factory.ForResource(deployments).Lister(),
		// No token bucket of 10 per second: after a restart, all failed items are retried at once.
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedItemBasedRateLimiter[string]()),
	}
	enqueue := func(object any) { // a Deployment has the same name as its Foo
		if key, err := cache.DeletionHandlingObjectToName(object); err == nil {
			c.queue.Add(key.Name)
		}
	}
	for _, resource := range []schema.GroupVersionResource{foos, deployments} {
		_, err := factory.ForResource(resource).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: enqueue, DeleteFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) }})
		must(err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for range 2 {
		go c.work(ctx)
	}
	return c
}

// retry repeats a call until it succeeds, because the server may be down for a moment. It prints the first error.
// AlreadyExists and NotFound count as success: an earlier attempt may have succeeded without a
// response.
func retry(description string, call func() error) {
	var err error
	if wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		first := err == nil
		err = call()
		done := err == nil || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
		if first && !done {
			fmt.Printf("retrying: %s: %v\n", description, err)
		}
		return done, nil
	}) != nil {
		must(fmt.Errorf("%s: %w", description, err))
	}
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig file")
	n := flag.Int("n", 100, "number of Foos")
	hold := flag.Bool("hold", false, "after half of the Foos, wait for SIGUSR1")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	must(err)
	config.QPS = -1
	ctx := context.Background()
	client := dynamic.NewForConfigOrDie(config)
	startController(ctx, client)
	fooClient, deploymentClient := client.Resource(foos).Namespace(namespace), client.Resource(deployments).Namespace(namespace)
	name := func(i int) string { return fmt.Sprintf("foo-%d-%d", os.Getpid(), i) }
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGUSR1)
	for i := range *n {
		if *hold && i == *n/2 {
			fmt.Println("holding")
			<-resumed
		}
		foo := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": foos.GroupVersion().String(), "kind": "Foo", "metadata": map[string]any{"name": name(i)},
			"spec": map[string]any{"deploymentName": name(i), "replicas": int64(1)}}}
		retry("create Foo "+name(i), func() error { _, err := fooClient.Create(ctx, foo, metav1.CreateOptions{}); return err })
	}
	for i := range *n {
		if i%3 == 0 {
			retry("delete Deployment "+name(i), func() error { return deploymentClient.Delete(ctx, name(i), metav1.DeleteOptions{}) })
		} else {
			retry("patch Foo "+name(i), func() error {
				_, err := fooClient.Patch(ctx, name(i), types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{})
				return err
			})
		}
	}
	for i := range *n {
		want := int64(3)
		if i%3 == 0 {
			want = 1
		}
		retry("Deployment "+name(i), func() error {
			deployment, err := deploymentClient.Get(ctx, name(i), metav1.GetOptions{})
			if err != nil {
				return fmt.Errorf("get: %v", err) // not %w: NotFound must not count as success here
			}
			if replicas(deployment) != want {
				return fmt.Errorf("expected %d replicas, found %d", want, replicas(deployment))
			}
			return nil
		})
	}
	fmt.Printf("converged: %d Deployments\n", *n)
}
