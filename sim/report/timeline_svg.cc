// SPDX-License-Identifier: Apache-2.0
// A timeline as a picture: TBs by SM and slot, decisions above them, arrows from where a TB was
// saved to where it goes on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "report/page.h"
#include "report/timeline.h"

namespace smk::sim {
namespace {

// As page/src/theme.js has them, in light.
constexpr const char* kColours[] = {"#2a6f97", "#e07a5f", "#6a994e", "#8d5a97",
                                    "#c9a227", "#3f8f8a", "#b0567a", "#7a6f5d"};
constexpr char kInk[] = "#3d434b", kFaint[] = "#d5d8dc", kArrow[] = "#b3123a";
constexpr double kLeft = 64, kRight = 12, kTop = 64, kGap = 5, kThin = 1.0;
constexpr std::size_t kMostArrows = 400;  // more hide what they are about

const char* ReasonColour(const std::string& reason) {
  if (reason == "preempt") return "#e15759";
  return reason == "evict-sm" ? "#b07aa1" : "#b6992d";
}

// Round cycles, at least `least` apart.
std::uint64_t TickStep(double least) {
  const double power = std::pow(10, std::floor(std::log10(std::max(least, 1.0))));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return static_cast<std::uint64_t>(factor * power);
  }
  return static_cast<std::uint64_t>(10 * power);
}

class Picture {
 public:
  Picture(const RunTimeline& timeline, const TimelineView& view)
      : timeline_(timeline),
        view_(view),
        per_pixel_(static_cast<double>(view.to - view.from) / (view.width - kLeft - kRight)) {
    GiveColours();
    PlaceRows();
  }

  std::string Take() {
    const double height = bottom_ + 10;
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" viewBox=\"0 0 "
        "{0} {1:.0f}\" font-family=\"sans-serif\" font-size=\"11\">\n<title>{2}</title>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        view_.width, height, EscapedText(view_.title));
    Heading();
    Axis();
    for (const auto& [row, y] : rows_) Row(row, y);
    Stays();
    Arrows();
    Decisions();
    return text_ + "</svg>\n";
  }

 private:
  using RowKey = std::pair<std::size_t, std::uint64_t>;  // SM and slot

  bool Seen(const TimelineStay& stay) const {
    return stay.start < view_.to && stay.end > view_.from && rows_.count({stay.sm, stay.slot}) > 0;
  }
  double X(std::uint64_t cycle) const {
    const double at = (static_cast<double>(cycle) - static_cast<double>(view_.from)) / per_pixel_;
    return kLeft + std::clamp(at, 0.0, view_.width - kLeft - kRight);
  }

  // One for each name of a client, in the order in which they come.
  void GiveColours() {
    for (const std::string& name : view_.clients.empty() ? view_.kernels : view_.clients) {
      const auto found = std::find(legend_.begin(), legend_.end(), name);
      colours_.push_back(static_cast<std::size_t>(found - legend_.begin()));
      if (found == legend_.end()) legend_.push_back(name);
    }
  }
  static const char* Colour(std::size_t i) { return kColours[i % std::size(kColours)]; }
  const char* ColourOf(std::size_t kernel) const { return Colour(colours_[kernel]); }

  // One row for each slot that is used by one of these SMs, also outside of the window.
  void PlaceRows() {
    const std::set<std::size_t> wanted(view_.sms.begin(), view_.sms.end());
    for (const TimelineStay& stay : timeline_.stays) {
      if (wanted.count(stay.sm) > 0) rows_[{stay.sm, stay.slot}] = 0;
    }
    row_ =
        std::clamp(900.0 / static_cast<double>(std::max<std::size_t>(1, rows_.size())), 2.0, 14.0);
    bottom_ = kTop;
    std::size_t sm = ~std::size_t{0};
    for (auto& [key, y] : rows_) {
      if (key.first != sm) bottom_ += kGap;
      sm = key.first;
      y = bottom_;
      bottom_ += row_;
    }
  }

  void Text(double x, double y, const char* anchor, const std::string& words) {
    text_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n", x,
                    y, anchor, kInk, EscapedText(words));
  }
  void Line(double x1, double y1, double x2, double y2, const char* colour) {
    text_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1,
        x2, y2, colour);
  }

  void Heading() {
    text_ += fmt::format(
        "<text x=\"{}\" y=\"16\" font-size=\"13\" font-weight=\"600\" fill=\"{}\">{}</text>\n",
        kLeft, kInk, EscapedText(view_.title));
    double x = kLeft;
    for (std::size_t i = 0; i < legend_.size(); ++i) {
      text_ += fmt::format("<rect x=\"{:.1f}\" y=\"24\" width=\"9\" height=\"9\" fill=\"{}\"/>\n",
                           x, Colour(i));
      Text(x + 14, 32, "start", legend_[i]);
      x += 30 + 7.0 * static_cast<double>(legend_[i].size());
    }
  }

  void Axis() {
    const std::uint64_t step = TickStep(110 * per_pixel_);
    for (std::uint64_t at = (view_.from + step - 1) / step * step; at <= view_.to; at += step) {
      Line(X(at), kTop - 8, X(at), bottom_, kFaint);
      const bool last = X(at) > view_.width - 40;
      Text(last ? view_.width - 2 : X(at), 46, last ? "end" : "middle", fmt::to_string(at));
    }
    Text(kLeft - 8, 46, "end", "cycle");
    Text(kLeft - 8, kTop - 4, "end", "decisions");
  }

  void Row(const RowKey& row, double y) {
    const auto next = rows_.upper_bound(row);
    const bool first = rows_.lower_bound({row.first, 0})->first == row;
    if (first) Text(kLeft - 8, y + 9, "end", fmt::format("SM {}", row.first));
    if (next == rows_.end() || next->first.first != row.first) {
      Line(kLeft, y + row_ + kGap / 2, view_.width - kRight, y + row_ + kGap / 2, kFaint);
    }
  }

  void Box(double x, double width, double y, std::size_t kernel, const std::string& rest) {
    text_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"{}\n", x, y,
        width, row_ > 3 ? row_ - 1 : row_, ColourOf(kernel), rest);
  }

  // Stays thinner than a pixel are drawn together, one box for each pixel and row.
  void Stays() {
    std::map<std::tuple<RowKey, int>, std::map<std::size_t, std::uint64_t>> thin;
    for (const TimelineStay& stay : timeline_.stays) {
      if (!Seen(stay)) continue;
      const RowKey row{stay.sm, stay.slot};
      const double from = X(stay.start), to = X(stay.end);
      if (static_cast<double>(stay.end - stay.start) < kThin * per_pixel_) {
        thin[{row, static_cast<int>(from)}][stay.kernel] += stay.end - stay.start;
        continue;
      }
      const double y = rows_.at(row);
      Box(from, std::max(kThin, to - from - (to - from > 4 ? 0.7 : 0)), y, stay.kernel,
          fmt::format(
              "><title>{} TB {}, launch {}, SM {} slot {}, cycles {} to {}, {}</title></rect>",
              EscapedText(view_.kernels[stay.kernel]), stay.tb, stay.launch, stay.sm, stay.slot,
              stay.start, stay.end, EscapedText(stay.outcome)));
      if (stay.restored && stay.start >= view_.from) {
        text_ += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"1.5\" height=\"{:.1f}\" fill=\"{}\"/>\n", from,
            y, row_ > 3 ? row_ - 1 : row_, kArrow);
      }
    }
    for (const auto& [place, cycles] : thin) {
      const auto most = std::max_element(cycles.begin(), cycles.end(),
                                         [](auto& a, auto& b) { return a.second < b.second; });
      double sum = 0;
      for (const auto& [kernel, amount] : cycles) sum += static_cast<double>(amount);
      Box(std::get<1>(place), kThin, rows_.at(std::get<0>(place)), most->first,
          fmt::format(" fill-opacity=\"{:.2f}\"/>", 0.25 + 0.75 * std::min(1.0, sum / per_pixel_)));
    }
  }

  void Arrows() {
    std::map<std::tuple<std::size_t, std::uint64_t, std::uint64_t>, const TimelineStay*> saved;
    std::vector<std::pair<const TimelineStay*, const TimelineStay*>> arrows;
    for (const TimelineStay& stay : timeline_.stays) {
      const auto key = std::make_tuple(stay.kernel, stay.launch, stay.tb);
      const auto before = saved.find(key);
      if (before != saved.end()) {
        const TimelineStay& from = *before->second;
        if (Seen(from) && Seen(stay) && from.end <= view_.to && stay.start >= view_.from) {
          arrows.emplace_back(&from, &stay);
        }
        saved.erase(before);
      }
      if (stay.outcome == "saved" || stay.outcome == "flushed") saved[key] = &stay;
    }
    if (arrows.size() > kMostArrows) return;
    for (const auto& [from, to] : arrows) Arrow(*from, *to);
  }
  void Arrow(const TimelineStay& from, const TimelineStay& to) {
    const double x1 = X(from.end), y1 = rows_.at({from.sm, from.slot}) + row_ / 2;
    const double x2 = X(to.start), y2 = rows_.at({to.sm, to.slot}) + row_ / 2;
    const double bend = std::clamp((x2 - x1) / 2, 6.0, 40.0);
    text_ += fmt::format(
        "<path d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}l-5 -3m5 3l-5 3\" "
        "fill=\"none\" stroke=\"{}\" stroke-opacity=\"0.55\"/>\n",
        x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2, kArrow);
  }

  void Decisions() {
    double last = -kLeft;
    for (const TimelineDecision& d : timeline_.decisions) {
      const bool wanted = std::find(view_.sms.begin(), view_.sms.end(), d.sm) != view_.sms.end();
      if (!wanted || d.cycle < view_.from || d.cycle >= view_.to || X(d.cycle) - last < 1.5)
        continue;
      last = X(d.cycle);
      text_ += fmt::format(
          "<path d=\"M{:.1f} {}v10\" stroke=\"{}\"><title>{} at {} for {} on SM "
          "{}</title></path>\n",
          last, kTop - 12, ReasonColour(d.reason), EscapedText(d.reason), d.cycle,
          EscapedText(view_.kernels[d.kernel]), d.sm);
    }
  }

  const RunTimeline& timeline_;
  const TimelineView& view_;
  const double per_pixel_;
  std::vector<std::string> legend_;
  std::vector<std::size_t> colours_;  // by kernel: place in the legend
  std::map<RowKey, double> rows_;     // and their places
  double row_ = 0, bottom_ = 0;
  std::string text_;
};

}  // namespace

std::string TimelineSvg(const RunTimeline& timeline, const TimelineView& view) {
  return Picture(timeline, view).Take();
}

}  // namespace smk::sim
