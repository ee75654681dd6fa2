// Command typed uses client-go's typed clientset with protobuf, as controllers of built-in kinds do:
// it creates, updates, lists, watches and deletes objects, and runs a leader election. It fails if a
// response is not protobuf.
//
//	typed -kubeconfig FILE
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
)

const protobuf = "application/vnd.kubernetes.protobuf"

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func require(condition bool, format string, arguments ...any) {
	if !condition {
		must(fmt.Errorf(format, arguments...))
	}
}

// protobufOnly fails if a response is not protobuf.
type protobufOnly struct{ next http.RoundTripper }

func (p protobufOnly) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := p.next.RoundTrip(request)
	if err == nil {
		contentType := response.Header.Get("Content-Type")
		require(strings.HasPrefix(contentType, protobuf), "%s %s: the response is %q", request.Method, request.URL.Path, contentType)
	}
	return response, err
}

func deployment() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](0),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
			},
		},
	}
}

func nextEvent(events <-chan watch.Event, want watch.EventType) *corev1.ConfigMap {
	select {
	case event := <-events:
		require(event.Type == want, "the watch sent %s, not %s", event.Type, want)
		return event.Object.(*corev1.ConfigMap)
	case <-time.After(10 * time.Second):
		must(fmt.Errorf("the watch sent no %s", want))
		return nil
	}
}

func useConfigMaps(ctx context.Context, client kubernetes.Interface, namespace string) {
	configMaps := client.CoreV1().ConfigMaps(namespace)
	watcher, err := configMaps.Watch(ctx, metav1.ListOptions{})
	must(err)
	created, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, BinaryData: map[string][]byte{"b": {0, 255}}}, metav1.CreateOptions{})
	must(err)
	require(created.UID != "" && !created.CreationTimestamp.IsZero(), "the created object has no metadata: %v", created)
	require(nextEvent(watcher.ResultChan(), watch.Added).UID == created.UID, "the watch sent another object")
	stale := created.DeepCopy()
	created.Data = map[string]string{"k": "v"}
	_, err = configMaps.Update(ctx, created, metav1.UpdateOptions{})
	must(err)
	require(nextEvent(watcher.ResultChan(), watch.Modified).Data["k"] == "v", "the watch sent other data")
	_, err = configMaps.Update(ctx, stale, metav1.UpdateOptions{})
	require(apierrors.IsConflict(err), "a stale update: %v", err)
	list, err := configMaps.List(ctx, metav1.ListOptions{Limit: 500})
	must(err)
	require(len(list.Items) == 1 && string(list.Items[0].BinaryData["b"]) == "\x00\xff", "the list is %v", list)
	must(configMaps.Delete(ctx, "a", *metav1.NewDeleteOptions(0)))
	nextEvent(watcher.ResultChan(), watch.Deleted)
	_, err = configMaps.Get(ctx, "a", metav1.GetOptions{})
	require(apierrors.IsNotFound(err), "get of a deleted object: %v", err)
}

func useOtherKinds(ctx context.Context, client kubernetes.Interface, namespace string) {
	deployments := client.AppsV1().Deployments(namespace)
	created, err := deployments.Create(ctx, deployment(), metav1.CreateOptions{})
	must(err)
	require(*created.Spec.Replicas == 0, "the Deployment has %d replicas", *created.Spec.Replicas)
	require(created.Spec.Strategy.RollingUpdate.MaxSurge.StrVal == "25%", "the Deployment has no defaults: %v", created.Spec.Strategy)
	created.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, LastUpdateTime: metav1.Now()}}
	_, err = deployments.UpdateStatus(ctx, created, metav1.UpdateOptions{})
	must(err)
	scale, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
	must(err)
	scale.Spec.Replicas = 3
	_, err = deployments.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{})
	must(err)
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}}
	_, err = client.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{})
	must(err)
}

func electLeader(ctx context.Context, client kubernetes.Interface, namespace string) {
	ctx, cancel := context.WithCancel(ctx)
	leads := false
	lock := &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Name: "lock", Namespace: namespace}, Client: client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: "me"}}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, ReleaseOnCancel: true, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 100 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { leads = true; time.Sleep(500 * time.Millisecond); cancel() },
			OnStoppedLeading: func() {},
		}})
	require(leads, "nobody became the leader")
	lease, err := client.CoordinationV1().Leases(namespace).Get(context.Background(), "lock", metav1.GetOptions{})
	must(err)
	require(ptr.Deref(lease.Spec.HolderIdentity, "") == "" && lease.Spec.RenewTime.Nanosecond() != 0, "the released Lease is %v", lease.Spec)
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig file")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	must(err)
	config.ContentType = protobuf
	config.AcceptContentTypes = protobuf + ",application/json"
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return protobufOnly{next} })
	client := kubernetes.NewForConfigOrDie(config)
	ctx := context.Background()
	namespace := fmt.Sprintf("typed-%d", os.Getpid())
	_, err = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	must(err)
	useConfigMaps(ctx, client, namespace)
	useOtherKinds(ctx, client, namespace)
	electLeader(ctx, client, namespace)
	fmt.Println("all responses were protobuf")
}
