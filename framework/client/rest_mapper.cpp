#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <kopp/rest_mapper.hpp>

namespace kopp {
namespace {

std::string Lowercase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

const ApiGroup* FindGroup(const std::vector<ApiGroup>& groups, std::string_view name) {
  const auto found = std::ranges::find_if(
      groups, [&](const ApiGroup& group) { return group.name == name && !group.versions.empty(); });
  return found == groups.end() ? nullptr : &*found;
}

/// Returns the first resource that satisfies `matches`, in the order of the server's preference.
template <typename Predicate>
const ApiResource* FindResource(const std::vector<ApiGroup>& groups, Predicate matches) {
  for (const ApiGroup& group : groups) {
    for (const ApiVersion& version : group.versions) {
      const auto found = std::ranges::find_if(version.resources, matches);
      if (found != version.resources.end()) return &*found;
    }
  }
  return nullptr;
}

/// The argument of ForResource: "name", "name.group" or "name.version.group".
struct ResourceArgument {
  std::string name;
  std::optional<std::string_view> qualifier;

  explicit ResourceArgument(std::string_view text) {
    const auto dot = text.find('.');
    name = Lowercase(text.substr(0, dot));
    if (dot != std::string_view::npos) qualifier = text.substr(dot + 1);
  }
  [[nodiscard]] bool Qualifies(const OwningKind& kind) const {
    return !qualifier || *qualifier == kind.group() ||
           *qualifier == std::string(kind.version()).append(".").append(kind.group());
  }
  [[nodiscard]] bool IsNameOf(const ApiResource& resource) const {
    return name == resource.kind.plural || name == resource.singular ||
           name == Lowercase(resource.kind.kind);
  }
  [[nodiscard]] bool IsShortNameOf(const ApiResource& resource) const {
    return std::ranges::find(resource.short_names, name) != resource.short_names.end();
  }
};

/// As in kubectl, a short name is used only if no resource has this plural or singular name.
const ApiResource* FindByArgument(const std::vector<ApiGroup>& groups,
                                  const ResourceArgument& argument) {
  const ApiResource* found = FindResource(groups, [&](const ApiResource& resource) {
    return argument.Qualifies(resource.kind) && argument.IsNameOf(resource);
  });
  if (found != nullptr) return found;
  return FindResource(groups, [&](const ApiResource& resource) {
    return argument.Qualifies(resource.kind) && argument.IsShortNameOf(resource);
  });
}

/// Returns the remedy for a missing resource: one of the resources that satisfy `is_similar`, or
/// the installation of a CRD.
template <typename Predicate>
std::string Remedy(const std::vector<ApiGroup>& groups, Predicate is_similar) {
  std::string served;
  for (const ApiGroup& group : groups) {
    for (const ApiVersion& version : group.versions) {
      for (const ApiResource& resource : version.resources) {
        if (!is_similar(resource)) continue;
        served += (served.empty() ? "" : ", ") + resource.kind.ToString();
      }
    }
  }
  if (!served.empty()) return "; use a version or group that it serves: " + served;
  return ": install its CustomResourceDefinition with kubectl apply, or correct the name";
}

/// Lists the versions whose resources are not known, for the end of a message.
std::string Problems(const std::vector<ApiGroup>& groups) {
  std::string text;
  for (const ApiGroup& group : groups) {
    for (const ApiVersion& version : group.versions) {
      if (version.problem.empty()) continue;
      text += "; the resources of " + (group.name.empty() ? "" : group.name + '/') +
              version.version + " may be incomplete: " + version.problem;
    }
  }
  return text;
}

std::string InGroup(std::string_view group) {
  return group.empty() ? "the core group" : "group " + std::string(group);
}

/// Copies the resources of the versions that could not be read this time from `previous`.
void KeepPreviousResources(const std::vector<ApiGroup>& previous, std::vector<ApiGroup>& groups) {
  for (ApiGroup& group : groups) {
    const ApiGroup* const known = FindGroup(previous, group.name);
    if (known == nullptr) continue;
    for (ApiVersion& version : group.versions) {
      if (version.problem.empty() || !version.resources.empty()) continue;
      const auto same = std::ranges::find(known->versions, version.version, &ApiVersion::version);
      if (same != known->versions.end()) version.resources = same->resources;
    }
  }
}

}  // namespace

RestMapper::RestMapper(Transport& transport, Clock& clock, std::stop_token stop)
    : discovery_(transport, std::move(stop)), clock_(clock) {}

// Returns a copy of what `find` points to in the known groups, or in newer ones if it returns null.
// Throws NoMatchError with the text of `explain`.
template <typename Find, typename Explain>
auto RestMapper::Lookup(Find find, Explain explain) {
  for (Snapshot groups = Known();;) {
    if (const auto* found = find(*groups)) return *found;
    Snapshot newer = Reload(groups);
    if (newer == groups) throw NoMatchError(explain(*groups) + Problems(*groups));
    groups = std::move(newer);
  }
}

RestMapper::Snapshot RestMapper::Known() {
  Snapshot groups = state_.Lock()->groups;
  return groups ? groups : Reload(nullptr);
}

// Returns groups that are newer than `outdated`, or `outdated` if it is too early to ask again.
// Throws the failure of this load, or of the last load if it is too early to ask again.
RestMapper::Snapshot RestMapper::Reload(const Snapshot& outdated) {
  const std::lock_guard loading(loading_);
  {
    auto state = state_.Lock();
    if (state->groups != outdated) return state->groups;  // another thread has loaded them
    const bool early = clock_.Now() < SaturatingAdd(state->tried, kMinReloadInterval);
    if (early && state->error) std::rethrow_exception(state->error);
    if (early && outdated) return outdated;
  }
  Snapshot loaded;
  std::exception_ptr error;
  try {
    Groups groups = discovery_.Groups();
    if (outdated) KeepPreviousResources(*outdated, groups);
    loaded = std::make_shared<const Groups>(std::move(groups));
  } catch (...) {
    error = std::current_exception();
  }
  auto state = state_.Lock();
  state->error = error;
  state->tried = clock_.Now();
  if (error) std::rethrow_exception(error);
  state->groups = loaded;
  return loaded;
}

ApiResource RestMapper::ForKind(std::string_view group, std::string_view kind,
                                std::string_view version) {
  const auto matches = [&](const ApiResource& resource) {
    return resource.kind.group() == group && resource.kind.kind == kind &&
           (version.empty() || resource.kind.version() == version);
  };
  const auto explain = [&](const Groups& groups) {
    return "the API server does not serve kind " + std::string(kind) +
           (version.empty() ? "" : " in version " + std::string(version)) + " of " +
           InGroup(group) +
           Remedy(groups, [&](const ApiResource& other) { return other.kind.kind == kind; });
  };
  return Lookup([&](const Groups& groups) { return FindResource(groups, matches); }, explain);
}

ApiResource RestMapper::ForResource(std::string_view text) {
  const ResourceArgument argument(text);
  const auto explain = [&](const Groups& groups) {
    return "the API server does not serve the resource \"" + std::string(text) + '"' +
           Remedy(groups, [&](const ApiResource& other) {
             return argument.IsNameOf(other) || argument.IsShortNameOf(other);
           });
  };
  return Lookup([&](const Groups& groups) { return FindByArgument(groups, argument); }, explain);
}

std::string RestMapper::PreferredVersion(std::string_view group) {
  const auto find = [&](const Groups& groups) -> const std::string* {
    const ApiGroup* found = FindGroup(groups, group);
    return found == nullptr ? nullptr : &found->versions.front().version;
  };
  const auto explain = [&](const Groups& groups) {
    return "the API server does not serve " + InGroup(group) +
           Remedy(groups, [](const ApiResource&) { return false; });
  };
  return Lookup(find, explain);
}

}  // namespace kopp
