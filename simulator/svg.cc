// The drawing of report.h: three charts a trace, a legend once.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "absl/strings/str_format.h"
#include "simulator/report.h"

namespace berth::simulator {
namespace {

// Colours that people with any colour vision tell apart (Okabe and Ito), and dashes for the rest.
constexpr std::array<const char*, 8> kColours = {"#d55e00", "#0072b2", "#009e73", "#cc79a7",
                                                 "#e69f00", "#56b4e9", "#000000", "#8c6d1f"};
constexpr std::array<const char*, 3> kDashes = {"none", "7 3", "2 3"};

constexpr double kChartWidth = 380;
constexpr double kChartHeight = 270;
constexpr double kGapLeft = 62;
constexpr double kGapRight = 18;
constexpr double kGapTop = 54;
constexpr double kGapBottom = 48;
constexpr double kRowHeight = kGapTop + kChartHeight + kGapBottom;
constexpr double kColumnWidth = kGapLeft + kChartWidth + kGapRight;
constexpr double kLegendWidth = 150;

struct Axis {
  double from = 0;
  double to = 0;
  double step = 0;
};

struct Chart {
  std::string title = {};
  std::string y_label = {};
  Axis x = {};
  Axis y = {};
  std::function<double(const CurvePoint&)> value = {};
};

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// A step of 1, 2 or 5 times a power of ten that makes about five of the span.
double StepFor(double span) {
  const double power = std::pow(10, std::floor(std::log10(std::max(span, 1e-6) / 5)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (span / (times * power) <= 6) return times * power;
  }
  return 10 * power;
}

// The least and the greatest of a chart's values, from x on.
std::pair<double, double> Range(const std::vector<PolicyMeans>& policies, const Chart& chart) {
  double least = 1e9;
  double greatest = -1e9;
  for (const PolicyMeans& means : policies) {
    for (auto i = static_cast<size_t>(chart.x.from); i < means.curve.size(); ++i) {
      least = std::min(least, chart.value(means.curve[i]));
      greatest = std::max(greatest, chart.value(means.curve[i]));
    }
  }
  return {least, greatest};
}

class Drawing {
 public:
  void Text(double x, double y, const char* anchor, const std::string& style,
            const std::string& text) {
    absl::StrAppendFormat(&svg_, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>%s</text>\n", x,
                          y, anchor, style, Escaped(text));
  }
  void Line(double x1, double y1, double x2, double y2, const std::string& style) {
    absl::StrAppendFormat(&svg_, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1,
                          y1, x2, y2, style);
  }
  void Raw(const std::string& text) { svg_ += text; }

  const std::string& svg() const { return svg_; }

 private:
  std::string svg_ = {};
};

std::string LineStyle(size_t policy) {
  return absl::StrFormat(
      "fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" stroke-dasharray=\"%s\" "
      "stroke-linejoin=\"round\"",
      kColours[policy % kColours.size()], kDashes[policy / 3 % kDashes.size()]);
}

void DrawChart(Drawing& drawing, const Chart& chart, const std::vector<PolicyMeans>& policies,
               double left, double top) {
  const auto x_at = [&](double x) {
    return left + (x - chart.x.from) / (chart.x.to - chart.x.from) * kChartWidth;
  };
  const auto y_at = [&](double y) {
    return top + kChartHeight - (y - chart.y.from) / (chart.y.to - chart.y.from) * kChartHeight;
  };
  const double bottom = top + kChartHeight;
  drawing.Text(left + kChartWidth / 2, top - 10, "middle", "font-size=\"13\"", chart.title);
  for (double y = chart.y.from; y <= chart.y.to + chart.y.step / 100; y += chart.y.step) {
    drawing.Line(left, y_at(y), left + kChartWidth, y_at(y), "stroke=\"#dddddd\"");
    drawing.Text(left - 7, y_at(y) + 4, "end", "font-size=\"11\"", absl::StrFormat("%g", y));
  }
  for (double x = chart.x.from; x <= chart.x.to + chart.x.step / 100; x += chart.x.step) {
    drawing.Line(x_at(x), bottom, x_at(x), bottom + 5, "stroke=\"#333333\"");
    drawing.Text(x_at(x), bottom + 18, "middle", "font-size=\"11\"", absl::StrFormat("%g", x));
  }
  drawing.Line(left, bottom, left + kChartWidth, bottom, "stroke=\"#333333\"");
  drawing.Line(left, top, left, bottom, "stroke=\"#333333\"");
  drawing.Text(left + kChartWidth / 2, bottom + 36, "middle", "font-size=\"12\"",
               "arrived load, % of all GPUs");
  drawing.Text(0, 0, "middle",
               absl::StrFormat("font-size=\"12\" transform=\"translate(%.1f %.1f) rotate(-90)\"",
                               left - 44, top + kChartHeight / 2),
               chart.y_label);
  for (size_t policy = 0; policy < policies.size(); ++policy) {
    std::string points;
    const std::vector<CurvePoint>& curve = policies[policy].curve;
    for (auto i = static_cast<size_t>(chart.x.from); i < curve.size(); ++i) {
      absl::StrAppendFormat(&points, "%.1f,%.1f ", x_at(static_cast<double>(i)),
                            y_at(chart.value(curve[i])));
    }
    drawing.Raw(absl::StrFormat("<polyline points=\"%s\" %s/>\n", points, LineStyle(policy)));
  }
}

// An axis of whole steps around the values.
Axis AxisAround(double least, double greatest) {
  const double step = StepFor(greatest - least);
  return {.from = std::floor(least / step) * step,
          .to = std::max(std::ceil(greatest / step), std::floor(least / step) + 1) * step,
          .step = step};
}

void DrawRow(Drawing& drawing, const TraceResults& trace, double top) {
  const std::vector<PolicyMeans> policies = MeansByPolicy(trace.runs);
  const auto allocated = [](const CurvePoint& point) { return point.alloc_pct; };
  const auto fragmented = [](const CurvePoint& point) { return point.frag_pct_of_capacity; };
  constexpr Axis kAllLoads = {.from = 0, .to = 130, .step = 20};
  constexpr Axis kHighLoads = {.from = 80, .to = 130, .step = 10};
  std::array<Chart, 3> charts = {
      Chart{.title = "allocated",
            .y_label = "% of all GPUs",
            .x = kAllLoads,
            .y = {.from = 0, .to = 100, .step = 20},
            .value = allocated},
      Chart{.title = "allocated, where it matters",
            .y_label = "% of all GPUs",
            .x = kHighLoads,
            .value = allocated},
      Chart{.title = "fragmented: idle, but of no use to a typical task",
            .y_label = "% of all GPUs",
            .x = kAllLoads,
            .value = fragmented},
  };
  for (size_t i = 1; i < charts.size(); ++i) {
    const auto [least, greatest] = Range(policies, charts[i]);
    charts[i].y = AxisAround(least, greatest);
  }
  drawing.Text(kGapLeft, top + 22, "start", "font-size=\"15\" font-weight=\"bold\"",
               absl::StrFormat("%s: %d nodes, %d GPUs; mean of %d runs", trace.name, trace.nodes,
                               trace.gpus, policies.empty() ? 0 : policies[0].seeds));
  double left = kGapLeft;
  for (const Chart& chart : charts) {
    DrawChart(drawing, chart, policies, left, top + kGapTop);
    left += kColumnWidth;
  }
  double y = top + kGapTop + 10;
  const double legend = kColumnWidth * charts.size();
  for (size_t policy = 0; policy < policies.size(); ++policy, y += 20) {
    drawing.Line(legend, y, legend + 28, y, LineStyle(policy));
    drawing.Text(legend + 34, y + 4, "start", "font-size=\"12\"", policies[policy].policy);
  }
}

}  // namespace

std::string DrawSvg(const std::vector<TraceResults>& traces) {
  const double width = kColumnWidth * 3 + kLegendWidth;
  const double height = kRowHeight * static_cast<double>(traces.size()) + 10;
  Drawing drawing;
  drawing.Raw(
      absl::StrFormat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                      "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" fill=\"#222222\">\n"
                      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                      width, height, width, height));
  double top = 0;
  for (const TraceResults& trace : traces) {
    DrawRow(drawing, trace, top);
    top += kRowHeight;
  }
  drawing.Raw("</svg>\n");
  return drawing.svg();
}

}  // namespace berth::simulator
