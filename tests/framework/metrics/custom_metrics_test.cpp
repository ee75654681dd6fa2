#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/metrics.hpp>

namespace kopp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CustomMetricsTest : public ::testing::Test {
 protected:
  [[nodiscard]] bool Has(const std::string& line) const {
    return metrics_->Text().find('\n' + line + '\n') != std::string::npos;
  }
  /// Returns the message of the exception that NewCounter throws, or "none".
  std::string ErrorOf(const MetricOptions& options) {
    try {
      metrics_->NewCounter(options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  }

  std::optional<Metrics> metrics_{std::in_place};
};

TEST_F(CustomMetricsTest, CounterAppearsOnThePageWithHelpAndLabels) {
  const CounterVec created = metrics_->NewCounter({.name = "web_created_total",
                                                   .help = "Total number of\ncreated objects.",
                                                   .labels = {"tier", "zone"}});
  created.WithLabelValues({"front", "a"}).Inc();
  created.WithLabelValues({"front", "a"}).Inc(2);
  created.WithLabelValues({"back", "a"}).Inc();

  EXPECT_TRUE(Has("# HELP web_created_total Total number of created objects."));
  EXPECT_TRUE(Has("# TYPE web_created_total counter"));
  EXPECT_TRUE(Has(R"(web_created_total{tier="front",zone="a"} 3)"));
  EXPECT_TRUE(Has(R"(web_created_total{tier="back",zone="a"} 1)"));
}

TEST_F(CustomMetricsTest, MetricWithoutLabelsIsZeroFromTheStart) {
  const CounterVec counters = metrics_->NewCounter({.name = "web_total"});
  EXPECT_TRUE(Has("web_total 0"));
  counters.WithLabelValues().Inc();
  EXPECT_TRUE(Has("web_total 1"));
}

TEST_F(CustomMetricsTest, GaugeCanBeSetIncreasedAndDecreased) {
  const Gauge gauge = metrics_->NewGauge({.name = "web_size"}).WithLabelValues();
  gauge.Set(10);
  gauge.Inc();
  gauge.Dec(3);

  EXPECT_TRUE(Has("# TYPE web_size gauge"));
  EXPECT_TRUE(Has("web_size 8"));
}

TEST_F(CustomMetricsTest, HistogramHasItsBuckets) {
  const auto latency =
      metrics_->NewHistogram({.name = "web_seconds", .labels = {"verb"}}, {0.5, 1});
  latency.WithLabelValues({"get"}).Observe(0.7);

  EXPECT_TRUE(Has("# TYPE web_seconds histogram"));
  EXPECT_TRUE(Has(R"(web_seconds_bucket{verb="get",le="0.5"} 0)"));
  EXPECT_TRUE(Has(R"(web_seconds_bucket{verb="get",le="1"} 1)"));
  EXPECT_TRUE(Has(R"(web_seconds_count{verb="get"} 1)"));
  EXPECT_THROW(metrics_->NewHistogram({.name = "web_other"}, {1, 1}), std::invalid_argument);
}

TEST_F(CustomMetricsTest, NameInUseIsRejected) {
  metrics_->NewGauge({.name = "web_total"});
  metrics_->NewHistogram({.name = "web_seconds"});

  EXPECT_THAT(ErrorOf({.name = "web_total"}), HasSubstr("web_total"));
  EXPECT_THAT(ErrorOf({.name = "web_seconds"}), HasSubstr("web_seconds"));
  EXPECT_THAT(ErrorOf({.name = "web_seconds_count"}), HasSubstr("web_seconds_count"));
}

TEST_F(CustomMetricsTest, PrefixesOfKoppAreReserved) {
  for (const char* name : {"workqueue_depth", "controller_runtime_reconcile_total", "kopp_x",
                           "rest_client_requests_total", "process_open_fds",
                           "leader_election_master_status", "certwatcher_read_certificate_total"}) {
    EXPECT_THAT(ErrorOf({.name = name}), HasSubstr("reserved for kopp")) << name;
  }
}

TEST_F(CustomMetricsTest, InvalidNamesAndLabelsAreRejected) {
  EXPECT_THAT(ErrorOf({.name = "web-total"}), HasSubstr("invalid name"));
  EXPECT_THAT(ErrorOf({.name = ""}), HasSubstr("invalid name"));
  EXPECT_THAT(ErrorOf({.name = "web_a", .labels = {"a-b"}}), HasSubstr("invalid label"));
  EXPECT_THAT(ErrorOf({.name = "web_a", .labels = {"__a"}}), HasSubstr("invalid label"));
  EXPECT_THAT(ErrorOf({.name = "web_a", .labels = {"a", "a"}}), HasSubstr("two labels"));
  EXPECT_THROW(metrics_->NewHistogram({.name = "web_a", .labels = {"le"}}), std::invalid_argument);
  EXPECT_EQ(ErrorOf({.name = "web_a", .labels = {"a"}}), "none");
}

TEST_F(CustomMetricsTest, WrongNumberOfLabelValuesIsRejected) {
  const auto counters = metrics_->NewCounter({.name = "web_total", .labels = {"a"}});

  EXPECT_THROW((void)counters.WithLabelValues(), std::invalid_argument);
  EXPECT_THROW((void)counters.WithLabelValues({"1", "2"}), std::invalid_argument);
}

TEST_F(CustomMetricsTest, ADeletedSeriesDisappearsAndIsCreatedAgainFromZero) {
  const auto sizes = metrics_->NewGauge({.name = "web_size", .labels = {"site"}});
  const Gauge old = sizes.WithLabelValues({"blog"});
  old.Set(5);
  sizes.WithLabelValues({"shop"}).Set(7);

  EXPECT_TRUE(sizes.DeleteLabelValues({"blog"}));
  EXPECT_FALSE(sizes.DeleteLabelValues({"blog"}));
  old.Set(6);
  EXPECT_THAT(metrics_->Text(), Not(HasSubstr("blog")));
  EXPECT_TRUE(Has(R"(web_size{site="shop"} 7)"));

  sizes.WithLabelValues({"blog"}).Inc();
  EXPECT_TRUE(Has(R"(web_size{site="blog"} 1)"));
  EXPECT_THROW((void)sizes.DeleteLabelValues({}), std::invalid_argument);
}

TEST_F(CustomMetricsTest, ADeletedSeriesOfAHistogramDisappears) {
  const auto latency = metrics_->NewHistogram({.name = "web_seconds", .labels = {"site"}});
  latency.WithLabelValues({"blog"}).Observe(1);

  EXPECT_TRUE(latency.DeleteLabelValues({"blog"}));
  EXPECT_THAT(metrics_->Text(), Not(HasSubstr("web_seconds")));
}

TEST_F(CustomMetricsTest, LabelValuesThatAreNotUtf8AreReplaced) {
  metrics_->NewCounter({.name = "web_total", .labels = {"a"}}).WithLabelValues({"\xff\"\n"}).Inc();

  EXPECT_TRUE(Has("web_total{a=\"\xEF\xBF\xBD\\\"\\n\"} 1"));
}

TEST_F(CustomMetricsTest, HandlesMayOutliveTheMetrics) {
  const auto counters = metrics_->NewCounter({.name = "web_total", .labels = {"a"}});
  const Counter counter = counters.WithLabelValues({"b"});
  metrics_.reset();

  counter.Inc();
  counters.WithLabelValues({"c"}).Inc();
}

TEST_F(CustomMetricsTest, SeriesMayBeUsedByManyThreadsDuringScrapes) {
  const auto counters = metrics_->NewCounter({.name = "web_total", .labels = {"a"}});
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        for (int j = 0; j < 500; ++j) counters.WithLabelValues({std::to_string(i % 2)}).Inc();
      });
    }
    for (int i = 0; i < 20; ++i) (void)metrics_->Text();
  }

  EXPECT_TRUE(Has(R"(web_total{a="0"} 1000)"));
  EXPECT_TRUE(Has(R"(web_total{a="1"} 1000)"));
}

}  // namespace
}  // namespace kopp
