// error: ‘const kopp::k8s::core::v1::Container’ has no non-static data member named ‘imag’
#include <kopp/kinds.hpp>
// clang: error: field designator 'imag' does not refer to any field in type 'const
// kopp::k8s::core::v1::Container'; did you mean 'image'?

// The style of README.md: an item of a list is a variable.
const kopp::k8s::core::v1::Container nginx{.imag = "nginx:1.27", .name = "nginx"};

// the only error
