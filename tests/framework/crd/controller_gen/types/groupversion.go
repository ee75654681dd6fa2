// Package types has the Go types whose CustomResourceDefinitions kopp's are compared with.
// +groupName=example.com
// +versionName=v1
// +kubebuilder:object:generate=false
package types
