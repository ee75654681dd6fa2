// Rules for Jobs.
#include "rule.hpp"

namespace kopp::conformance {
namespace {

/// Returns a Job with a spec that has the fields in `change`.
json MakeJob(const json& change) {
  json job = MakeObjectWithName("a");
  job["spec"]["template"]["spec"] =
      R"({"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]})"_json;
  job["spec"].merge_patch(change);
  return job;
}

class JobRuleTest : public ConformanceTest, public ::testing::WithParamInterface<Rule> {};

TEST_P(JobRuleTest, TheErrorsAreThoseOfTheRule) {
  ExpectErrors(Post(Path("batch/v1", "jobs"), MakeJob(json::parse(GetParam().value))), GetParam());
}

const Rule job_rules[] = {
    {"UnknownCompletionMode", R"({"completionMode": "x"})",
     R"(spec.completionMode: Unsupported value: "x": supported values: "NonIndexed", "Indexed")"},
    {"IndexedWithoutCompletions", R"({"completionMode": "Indexed"})", ""},
    {"MoreFailedIndexesThanCompletions",
     R"({"completionMode": "Indexed", "completions": 3, "maxFailedIndexes": 5})",
     R"([spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified, spec.maxFailedIndexes: Invalid value: 5: must be less than or equal to completions])"},
    {"LimitPerIndexOfANonIndexedJob", R"({"backoffLimitPerIndex": 1})",
     R"(spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode)"},
    {"TooManyParallelIndexes",
     R"({"completionMode": "Indexed", "completions": 3, "parallelism": 100001})",
     R"(spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed)"},
    {"ManyCompletionsWithoutMaxFailedIndexes",
     R"({"completionMode": "Indexed", "completions": 100001, "backoffLimitPerIndex": 1})",
     R"(spec.maxFailedIndexes: Required value: must be specified when completions is above 100000)"},
    {"ManyParallelIndexesWithALimitEach",
     R"({"completionMode": "Indexed", "completions": 100001, "backoffLimitPerIndex": 1, "maxFailedIndexes": 1, "parallelism": 10001})",
     R"(spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index)"},
    {"ManagerWithoutDomain", R"({"managedBy": "a"})",
     R"(spec.managedBy: Invalid value: "a": must be a domain-prefixed path (such as "acme.io/foo"))"},
    {"ManagerWithASpace", R"({"managedBy": "a.b/c d"})",
     R"(spec.managedBy: Invalid value: "c d": Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+'))"},
    {"LongManager",
     R"({"managedBy": "a.b/cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"})",
     R"(spec.managedBy: Too long: may not be more than 63 bytes)"},
    {"UnknownReplacementPolicy", R"({"podReplacementPolicy": "x"})",
     R"(spec.podReplacementPolicy: Unsupported value: "x": supported values: "Failed", "TerminatingOrFailed")"},
    {"SuccessPolicyOfANonIndexedJob", R"({"successPolicy": {"rules": [{"succeededCount": 1}]}})",
     R"(spec.successPolicy: Invalid value: )"},
    {"SuccessPolicyWithoutRules",
     R"({"completionMode": "Indexed", "completions": 3, "successPolicy": {}})",
     R"(spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified)"},
    {"EmptySuccessRule",
     R"({"completionMode": "Indexed", "completions": 3, "successPolicy": {"rules": [{}]}})",
     R"(spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified)"},
    {"MoreSucceededThanCompletions",
     R"({"completionMode": "Indexed", "completions": 3, "successPolicy": {"rules": [{"succeededCount": 4}]}})",
     R"(spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of specified completions))"},
    {"SucceededIndexOutOfRange",
     R"({"completionMode": "Indexed", "completions": 3, "successPolicy": {"rules": [{"succeededIndexes": "0-5"}]}})",
     R"(spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-5": error parsing succeededIndexes: too large index: "5")"},
    {"SucceededIndexThatIsNoNumber",
     R"({"completionMode": "Indexed", "completions": 3, "successPolicy": {"rules": [{"succeededIndexes": "x\n"}]}})",
     R"(spec.successPolicy.rules[0].succeededIndexes: Invalid value: "x\n": error parsing succeededIndexes: cannot convert string to integer for index: "x\n")"},
    {"DecreasingSucceededIndexes",
     R"({"completionMode": "Indexed", "completions": 3, "successPolicy": {"rules": [{"succeededIndexes": "2,1"}]}})",
     R"(spec.successPolicy.rules[0].succeededIndexes: Invalid value: "2,1": error parsing succeededIndexes: non-increasing order, previous: 2, current: 1)"},
    {"IntervalOfThreeIndexes",
     R"({"completionMode": "Indexed", "completions": 3, "successPolicy": {"rules": [{"succeededIndexes": "0-1-2"}]}})",
     R"(spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-1-2": error parsing succeededIndexes: the fragment "0-1-2" violates the requirement that an index interval can have at most two parts separated by '-')"},
    {"MoreSucceededThanIndexes",
     R"({"completionMode": "Indexed", "completions": 3, "successPolicy": {"rules": [{"succeededIndexes": "0-1", "succeededCount": 3}]}})",
     R"(spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field))"},
    {"EmptyFailureRule", R"({"podFailurePolicy": {"rules": [{}]}})",
     R"([spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"], spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required])"},
    {"UnknownAction",
     R"({"podFailurePolicy": {"rules": [{"action": "x", "onPodConditions": [{"type": "a", "status": "True"}]}]}})",
     R"(spec.podFailurePolicy.rules[0].action: Unsupported value: "x": supported values: "Count", "FailIndex", "FailJob", "Ignore")"},
    {"FailIndexWithoutALimitPerIndex",
     R"({"podFailurePolicy": {"rules": [{"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [1]}}]}})",
     R"(spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set)"},
    {"NoExitCodes",
     R"({"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": []}}]}})",
     R"(spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: []: at least one value is required)"},
    {"ExitCodeZero",
     R"({"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [0, 1]}}]}})",
     R"(spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator)"},
    {"UnorderedExitCodes",
     R"({"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3, 1, 1]}}]}})",
     R"([spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 1, spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,1,1]: must be ordered])"},
    {"ExitCodesOfAnUnknownContainer",
     R"({"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1], "containerName": "b"}}]}})",
     R"(spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "b": must be one of the container or initContainer names in the pod template)"},
    {"ConditionWithoutTypeAndStatus",
     R"({"podFailurePolicy": {"rules": [{"action": "FailJob", "onPodConditions": [{}]}]}})",
     R"([spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: "": name part must be non-empty, spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: "": name part)"},
    {"ExitCodesAndConditions",
     R"({"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}, "onPodConditions": [{"type": "a", "status": "True"}]}]}})",
     R"(spec.podFailurePolicy.rules[0]: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported)"},
    {"TooManyRules",
     R"({"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}, {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]}})",
     R"(spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items)"},
    {"RestartedContainers",
     R"({"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]}, "template": {"spec": {"restartPolicy": "OnFailure"}}})",
     R"(spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified)"},
};
INSTANTIATE_TEST_SUITE_P(, JobRuleTest, ::testing::ValuesIn(job_rules), &NameOf);

class JobUpdateTest : public ConformanceTest {
 protected:
  /// Creates a Job, and adds a label to its Pod template.
  JsonResponse CreateAndLabel(bool suspended) {
    Post(Path("batch/v1", "jobs"), MakeJob({{"suspend", suspended}}));
    return MergePatch(Path("batch/v1", "jobs") + "/a",
                      R"({"spec": {"template": {"metadata": {"labels": {"zone": "b"}}}}})"_json);
  }
};

TEST_F(JobUpdateTest, TheSchedulingOfASuspendedJobMayChange) {
  EXPECT_EQ(CreateAndLabel(true).status, 200);
}

TEST_F(JobUpdateTest, TheTemplateOfARunningJobIsImmutable) {
  EXPECT_THAT(CreateAndLabel(false).message(), ::testing::EndsWith("field is immutable"));
}

}  // namespace
}  // namespace kopp::conformance
