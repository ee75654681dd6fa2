#pragma once

#include <memory>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

// RAII wrappers for OpenSSL types.
namespace kopp::detail {

/// A deleter for std::unique_ptr that calls the OpenSSL function `kFree`.
template <auto kFree>
struct OpenSslDeleter {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Bio = std::unique_ptr<BIO, OpenSslDeleter<&BIO_free_all>>;
using Certificate = std::unique_ptr<X509, OpenSslDeleter<&X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, OpenSslDeleter<&EVP_PKEY_free>>;

/// Returns a BIO that reads `bytes`, which must outlive it.
inline Bio MemoryBio(std::string_view bytes) {
  return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

/// A PEM passphrase callback that never supplies a passphrase. The default callback of OpenSSL
/// would prompt on the terminal. `was_asked` is null or points to a bool that the callback sets to
/// true.
inline int RejectPassphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* was_asked) {
  if (was_asked != nullptr) *static_cast<bool*>(was_asked) = true;
  return -1;
}

}  // namespace kopp::detail
