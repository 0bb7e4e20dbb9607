// Whole clips, as Python passes them: scores of one float type, kept alive here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "clips/view.hpp"
#include "python/arrays.hpp"
#include "python/detected_events.hpp"

namespace sedscope::python {

class Columns;

using ValueList = nb::typed<nb::list, ScoreArray>;
using EdgeList = nb::typed<nb::list, Vector<int64_t>>;

class Clips {
public:
    Clips(const ValueList& values, const EdgeList& edges, const Vector<int64_t>& columns)
        : columns_(columns.data(), columns.data() + columns.size()) {
        require(values.size() == edges.size(), "one array of edges per clip is needed");
        if (values.size() > 0 && has_type<double>(to_array<ScoreArray>(values[0])))
            views_ = std::vector<ClipView<double>>();
        std::visit([&](auto& views) { fill(views, values, edges); }, views_);
    }

    // Clips of which only some columns are kept. `kept` must outlive this object.
    Clips(const Columns& kept, const EdgeList& edges);
    // Clips with events as they come, in place of frames. Their boundaries are those of the events.
    explicit Clips(const DetectedEvents& detected);
    Clips(const Clips&) = delete;  // views of columns refer to `starts_`

    std::size_t size() const {
        return std::visit([](const auto& views) { return views.size(); }, views_);
    }
    // Whether the scores are whole arrays, which can be read frame by frame.
    bool has_frames() const { return arrays_.size() == size(); }
    const std::vector<int64_t>& columns() const { return columns_; }

    // Calls `use(views)` with the views of all clips, which have scores of frames.
    template <class Use>
    decltype(auto) visit(Use&& use) const {
        require(!detected_, "events have no scores of frames");
        return std::visit(std::forward<Use>(use), views_);
    }

    // Calls `use(views, table)`. With events, views have boundaries but no scores; otherwise
    // `table` is null.
    template <class Use>
    decltype(auto) visit_any(Use&& use) const {
        return std::visit(
            [&](const auto& views) {
                using T = typename std::decay_t<decltype(views)>::value_type::Score;
                const DetectionTable<T>* table = nullptr;
                if constexpr (std::is_same_v<T, double>)
                    if (detected_) table = &*detected_;
                return use(views, table);
            },
            views_);
    }

private:
    template <class T>
    void fill(std::vector<ClipView<T>>& views, const ValueList& values, const EdgeList& edges) {
        const std::size_t clips = values.size();
        views.reserve(clips);
        arrays_.reserve(clips);
        edges_.reserve(clips);
        for (std::size_t i = 0; i < clips; ++i) {
            const auto& array = arrays_.emplace_back(to_array<ScoreArray>(values[i]));
            // most clips share their frame boundaries
            if (i == 0 || !edges[i].is(edges[i - 1]))
                edges_.push_back(to_array<Vector<int64_t>>(edges[i]));
            const auto& times = edges_.back();
            require(times.size() == array.shape(0) + 1, "frames + 1 edges are needed");
            for (int64_t column : columns_)
                require(column >= 0 && static_cast<std::size_t>(column) < array.shape(1),
                        "column out of range");
            views.push_back(view_of<T>(array, times.data(), "all clips"));
        }
    }

    std::vector<int64_t> columns_;
    std::vector<ScoreArray> arrays_;
    std::vector<Vector<int64_t>> edges_;
    std::variant<std::vector<const float*>, std::vector<const double*>> starts_;  // of columns
    std::variant<std::vector<ClipView<float>>, std::vector<ClipView<double>>> views_;
    std::optional<DetectedEvents> events_;  // keeps the arrays of `detected_` alive
    std::optional<DetectionTable<double>> detected_;
    std::vector<std::vector<Time>> boundaries_;  // of events
};

// The score type of the views that `Clips::visit` passes.
template <class Views>
using ScoreOf = typename std::decay_t<Views>::value_type::Score;

}  // namespace sedscope::python
