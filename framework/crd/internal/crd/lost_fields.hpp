#pragma once

#include <string>
#include <vector>

#include <kopp/crd.hpp>

namespace kopp {

/// Returns a sentence for each pair of versions of `definition` that loses fields, with the kind,
/// the versions and the paths of the fields. The API server reads, writes and stores an object with
/// the schema of a version, and removes the fields that this schema does not specify. So a write
/// through a served version deletes the fields that only another version has, and the fields that
/// the storage version does not have are never stored.
std::vector<std::string> DescribeLostFields(const CustomResourceDefinition& definition);

}  // namespace kopp
