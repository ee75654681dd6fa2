# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# A cluster that is not prepared: the CRD comes after the controller, and first the wrong one.

check_missing_crd() {
  check "A controller whose CRD is not installed: exit code 1 and one line that says what to do" \
    crd_is_not_installed
  check "With a CRD that has no status subresource the Deployment is made, and the log says what is missing" \
    crd_without_status
  check "When the CRD with the status subresource is installed, the same controller writes the status" \
    crd_with_status
}

crd_is_not_installed() {
  local kubeconfig=$state/sample-controller-certificate.kubeconfig
  refuses 1 "install the CustomResourceDefinition of Foo" --kubeconfig "$kubeconfig"
  grep -qF 'foos of samplecontroller.k8s.io/v1alpha1' "$state/stderr"
}

install_crd() { # FILE
  kubectl apply -f "$manifests/$1"
  kubectl wait --for=condition=Established --timeout=20s crd/foos.samplecontroller.k8s.io
}

crd_without_status() {
  install_crd crd.yaml
  controller_start
  in_namespace missing-crd
  foo early early 2
  becomes 2 40 replicas early
  shows 'subresource' 10 controller_log
}

crd_with_status() {
  install_crd crd-status-subresource.yaml
  namespace=missing-crd
  becomes 0 60 status early
}
