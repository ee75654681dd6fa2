#pragma once

#include "api/resource.hpp"

#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

// The kind and apiVersion of an object in a request body. Each function throws StatusError, with
// the same message as kube-apiserver, if they are not those of the resource.

namespace kopp::apiserver {

/// How an error quotes the body: kube-apiserver has hexadecimal digits for a body that is not an
/// object.
enum class Quoting { kText, kHex };

/// Thrown for a body that is not recognized as an object. DecodeObject() quotes the body in the
/// error.
class UnrecognizedBody : public std::runtime_error {
 public:
  explicit UnrecognizedBody(const std::string& reason, Quoting quoting = Quoting::kText)
      : std::runtime_error(reason), quoting_(quoting) {}
  [[nodiscard]] Quoting quoting() const { return quoting_; }

 private:
  Quoting quoting_;
};

/// The start of messages about a body that is not JSON, or whose type cannot be read.
constexpr const char* kJsonErrorPrefix = "couldn't get version/kind; json parse error: ";

/// The kind and apiVersion of an object.
struct TypeMeta {
  std::string kind{};
  std::string api_version{};
};

/// Returns the kind and apiVersion of the object in a body. For a built-in resource, requires that
/// each is absent or that of the resource. For a custom resource, requires a kind, which
/// CheckDecodedType() checks, and the apiVersion of the resource. Also throws UnrecognizedBody.
[[nodiscard]] TypeMeta ReadTypeMeta(const nlohmann::json& object, const Resource& resource,
                                    const std::string& body);

/// Requires the kind and apiVersion of the custom resource in an object with the name `name`, in a
/// body or after a patch.
void CheckDecodedType(const TypeMeta& type, const Resource& resource, const std::string& name);

/// Requires that a patch of a built-in kind keeps kind and apiVersion. For a custom resource,
/// requires only that the kind is not empty; CheckDecodedType() checks its value. `text` is the
/// JSON of `object`, which errors quote.
void CheckPatchedType(const TypeMeta& type, const nlohmann::json& object, const std::string& text,
                      const Resource& resource);

}  // namespace kopp::apiserver
