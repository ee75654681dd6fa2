// Command operator is the sample controller on controller-runtime: it creates a Deployment for each
// Foo, and writes the Foo's status after each reconcile. operator_bench.cpp has the same operator
// on kopp, and measures both. After SIGTERM it prints its counters.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const workers = 4 // as in operator_bench.cpp

var groupVersion = schema.GroupVersion{Group: "samplecontroller.k8s.io", Version: "v1alpha1"}

type FooSpec struct {
	DeploymentName string `json:"deploymentName,omitempty"`
	Replicas       *int32 `json:"replicas,omitempty"`
}

type FooStatus struct {
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`
}

type Foo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              FooSpec   `json:"spec"`
	Status            FooStatus `json:"status"`
}

type FooList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Foo `json:"items"`
}

func copyOf[T any](value *T) *T {
	if value == nil {
		return nil
	}
	copied := *value
	return &copied
}

func (f *Foo) DeepCopyObject() runtime.Object {
	return &Foo{f.TypeMeta, *f.ObjectMeta.DeepCopy(), FooSpec{f.Spec.DeploymentName, copyOf(f.Spec.Replicas)}, FooStatus{copyOf(f.Status.AvailableReplicas)}}
}

func (l *FooList) DeepCopyObject() runtime.Object {
	copied := &FooList{l.TypeMeta, *l.ListMeta.DeepCopy(), make([]Foo, len(l.Items))}
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].DeepCopyObject().(*Foo)
	}
	return copied
}

func desiredDeployment(foo *Foo) *appsv1.Deployment {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	deployment := &appsv1.Deployment{}
	deployment.Name, deployment.Namespace = foo.Spec.DeploymentName, foo.Namespace
	deployment.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(foo, groupVersion.WithKind("Foo"))}
	deployment.Spec.Replicas = foo.Spec.Replicas
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	deployment.Spec.Template.Labels = labels
	deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "nginx", Image: "nginx:latest"}}
	return deployment
}

type reconciler struct {
	client                        client.Client
	reconciles, conflicts, errors atomic.Int64
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	r.reconciles.Add(1)
	err := r.reconcile(ctx, request.NamespacedName)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		r.conflicts.Add(1)
	} else if err != nil {
		r.errors.Add(1)
	}
	return ctrl.Result{}, err
}

func (r *reconciler) reconcile(ctx context.Context, key client.ObjectKey) error {
	var foo Foo
	if err := r.client.Get(ctx, key, &foo); err != nil {
		return client.IgnoreNotFound(err)
	}
	deployment, err := r.ensureDeployment(ctx, &foo)
	if err != nil {
		return err
	}
	foo.Status.AvailableReplicas = &deployment.Status.AvailableReplicas
	return r.client.Status().Update(ctx, &foo)
}

func (r *reconciler) ensureDeployment(ctx context.Context, foo *Foo) (*appsv1.Deployment, error) {
	var existing appsv1.Deployment
	err := r.client.Get(ctx, client.ObjectKey{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}, &existing)
	if apierrors.IsNotFound(err) {
		deployment := desiredDeployment(foo)
		return deployment, r.client.Create(ctx, deployment)
	}
	if err != nil {
		return nil, err
	}
	if !metav1.IsControlledBy(&existing, foo) {
		return nil, errors.New("the Foo does not control the Deployment " + existing.Name)
	}
	if foo.Spec.Replicas == nil || *foo.Spec.Replicas == *existing.Spec.Replicas {
		return &existing, nil
	}
	deployment := desiredDeployment(foo)
	return deployment, r.client.Update(ctx, deployment)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "operator:", err)
		os.Exit(1)
	}
}

func main() {
	log.SetLogger(logr.Discard())
	types := runtime.NewScheme()
	check(scheme.AddToScheme(types))
	types.AddKnownTypes(groupVersion, &Foo{}, &FooList{})
	metav1.AddToGroupVersion(types, groupVersion)
	config := ctrl.GetConfigOrDie()
	config.QPS = -1 // no limit
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: types, Metrics: server.Options{BindAddress: "0"}})
	check(err)
	r := &reconciler{client: manager.GetClient()}
	check(ctrl.NewControllerManagedBy(manager).For(&Foo{}).Owns(&appsv1.Deployment{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).Complete(r))
	check(manager.Start(ctrl.SetupSignalHandler()))
	fmt.Printf("reconciles %d\nconflicts %d\nerrors %d\n", r.reconciles.Load(), r.conflicts.Load(), r.errors.Load())
}
