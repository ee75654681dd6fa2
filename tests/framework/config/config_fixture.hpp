#pragma once

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <kopp/config.hpp>

namespace kopp {

namespace fs = std::filesystem;

/// Returns the contents of a memory BIO and frees it.
inline std::string ReadAndFree(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  std::string text(bytes, static_cast<std::size_t>(size));
  BIO_free(bio);
  return text;
}

/// A certificate and its private key, both in PEM.
struct Identity {
  std::string certificate;
  std::string key;
  std::string encrypted_key;  // `key`, encrypted with a passphrase
};

/// Returns a self-signed certificate and its key. They are generated once per process, so that no
/// key is stored in the repository.
inline const Identity& TestIdentity() {
  static const Identity identity = [] {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    BIO* certificate_text = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(certificate_text, certificate);
    BIO* key_text = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(key_text, key, nullptr, nullptr, 0, nullptr, nullptr);
    BIO* encrypted_key_text = BIO_new(BIO_s_mem());
    const std::array<unsigned char, 4> passphrase{'o', 'p', 'e', 'n'};
    PEM_write_bio_PKCS8PrivateKey(encrypted_key_text, key, EVP_aes_128_cbc(),
                                  reinterpret_cast<const char*>(passphrase.data()), 4, nullptr,
                                  nullptr);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return Identity{ReadAndFree(certificate_text), ReadAndFree(key_text),
                    ReadAndFree(encrypted_key_text)};
  }();
  return identity;
}

inline std::string Base64(const std::string& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

/// Builds the text of a kubeconfig. By default it has one context "dev" with cluster "east" and
/// user "me". The *Field functions add a line to the definition of the cluster, user or context.
class KubeconfigBuilder {
 public:
  KubeconfigBuilder& WithNames(const std::string& context, const std::string& cluster,
                               const std::string& user) {
    context_ = context;
    cluster_ = cluster;
    user_ = user;
    return *this;
  }
  KubeconfigBuilder& Server(const std::string& server) {
    server_ = server;
    return *this;
  }
  KubeconfigBuilder& ClusterField(const std::string& field) { return Add(cluster_fields_, field); }
  KubeconfigBuilder& UserField(const std::string& field) { return Add(user_fields_, field); }
  KubeconfigBuilder& ContextField(const std::string& field) { return Add(context_fields_, field); }
  KubeconfigBuilder& WithoutCurrentContext() {
    has_current_context_ = false;
    return *this;
  }

  operator std::string() const {  // NOLINT: intended conversion
    std::string text = "apiVersion: v1\nkind: Config\n";
    if (has_current_context_) text += "current-context: " + context_ + "\n";
    text += "clusters:\n- name: " + cluster_ + "\n  cluster:\n    server: " + server_ + "\n";
    text += cluster_fields_ + "users:\n- name: " + user_ + "\n  user:\n" + user_fields_;
    text += "contexts:\n- name: " + context_ + "\n  context:\n    cluster: " + cluster_;
    return text + "\n    user: " + user_ + "\n" + context_fields_;
  }

 private:
  KubeconfigBuilder& Add(std::string& fields, const std::string& field) {
    fields += "    " + field + "\n";
    return *this;
  }

  std::string context_ = "dev";
  std::string cluster_ = "east";
  std::string user_ = "me";
  std::string server_ = "https://10.0.0.1:6443";
  std::string cluster_fields_;
  std::string user_fields_;
  std::string context_fields_;
  bool has_current_context_ = true;
};

/// Loads a Config from a temporary folder and from environment variables that the test sets.
class ConfigFixture : public ::testing::Test {
 protected:
  ConfigFixture() {
    std::string folder = (fs::temp_directory_path() / "kopp-config-XXXXXX").string();
    folder_ = ::mkdtemp(folder.data());
    variables_["HOME"] = (folder_ / "home").string();
  }
  ~ConfigFixture() override { fs::remove_all(folder_); }

  fs::path Write(const fs::path& name, const std::string& text) {
    fs::path file = folder_ / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }

  // Sets the variables and creates the files that a pod with a service account has.
  void SimulatePod() {
    variables_["KUBERNETES_SERVICE_HOST"] = "10.96.0.1";
    variables_["KUBERNETES_SERVICE_PORT"] = "443";
    Write("account/token", "pod-token\n");
    Write("account/ca.crt", TestIdentity().certificate);
    Write("account/namespace", "operators");
  }

  Config Load(ConfigSources sources = {}) {
    sources.getenv = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    };
    sources.service_account = folder_ / "account";
    return LoadConfig(sources);
  }

  Config LoadText(const std::string& kubeconfig) {
    return Load({.kubeconfig = Write("config", kubeconfig).string()});
  }

  // Returns the message of the ConfigError, in which DIR replaces the path of the temporary folder.
  // The message must be one line.
  std::string LoadError(ConfigSources sources = {}) {
    try {
      Load(std::move(sources));
    } catch (const ConfigError& error) {
      std::string what = error.what();
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
      while (what.find(folder_.string()) != std::string::npos) {
        what.replace(what.find(folder_.string()), folder_.string().size(), "DIR");
      }
      return what;
    }
    return "LoadConfig did not throw";
  }

  std::string LoadErrorOfText(const std::string& kubeconfig) {
    return LoadError({.kubeconfig = Write("config", kubeconfig).string()});
  }

  fs::path folder_;
  std::map<std::string, std::string> variables_;
};

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace kopp
