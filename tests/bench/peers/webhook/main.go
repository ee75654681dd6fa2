// Command webhook serves a defaulting webhook for Deployments with controller-runtime. It sets two
// fields, as webhook_operator.cpp does with kopp.
//
//	webhook PORT FOLDER   FOLDER has tls.crt and tls.key
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

type defaulter struct{}

func (defaulter) Default(_ context.Context, deployment *appsv1.Deployment) error {
	limit := int32(3)
	deployment.Spec.RevisionHistoryLimit = &limit
	deployment.Spec.MinReadySeconds = 5
	return nil
}

func run(port int, folder string) error {
	log.SetLogger(logr.Discard())
	// Nothing is read from the API server.
	manager, err := ctrl.NewManager(&rest.Config{Host: "https://127.0.0.1:1"}, ctrl.Options{
		Scheme:        scheme.Scheme,
		Metrics:       server.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: folder}),
	})
	if err != nil {
		return err
	}
	if err := ctrl.NewWebhookManagedBy(manager, &appsv1.Deployment{}).WithDefaulter(defaulter{}).Complete(); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func main() {
	port, err := strconv.Atoi(os.Args[1])
	if err == nil {
		err = run(port, os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
