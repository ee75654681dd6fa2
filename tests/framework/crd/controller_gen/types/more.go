package types

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The type of the sample controller.

type FooSpec struct {
	DeploymentName string `json:"deploymentName"`
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
}

type FooStatus struct {
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=foos
type Foo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FooSpec   `json:"spec"`
	Status            FooStatus `json:"status,omitempty"`
}

// The type of the Operator SDK's tutorial.

type MemcachedSpec struct {
	// Size is the number of Memcached instances.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5
	// +kubebuilder:validation:ExclusiveMaximum=false
	// +optional
	Size int32 `json:"size,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:ExclusiveMinimum=true
	// +kubebuilder:validation:Maximum=65536
	// +kubebuilder:validation:ExclusiveMaximum=true
	// +kubebuilder:default=11211
	ContainerPort int32 `json:"containerPort,omitempty"`
}

type MemcachedStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=memcacheds
type Memcached struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MemcachedSpec   `json:"spec"`
	Status            MemcachedStatus `json:"status,omitempty"`
}

// The type of kubebuilder's quick start.

// +kubebuilder:validation:Enum=Phone;Address;Name
type GuestbookType string

type GuestbookSpec struct {
	// Quantity of instances.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Size int32 `json:"size"`
	// Name of the ConfigMap for GuestbookSpec's configuration.
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:MinLength=1
	ConfigMapName string `json:"configMapName"`
	// +optional
	Type GuestbookType `json:"alias,omitempty"`
}

type GuestbookStatus struct {
	Active  string   `json:"active"`
	Standby []string `json:"standby,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
type Guestbook struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GuestbookSpec   `json:"spec"`
	Status            GuestbookStatus `json:"status,omitempty"`
}

// CEL rules.

// +kubebuilder:validation:XValidation:rule="self.min <= self.max",message="min must not exceed max",reason=FieldValueInvalid,fieldPath=".min"
type TenantLimits struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

type TenantSpec struct {
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="field is immutable"
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9-]*$`
	// +kubebuilder:validation:MaxLength=20
	Owner string `json:"owner"`
	// +kubebuilder:validation:XValidation:rule="self >= oldSelf",messageExpression="'seats must not shrink'"
	// +optional
	Seats  *int32       `json:"seats,omitempty"`
	Limits TenantLimits `json:"limits"`
}

// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=tn
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() < 30",message="the name is too long"
type Tenant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TenantSpec `json:"spec"`
}

// The scale subresource, int-or-string.

type WebAppSpec struct {
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Replicas int32 `json:"replicas,omitempty"`
	// +kubebuilder:default=http
	Port *intstr.IntOrString `json:"port,omitempty"`
	// +kubebuilder:validation:Format=uri
	// +optional
	URL string `json:"url,omitempty"`
}

type WebAppStatus struct {
	Replicas int32  `json:"replicas"`
	Selector string `json:"selector"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:categories=all,shortName=wa
// +kubebuilder:printcolumn:name="Replicas",type="integer",JSONPath=`.spec.replicas`,format="int32"
// +kubebuilder:deprecatedversion:warning="use v2"
type WebApp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WebAppSpec   `json:"spec"`
	Status            WebAppStatus `json:"status,omitempty"`
}

// Lists and maps.

type Listener struct {
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
	// +kubebuilder:default=TCP
	// +kubebuilder:validation:Enum=TCP;UDP
	Protocol string `json:"protocol,omitempty"`
	// +optional
	Hostname *string `json:"hostname,omitempty"`
}

// +structType=atomic
type Location struct {
	Region string `json:"region"`
	Zone   string `json:"zone"`
}

type GatewaySpec struct {
	// +listType=map
	// +listMapKey=port
	// +listMapKey=protocol
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Listeners []Listener `json:"listeners"`
	// +listType=set
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	Addresses []string `json:"addresses,omitempty"`
	// +mapType=atomic
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:MinProperties=1
	// +optional
	Selector map[string]string `json:"selector,omitempty"`
	// +optional
	Location *Location `json:"location,omitempty"`
	// +optional
	Matrix [][]int64 `json:"matrix,omitempty"`
	// +optional
	Routes map[string]Listener `json:"routes,omitempty"`
}

// +kubebuilder:object:root=true
type Gateway struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GatewaySpec `json:"spec"`
}

// Scalars and defaults.

type WidgetOptions struct {
	// +kubebuilder:default=true
	Enabled bool `json:"enabled,omitempty"`
	// +kubebuilder:default=blue
	Color string `json:"color,omitempty"`
}

type WidgetSpec struct {
	Small int32 `json:"small"`
	Big   int64 `json:"big"`
	// +kubebuilder:validation:MultipleOf=5
	Step int64 `json:"step"`
	// +kubebuilder:validation:Maximum=1
	Ratio float64 `json:"ratio"`
	On    bool    `json:"on"`
	// +kubebuilder:default={}
	Options WidgetOptions `json:"options,omitempty"`
	// +kubebuilder:default={"a","b"}
	Names []string `json:"names,omitempty"`
	// +kubebuilder:validation:Enum=1;2;4
	Factor int32 `json:"factor"`
	// +nullable
	// +optional
	Note *string `json:"note"`
	// +kubebuilder:validation:Required
	Title *string `json:"title,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:resource:singular=gadget
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec `json:"spec"`
}

// Fields without a fixed schema.

type PluginSpec struct {
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:EmbeddedResource
	Template runtime.RawExtension `json:"template"`
	// +optional
	Any *apiextensionsv1.JSON `json:"any,omitempty"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Tree runtime.RawExtension `json:"tree,omitempty"`
	// +kubebuilder:pruning:PreserveUnknownFields
	Open Location `json:"open"`
	// +optional
	Metadata metav1.ObjectMeta `json:"podMetadata,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels={"app=plugin"}
// +kubebuilder:metadata:annotations={"example.com/owner=team"}
type Plugin struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PluginSpec `json:"spec"`
}
