#pragma once

#include <memory>
#include <string>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

// What is OpenSSL's, as C++ has it.
namespace kopp::detail {

template <auto kFree>
struct Free {
  template <class T>
  void operator()(T* held) const {
    kFree(held);
  }
};
using Bio = std::unique_ptr<BIO, Free<&BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Free<&X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<&EVP_PKEY_free>>;

/// To read `bytes`, which have to outlive it.
inline Bio OverBytes(const std::string& bytes) {
  return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

/// The callback for PEM under a passphrase: there is none. OpenSSL's own would ask at the terminal.
/// `asked` is a bool that becomes true, or null.
inline int NoPassphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* asked) {
  if (asked != nullptr) *static_cast<bool*>(asked) = true;
  return -1;
}

}  // namespace kopp::detail
