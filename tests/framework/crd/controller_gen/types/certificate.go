package types

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:validation:Enum=Never;Always
type PrivateKeyRotationPolicy string

// +kubebuilder:validation:Enum=PKCS1;PKCS8
type PrivateKeyEncoding string

// +kubebuilder:validation:Enum=RSA;ECDSA;Ed25519
type PrivateKeyAlgorithm string

// +kubebuilder:validation:Enum="signing";"digital signature";"server auth";"client auth"
type KeyUsage string

type X509Subject struct {
	// +optional
	// +listType=atomic
	Organizations []string `json:"organizations,omitempty"`
	// +optional
	// +listType=atomic
	Countries []string `json:"countries,omitempty"`
	// +optional
	SerialNumber string `json:"serialNumber,omitempty"`
}

type IssuerReference struct {
	Name string `json:"name"`
	// +optional
	Kind string `json:"kind,omitempty"`
	// +optional
	Group string `json:"group,omitempty"`
}

type CertificatePrivateKey struct {
	// +optional
	RotationPolicy PrivateKeyRotationPolicy `json:"rotationPolicy,omitempty"`
	// +optional
	Encoding PrivateKeyEncoding `json:"encoding,omitempty"`
	// +optional
	Algorithm PrivateKeyAlgorithm `json:"algorithm,omitempty"`
	// +optional
	Size int `json:"size,omitempty"`
}

type CertificateSecretTemplate struct {
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
}

type PKCS12Keystore struct {
	Create bool `json:"create"`
	// +kubebuilder:validation:Enum=LegacyRC2;LegacyDES;Modern2023
	// +optional
	Profile string `json:"profile,omitempty"`
	// +optional
	Password *string `json:"password,omitempty"`
}

type CertificateKeystores struct {
	// +optional
	PKCS12 *PKCS12Keystore `json:"pkcs12,omitempty"`
}

// +kubebuilder:validation:XValidation:rule="has(self.commonName) || has(self.dnsNames)",message="a certificate needs a name"
type CertificateSpec struct {
	// +optional
	Subject *X509Subject `json:"subject,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=64
	CommonName string `json:"commonName,omitempty"`
	// +optional
	Duration *metav1.Duration `json:"duration,omitempty"`
	// +optional
	RenewBeforePercentage *int32 `json:"renewBeforePercentage,omitempty"`
	// +optional
	// +listType=atomic
	DNSNames []string `json:"dnsNames,omitempty"`
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:items:Format=ipv4
	IPAddresses []string `json:"ipAddresses,omitempty"`
	// +kubebuilder:validation:MinLength=1
	SecretName string `json:"secretName"`
	// +optional
	SecretTemplate *CertificateSecretTemplate `json:"secretTemplate,omitempty"`
	// +optional
	Keystores *CertificateKeystores `json:"keystores,omitempty"`
	IssuerRef IssuerReference       `json:"issuerRef"`
	// +optional
	IsCA bool `json:"isCA,omitempty"`
	// +optional
	// +listType=atomic
	Usages []KeyUsage `json:"usages,omitempty"`
	// +optional
	PrivateKey *CertificatePrivateKey `json:"privateKey,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=1
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
}

type CertificateStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`
	// +optional
	Revision *int `json:"revision,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories=cert-manager,shortName=cert;certs
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=`.status.conditions[?(@.type == "Ready")].status`
// +kubebuilder:printcolumn:name="Secret",type="string",JSONPath=`.spec.secretName`
// +kubebuilder:printcolumn:name="Issuer",type="string",JSONPath=`.spec.issuerRef.name`,priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=`.metadata.creationTimestamp`,description="The age of the object."
// +kubebuilder:selectablefield:JSONPath=`.spec.secretName`
type Certificate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +optional
	Spec CertificateSpec `json:"spec,omitempty"`
	// +optional
	Status CertificateStatus `json:"status,omitempty"`
}
