#pragma once

#include "names.hpp"
#include "part.hpp"
#include "status.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

// What is asked of values all over the built-in kinds. Each function adds what is wrong to
// `causes`.

namespace kopp::apiserver {

/// Returns whether it is there; neither null nor "" is.
bool CheckGiven(const Part& part, Causes& causes, const std::string& detail = "");
void CheckNotNegative(const Part& part, Causes& causes);
/// Text, and one of these.
void CheckOneOf(const Part& part, const std::vector<std::string>& values, Causes& causes);
void CheckName(const Part& part, Why (*is_name)(std::string_view), Causes& causes);
void CheckPort(const Part& part, Causes& causes);
/// A number from 0 to 2^31-1, if it is there: of users and groups.
void CheckId(const Part& part, Causes& causes);
/// A number or a share ("25%"), not below 0.
void CheckShare(const Part& part, Causes& causes);
/// Of taints and tolerations.
void CheckTaintEffect(const Part& part, Causes& causes);
/// Remembers the text; one that is `seen` already is a duplicate.
void CheckNew(const Part& part, std::set<std::string>& seen, Causes& causes);
/// Labels and node selectors.
void CheckLabels(const Part& part, Causes& causes);
void CheckUnchanged(const Part& before, const Part& after, Causes& causes);

/// A LabelSelector's form. Returns whether it can be asked for a match.
bool CheckSelector(const Part& selector, Causes& causes);
/// Whether `selector` selects `labels`; one that is null selects nothing.
[[nodiscard]] bool Selects(const Part& selector, const Part& labels);

/// The value as Go's types print it, with fields in their order.
[[nodiscard]] Cause InvalidShown(std::string field, const std::string& shown,
                                 const std::string& detail);
/// Likewise, of a LabelSelector.
[[nodiscard]] std::string ShownSelector(const Part& selector);

}  // namespace kopp::apiserver
