#include "pods/pod_volume_validation.hpp"

#include "base/ascii.hpp"
#include "fields/field_rules.hpp"
#include "fields/volume_rules.hpp"
#include "pods/pod_context.hpp"
#include "pods/projected_volume_validation.hpp"
#include "schema/field_validation.hpp"
#include "schema/go_quoted.hpp"
#include "schema/pattern.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/k8s/quantity.hpp>

namespace kopp::apiserver {
namespace {

constexpr std::size_t kMaxTenant = 64;
constexpr std::size_t kMaxInitiatorTarget = 64;

void ValidateEmptyDir(const FieldRef& source, FieldErrors& errors) {
  const FieldRef limit = source["sizeLimit"];
  if (!limit.exists() || !k8s::Quantity(limit.text()).IsNegative()) return;
  errors.push_back(
      ForbiddenField(limit.path(), "SizeLimit field must be a valid resource quantity"));
}

void ValidateGitRepo(const FieldRef& source, FieldErrors& errors) {
  ValidateNotEmpty(source["repository"], errors);
  ValidateDescendingPath(source["directory"], errors);
}

/// Validates the disk `name` of a cloud provider, and its partition, where 0 means none.
void ValidateCloudDisk(const FieldRef& source, const char* name, FieldErrors& errors) {
  ValidateNotEmpty(source[name], errors);
  const FieldRef partition = source["partition"];
  if (partition.number() >= 0 && partition.number() <= 255) return;
  errors.push_back(
      InvalidValue(partition.path(), partition.value(), "must be between 1 and 255, inclusive"));
}

void ValidateGceDisk(const FieldRef& source, FieldErrors& errors) {
  const std::string& path = source.path();
  constexpr std::string_view kField = "gcePersistentDisk";
  ValidateCloudDisk(At(source, path.substr(0, path.size() - kField.size()) + "persistentDisk"),
                    "pdName", errors);
}

void ValidateAwsDisk(const FieldRef& source, FieldErrors& errors) {
  ValidateCloudDisk(source, "volumeID", errors);
}

/// Validates a volume with the keys of the ConfigMap or Secret in the field `name`.
void ValidateKeysVolume(const FieldRef& source, const char* name, FieldErrors& errors) {
  ValidateNotEmpty(source[name], errors);
  ValidateFileMode(source["defaultMode"], errors);
  for (const FieldRef& item : source["items"].items()) ValidateKeyToPath(item, errors);
}

void ValidateSecretVolume(const FieldRef& source, FieldErrors& errors) {
  ValidateKeysVolume(source, "secretName", errors);
}

void ValidateConfigMapVolume(const FieldRef& source, FieldErrors& errors) {
  ValidateKeysVolume(source, "name", errors);
}

void ValidateNfs(const FieldRef& source, FieldErrors& errors) {
  ValidateNotEmpty(source["server"], errors);
  const FieldRef path = source["path"];
  ValidateNotEmpty(path, errors);
  if (path.text().starts_with('/')) return;
  errors.push_back(InvalidValue(path.path(), path.text(), "must be an absolute path"));
}

/// Validates the name of an iSCSI node. Its errors are reported at `path`.
void ValidateIscsiName(const std::string& name, const std::string& path, FieldErrors& errors) {
  static const Pattern iqn(R"(iqn\.\d{4}-\d{2}\.([[:alnum:].-]+)(:[^,;*&$|\s]+)$)");
  static const Pattern eui("^eui.[[:alnum:]]{16}$");
  static const Pattern naa("^naa.[[:alnum:]]{32}$");
  const Pattern* const pattern = name.starts_with("iqn")   ? &iqn
                                 : name.starts_with("eui") ? &eui
                                 : name.starts_with("naa") ? &naa
                                                           : nullptr;
  if (pattern == nullptr) {
    errors.push_back(
        InvalidValue(path, name, "must be valid format starting with iqn, eui, or naa"));
  } else if (!pattern->PartialMatch(name)) {
    errors.push_back(InvalidValue(path, name, "must be valid format"));
  }
}

void ValidateIscsi(const FieldRef& source, FieldErrors& errors) {
  ValidateNotEmpty(source["targetPortal"], errors);
  const FieldRef iqn = source["iqn"];
  if (ValidateRequired(iqn, errors)) ValidateIscsiName(iqn.text(), iqn.path(), errors);
  ValidateRange(source["lun"], 0, 255, errors);
  const bool needs_secret =
      source["chapAuthDiscovery"].is(true) || source["chapAuthSession"].is(true);
  if (needs_secret && !source["secretRef"].exists())
    errors.push_back(Required(source["secretRef"].path(), ""));
  const FieldRef initiator = source["initiatorName"];
  if (initiator.exists())
    ValidateIscsiName(initiator.text(), source["initiatorname"].path(), errors);
}

void ValidateFlocker(const FieldRef& source, FieldErrors& errors) {
  const FieldRef name = source["datasetName"];
  const bool has_uuid = !IsUnset(source["datasetUUID"]);
  if (IsUnset(name) && !has_uuid) {
    errors.push_back(Required(source.path(), "one of datasetName and datasetUUID is required"));
  }
  if (!IsUnset(name) && has_uuid) {
    errors.push_back(
        InvalidValue(source.path(), "resource",
                     "datasetName and datasetUUID can not be specified simultaneously"));
  }
  if (name.text().find('/') != std::string::npos)
    errors.push_back(InvalidValue(name.path(), name.text(), "must not contain '/'"));
}

void ValidateCinder(const FieldRef& source, FieldErrors& errors) {
  ValidateNotEmpty(source["volumeID"], errors);
  if (source["secretRef"].exists()) ValidateNotEmpty(source["secretRef"]["name"], errors);
}

/// Returns whether `text` has the form HOST:PORT or [IPV6]:PORT, as SplitHostPort of Go's net.
bool IsHostPort(const std::string& text) {
  static const Pattern pattern(R"(^(\[[^\[\]]*\]|[^\[\]:]*):[^\[\]:]*$)");
  return pattern.FullMatch(text);
}

void ValidateQuobyteRegistry(const FieldRef& source, FieldErrors& errors) {
  constexpr const char* kDetail = "must be a host:port pair or multiple pairs separated by commas";
  const FieldRef registry = source["registry"];
  if (!ValidateRequired(registry, errors, kDetail)) return;
  if (source["tenant"].text().size() > kMaxTenant) {
    errors.push_back(Required(source["tenant"].path(),
                              "must be a UUID and may not exceed a length of 64 characters"));
    return;
  }
  const std::string pairs = registry.text() + ',';
  for (std::size_t start = 0; start < pairs.size();) {
    const std::size_t comma = pairs.find(',', start);
    if (!IsHostPort(pairs.substr(start, comma - start)))
      errors.push_back(InvalidValue(registry.path(), registry.text(), kDetail));
    start = comma + 1;
  }
}

void ValidateQuobyte(const FieldRef& source, FieldErrors& errors) {
  ValidateQuobyteRegistry(source, errors);
  ValidateNotEmpty(source["volume"], errors);
}

void ValidateDownwardApi(const FieldRef& source, FieldErrors& errors) {
  ValidateFileMode(source["defaultMode"], errors);
  for (const FieldRef& file : source["items"].items())
    ValidateDownwardApiFile(file, source.path(), errors);
}

void ValidateFibreChannel(const FieldRef& source, FieldErrors& errors) {
  const FieldRef names = source["targetWWNs"];
  const FieldRef ids = source["wwids"];
  if (names.size() == 0 && ids.size() == 0) {
    errors.push_back(
        Required(names.path(), "must specify either targetWWNs or wwids, but not both"));
  }
  if (names.size() == 0) return;
  if (ids.size() != 0) {
    errors.push_back(InvalidValue(names.path(), names.value(),
                                  "targetWWNs and wwids can not be specified simultaneously"));
  }
  if (source["lun"].exists()) {
    ValidateRange(source["lun"], 0, 255, errors);
  } else {
    errors.push_back(Required(source["lun"].path(), "lun is required if targetWWNs is specified"));
  }
}

void ValidateFlexVolume(const FieldRef& source, FieldErrors& errors) {
  ValidateNotEmpty(source["driver"], errors);
  const FieldRef options = source["options"];
  for (const std::string& name : options.keys()) {
    const std::string domain = '.' + kopp::detail::ToLowerAscii(name.substr(0, name.find('/')));
    if (!domain.ends_with(".kubernetes.io") && !domain.ends_with(".k8s.io")) continue;
    errors.push_back(InvalidValue(options.Key(name).path(), name,
                                  "kubernetes.io and k8s.io namespaces are reserved"));
  }
}

void ValidateAzureDisk(const FieldRef& source, FieldErrors& errors) {
  const FieldRef uri = source["diskURI"];
  ValidateNotEmpty(source["diskName"], errors);
  ValidateNotEmpty(uri, errors);
  if (source["cachingMode"].exists())
    ValidateEnum(source["cachingMode"], {"None", "ReadOnly", "ReadWrite"}, errors);
  const FieldRef kind = source["kind"];
  if (!kind.exists()) return;
  ValidateEnum(kind, {"Dedicated", "Managed", "Shared"}, errors);
  if (kind.is("Managed") && !uri.text().starts_with("/subscriptions/")) {
    errors.push_back(
        NotSupportedFormatted(uri.path(), GoQuoted(uri.text()),
                              {"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/"
                               "microsoft.compute/disks/{disk-id}"}));
  } else if (!kind.is("Managed") && !uri.text().starts_with("https://")) {
    errors.push_back(NotSupportedFormatted(
        uri.path(), GoQuoted(uri.text()),
        {"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"}));
  }
}

void ValidateStorageOs(const FieldRef& source, FieldErrors& errors) {
  if (ValidateRequired(source["volumeName"], errors))
    ValidateName(source["volumeName"], &ValidateDnsLabel, errors);
  if (!IsUnset(source["volumeNamespace"]))
    ValidateName(source["volumeNamespace"], &ValidateDnsLabel, errors);
  if (source["secretRef"].exists()) ValidateNotEmpty(source["secretRef"]["name"], errors);
}

void ValidateCsi(const FieldRef& source, FieldErrors& errors) {
  ValidateDriverName(source["driver"], errors);
  const FieldRef secret = source["nodePublishSecretRef"];
  if (secret.exists() && ValidateRequired(secret["name"], errors))
    ValidateName(At(secret["name"], source["name"].path()), &ValidateDnsSubdomain, errors);
}

/// Validates the metadata of the template of a claim, which may have only labels and annotations.
void ValidateClaimTemplateMetadata(const FieldRef& metadata, FieldErrors& errors) {
  for (const std::string& key : metadata["annotations"].keys()) {
    for (const std::string& detail : ValidateQualifiedName(kopp::detail::ToLowerAscii(key)))
      errors.push_back(InvalidValue(metadata["annotations"].path(), key, detail));
  }
  ValidateLabels(metadata["labels"], errors);
  for (const std::string& field : metadata.keys()) {
    if (field == "annotations" || field == "labels" || IsUnset(metadata[field])) continue;
    errors.push_back(ForbiddenField(metadata[field].path(), "cannot be set"));
  }
}

void ValidateEphemeral(const FieldRef& source, FieldErrors& errors) {
  const FieldRef claim = source["volumeClaimTemplate"];
  if (!claim.exists()) {
    errors.push_back(Required(claim.path(), ""));
    return;
  }
  ValidateClaimTemplateMetadata(claim["metadata"], errors);
  ValidateClaimSpec(claim["spec"], true, errors);
}

/// A kind of volume.
struct VolumeSource {
  const char* name;
  std::vector<const char*> required;  ///< fields that must not be empty, validated first
  void (*validate)(const FieldRef& source, FieldErrors& errors) = nullptr;
  const char* forbidden_name = nullptr;  ///< in the error of a second kind, if not `name`
};

/// Returns the kinds of volumes in the order in which kube-apiserver validates them.
/// Volumes with an image have been dropped.
const std::vector<VolumeSource>& VolumeSources() {
  static const std::vector<VolumeSource> sources = {
      {"emptyDir", {}, &ValidateEmptyDir},
      {"hostPath", {}, &ValidateHostPath},
      {"gitRepo", {}, &ValidateGitRepo},
      {"gcePersistentDisk", {}, &ValidateGceDisk},
      {"awsElasticBlockStore", {}, &ValidateAwsDisk},
      {"secret", {}, &ValidateSecretVolume},
      {"nfs", {}, &ValidateNfs},
      {"iscsi", {}, &ValidateIscsi},
      {"glusterfs", {"endpoints", "path"}},
      {"flocker", {}, &ValidateFlocker},
      {"persistentVolumeClaim", {"claimName"}},
      {"rbd", {"monitors", "image"}},
      {"cinder", {}, &ValidateCinder},
      {"cephfs", {"monitors"}, nullptr, "cephFS"},
      {"quobyte", {}, &ValidateQuobyte},
      {"downwardAPI", {}, &ValidateDownwardApi, "downwarAPI"},
      {"fc", {}, &ValidateFibreChannel},
      {"flexVolume", {}, &ValidateFlexVolume},
      {"configMap", {}, &ValidateConfigMapVolume},
      {"azureFile", {"secretName", "shareName"}},
      {"vsphereVolume", {"volumePath"}},
      {"photonPersistentDisk", {"pdID"}},
      {"portworxVolume", {"volumeID"}},
      {"azureDisk", {}, &ValidateAzureDisk},
      {"storageos", {}, &ValidateStorageOs},
      {"projected", {}, &ValidateProjectedVolume},
      {"scaleIO", {"gateway", "system", "volumeName"}},
      {"csi", {}, &ValidateCsi},
      {"ephemeral", {}, &ValidateEphemeral},
  };
  return sources;
}

void ValidateSource(const VolumeSource& kind, const FieldRef& source, FieldErrors& errors) {
  for (const char* field : kind.required) ValidateNotEmpty(source[field], errors);
  if (kind.validate != nullptr) kind.validate(source, errors);
}

/// Limits the length of the name and the target of an iSCSI volume with its own initiator.
void ValidateInitiatorTarget(const FieldRef& volume, FieldErrors& errors) {
  const std::string name = volume["name"].text();
  const FieldRef iscsi = volume["iscsi"];
  const std::string target = name + ':' + iscsi["targetPortal"].text();
  if (!iscsi["initiatorName"].exists() || target.size() <= kMaxInitiatorTarget) return;
  errors.push_back(InvalidValue(volume["name"].path(), name,
                                "Total length of <volume name>:<iscsi.targetPortal> must be under "
                                "64 characters if iscsi.initiatorName is specified."));
}

/// Validates the name of the claim that a controller creates for an ephemeral volume.
void ValidateEphemeralClaimName(const FieldRef& name, const PodContext& context,
                                FieldErrors& errors) {
  if (context.pod_name.empty() || name.text().empty()) return;
  const std::string claim = context.pod_name + '-' + name.text();
  if (const NameError detail = ValidateDnsSubdomain(claim)) {
    errors.push_back(
        InvalidValue(name.path(), name.text(), "PVC name " + GoQuoted(claim) + ": " + *detail));
  }
}

/// Requires exactly one kind of volume, and validates it.
void ValidateVolumeSource(const FieldRef& volume, const PodContext& context, FieldErrors& errors) {
  const VolumeSource* found = nullptr;
  for (const VolumeSource& kind : VolumeSources()) {
    const FieldRef source = volume[kind.name];
    if (!source.exists()) continue;
    if (found == nullptr) {
      found = &kind;
      ValidateSource(kind, source, errors);
      if (kind.name == std::string_view("ephemeral"))
        ValidateEphemeralClaimName(volume["name"], context, errors);
    } else {
      const char* name = kind.forbidden_name == nullptr ? kind.name : kind.forbidden_name;
      errors.push_back(
          ForbiddenField(volume[name].path(), "may not specify more than 1 volume type"));
    }
    if (kind.name == std::string_view("iscsi")) ValidateInitiatorTarget(volume, errors);
  }
  if (found == nullptr) errors.push_back(Required(volume.path(), "must specify a volume type"));
}

/// Returns the names of the claims that a controller creates for the ephemeral volumes of a Pod.
std::set<std::string> EphemeralClaimsOf(const PodContext& context) {
  std::set<std::string> claims;
  if (context.pod_name.empty()) return claims;
  for (const FieldRef& volume : context.spec["volumes"].items()) {
    if (volume["ephemeral"].exists()) claims.insert(context.pod_name + '-' + volume["name"].text());
  }
  return claims;
}

/// Validates one volume, whose name must not be that of a volume before it.
void ValidatePodVolume(const FieldRef& volume, PodContext& context, FieldErrors& errors) {
  const std::size_t error_count = errors.size();
  const FieldRef name = volume["name"];
  ValidateVolumeSource(volume, context, errors);
  if (ValidateRequired(name, errors)) ValidateName(name, &ValidateDnsLabel, errors);
  if (context.volumes.contains(name.text())) errors.push_back(Duplicate(name.path(), name.text()));
  if (errors.size() == error_count) context.volumes.emplace(name.text(), volume);
}

}  // namespace

void ValidatePodVolumes(PodContext& context, FieldErrors& errors) {
  const std::set<std::string> ephemeral_claims = EphemeralClaimsOf(context);
  for (const FieldRef& volume : context.spec["volumes"].items()) {
    ValidatePodVolume(volume, context, errors);
    const FieldRef claim = volume["persistentVolumeClaim"]["claimName"];
    if (!ephemeral_claims.contains(claim.text())) continue;
    errors.push_back(
        InvalidValue(claim.path(), claim.text(),
                     "must not reference a PVC that gets created for an ephemeral volume"));
  }
}

}  // namespace kopp::apiserver
