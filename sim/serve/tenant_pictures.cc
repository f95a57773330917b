// SPDX-License-Identifier: Apache-2.0
// Shares over time as a picture, and tokens as a timeline.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "serve/tenant_serve.h"

namespace smk::sim {
namespace {

using gemini::Nanoseconds;
using gemini::ShareSample;
using gemini::TenantResult;
using gemini::TokenRecord;
using nlohmann::ordered_json;

constexpr const char* kColours[] = {"#2a6f97", "#e07a5f", "#6a994e", "#8d5a97",
                                    "#b6992d", "#4a4e69", "#d1495b", "#00798c"};
constexpr double kWidth = 900, kLeft = 60, kTop = 30, kPlot = 260, kRight = 20;

// Text as XML has it.
std::string Escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else if (c == '"') {
      safe += "&quot;";
    } else {
      safe += c;
    }
  }
  return safe;
}

// A share of the window; without tokens, of the time since the sample before.
double ShareAt(const TenantResult& result, std::size_t sample, std::size_t client) {
  const ShareSample& now = result.samples[sample];
  if (!result.tokens.empty()) {
    return now.window == 0
               ? 0
               : static_cast<double>(now.allocated[client]) / static_cast<double>(now.window);
  }
  const Nanoseconds before = sample == 0 ? 0 : result.samples[sample - 1].executed[client];
  const Nanoseconds since = sample == 0 ? 0 : result.samples[sample - 1].time;
  return static_cast<double>(now.executed[client] - before) / static_cast<double>(now.time - since);
}

// A round step for at most eight marks of the axis.
Nanoseconds AxisStep(Nanoseconds time) {
  Nanoseconds step = 1;
  while (time / step > 8) {
    for (const Nanoseconds factor : {2, 5, 10}) {
      if (time / (step * factor) <= 8) return step * factor;
    }
    step *= 10;
  }
  return step;
}

class Picture {
 public:
  Picture(const TenantServing& serving, const TenantResult& result)
      : serving_(serving), result_(result), end_(std::max<Nanoseconds>(1, result.time)) {}

  std::string Take() {
    const std::size_t clients = serving_.spec.request.clients.size();
    const double height = kTop + kPlot + 50 + 18 * static_cast<double>(clients);
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" "
        "fill=\"#ffffff\"/>\n",
        kWidth, height);
    Text(kLeft, 18, "start",
         fmt::format("{}, scheduler {}: {}", serving_.spec.name, serving_.scheduler.text,
                     result_.tokens.empty() ? "share of the GPU's time since the sample before"
                                            : "share of the sliding window"));
    Axes();
    for (std::size_t i = 0; i < clients; ++i) Client(i);
    return text_ + "</svg>\n";
  }

 private:
  double X(Nanoseconds time) const {
    return kLeft +
           static_cast<double>(time) / static_cast<double>(end_) * (kWidth - kLeft - kRight);
  }
  static double Y(double share) { return kTop + kPlot * (1 - share); }

  void Text(double x, double y, const char* anchor, const std::string& words) {
    text_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"#3d434b\">{}</text>\n", x, y,
        anchor, Escaped(words));
  }
  void Line(double x1, double y1, double x2, double y2) {
    text_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#d5d8dc\"/>\n", x1,
        y1, x2, y2);
  }

  void Axes() {
    for (int percent = 0; percent <= 100; percent += 20) {
      Line(kLeft, Y(percent / 100.0), kWidth - kRight, Y(percent / 100.0));
      Text(kLeft - 6, Y(percent / 100.0) + 4, "end", fmt::format("{} %", percent));
    }
    const Nanoseconds step = AxisStep(end_);
    for (Nanoseconds at = 0; at <= end_; at += step) {
      Line(X(at), Y(0), X(at), Y(0) + 5);
      Text(X(at), Y(0) + 18, "middle", fmt::format("{:g} s", static_cast<double>(at) / 1e9));
    }
  }

  void Client(std::size_t client) {
    const char* colour = kColours[client % std::size(kColours)];
    const gemini::ClientScript& script = serving_.spec.request.clients[client];
    const gemini::ClientRecord& record = result_.clients[client];
    // As many points as the picture has room for.
    const std::size_t every = result_.samples.size() / 800 + 1;
    std::string points;
    for (std::size_t i = 0; i < result_.samples.size(); i += every) {
      const Nanoseconds at = result_.samples[i].time;
      if (at < record.started || (record.ended != gemini::kNeverNs && at > record.ended)) continue;
      points += fmt::format("{:.1f},{:.1f} ", X(at), Y(ShareAt(result_, i, client)));
    }
    text_ +=
        fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" points=\"{}\"/>\n",
                    colour, points);
    const double y = kTop + kPlot + 40 + 18 * static_cast<double>(client);
    text_ += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n",
                         kLeft, y, colour);
    Text(kLeft + 16, y + 9, "start",
         fmt::format("{} (request {:g} %, limit {:g} %)", script.name,
                     static_cast<double>(script.request) / 1e4,
                     static_cast<double>(script.limit) / 1e4));
  }

  const TenantServing& serving_;
  const TenantResult& result_;
  const Nanoseconds end_;
  std::string text_;
};

// Microseconds with three decimals, so that no nanosecond is lost.
std::string Micro(Nanoseconds time) { return fmt::format("{}.{:03}", time / 1000, time % 1000); }

// A Chrome trace. One that is full ends everywhere at one time.
class Trace {
 public:
  Trace(const TenantServing& serving, const TenantResult& result, std::size_t most)
      : serving_(serving), result_(result), to_(result.time) {
    Tokens();
    for (const auto& [client, burst] : result.bursts) {
      Add({client, 3, "burst", burst.start, burst.end, {}, burst.kernels});
    }
    FindCut(most);
  }

  TenantTimeline Take() {
    Names();
    for (const Slice& slice : slices_) Write(slice);
    Shares();
    return {
        fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{},\n\"traceEvents\":[\n{}\n]}}\n",
                    OtherData().dump(), fmt::join(events_, ",\n")),
        cut_};
  }

 private:
  struct Slice {
    std::size_t client;
    int track;
    const char* name;
    Nanoseconds start, end;
    std::optional<Nanoseconds> quota;
    std::optional<std::uint64_t> kernels;
  };

  std::size_t clients() const { return serving_.spec.request.clients.size(); }
  void Add(const Slice& slice) {
    if (slice.start < slice.end) slices_.push_back(slice);
  }
  void Tokens() {
    for (const TokenRecord& record : result_.tokens) {
      const gemini::Token& token = record.token;
      Add({token.client, 1, gemini::Name(record.reason), token.start,
           std::min(record.end, token.expiry()), token.quota, record.kernels});
      Add({token.client, 2, "overuse", token.expiry(), record.end, {}, {}});
    }
  }

  // A limit on slices and shares together.
  void FindCut(std::size_t most) {
    std::vector<Nanoseconds> starts;
    for (const Slice& slice : slices_) starts.push_back(slice.start);
    for (const ShareSample& sample : result_.samples) {
      starts.insert(starts.end(), clients(), sample.time);
    }
    if (starts.size() <= most) return;
    const auto next = starts.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(starts.begin(), next, starts.end());
    cut_ = to_ = *next;
  }
  bool Shown(Nanoseconds start) const { return !cut_ || start < *cut_; }

  ordered_json OtherData() const {
    ordered_json other;
    other["workload"] = serving_.spec.name;
    other["scheduler"] = serving_.scheduler.text;
    other["time_ns"] = result_.time;
    other["to_ns"] = to_;
    other["complete"] = !cut_.has_value();
    return other;
  }

  void Names() {
    for (std::size_t i = 0; i < clients(); ++i) {
      events_.push_back(
          fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", i,
                      ordered_json(serving_.spec.request.clients[i].name).dump()));
      for (const auto& [tid, name] : {std::pair(1, "tokens"), {2, "overuse"}, {3, "bursts"}}) {
        events_.push_back(fmt::format(
            R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})", i, tid,
            name));
      }
    }
  }
  void Write(const Slice& slice) {
    if (!Shown(slice.start)) return;
    const Nanoseconds end = cut_ ? std::min(slice.end, *cut_) : slice.end;
    ordered_json args = ordered_json::object();
    if (slice.quota) args["quota_ns"] = *slice.quota;
    if (slice.kernels) args["kernels"] = *slice.kernels;
    events_.push_back(fmt::format(
        R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{}}})", slice.name,
        slice.client, slice.track, Micro(slice.start), Micro(end - slice.start), args.dump()));
  }
  void Shares() {
    for (std::size_t s = 0; s < result_.samples.size(); ++s) {
      const Nanoseconds time = result_.samples[s].time;
      for (std::size_t i = 0; Shown(time) && i < clients(); ++i) {
        events_.push_back(fmt::format(
            R"({{"ph":"C","name":"share","pid":{},"ts":{},"args":{{"percent":{:.2f}}}}})", i,
            Micro(time), 100 * ShareAt(result_, s, i)));
      }
    }
  }

  const TenantServing& serving_;
  const TenantResult& result_;
  Nanoseconds to_;
  std::optional<Nanoseconds> cut_;
  std::vector<Slice> slices_;
  std::vector<std::string> events_;
};

}  // namespace

std::string SharesSvg(const TenantServing& serving, const TenantResult& result) {
  return Picture(serving, result).Take();
}

TenantTimeline TenantTimelineJson(const TenantServing& serving, const TenantResult& result,
                                  std::size_t max_events) {
  return Trace(serving, result, max_events).Take();
}

}  // namespace smk::sim
