// Clips that are whole: what can be found in them.
#include "../clips/batch_job.hpp"

#include <variant>
#include <vector>

#include "../criteria/label_free_pairs.hpp"
#include "../criteria/pairing_kernel.hpp"
#include "../criteria/segments.hpp"
#include "truth.hpp"

namespace sedscope::python {

namespace {

// The score type of a vector of clip views.
template <class Views>
using ScoreOf = typename std::decay_t<Views>::value_type::Score;

// Clips whose arrays are kept alive as long as the object lives.
class Clips {
public:
    Clips(nb::list values, nb::list edges, const Vector<int64_t>& columns)
        : columns_(columns.data(), columns.data() + columns.size()) {
        require(nb::len(values) == nb::len(edges), "one array of edges per clip is needed");
        if (nb::len(values) > 0 &&
            nb::cast<ScoreArray>(values[0], false).dtype() == nb::dtype<double>())
            views_ = std::vector<ClipView<double>>();
        std::visit([&](auto& views) { fill(views, values, edges); }, views_);
    }

    nb::object maxima(std::size_t threads) const {
        return std::visit(
            [&](const auto& views) {
                Buffer<ScoreOf<decltype(views)>> out(views.size() * columns_.size());
                {
                    nb::gil_scoped_release release;
                    clip_maxima(views, columns_, threads, out.data());
                }
                return to_numpy(std::move(out), views.size(), columns_.size());
            },
            views_);
    }

    nb::tuple intersection_deltas(const Truth& truth, double dtc, double gtc,
                                  std::optional<double> cttc) const {
        const Intersection criterion{{dtc}, {gtc}, {cttc.value_or(1)}, cttc.has_value()};
        return deltas(truth,
                      [&](auto score) { return IntersectionKernel<decltype(score)>(criterion); });
    }

    nb::tuple collar_deltas(const Truth& truth, const Collar& collar, bool cross_triggers,
                            bool errors) const {
        return deltas(truth, [&](auto score) {
            return MatchingKernel<decltype(score), Collar>(collar, cross_triggers, errors);
        });
    }

    nb::tuple overlap_deltas(const Truth& truth, const Overlap& overlap,
                             bool cross_triggers) const {
        return deltas(truth, [&](auto score) {
            return MatchingKernel<decltype(score), Overlap>(overlap, cross_triggers, false);
        });
    }

    template <class Pairing>
    nb::tuple any_label_pairs(const Truth& truth, const Pairing& pairing) const {
        return std::visit(
            [&](const auto& views) {
                using T = ScoreOf<decltype(views)>;
                require(truth.starts.size() == views.size() + 1, "clips + 1 starts are needed");
                Buffer<int64_t> starts(views.size() + 1);
                DetectionRows<T> rows;
                {
                    nb::gil_scoped_release release;
                    rows = sedscope::any_label_pairs(views, columns_, truth.table(), pairing,
                                                     truth.threads, starts.data());
                }
                return nb::make_tuple(to_numpy(std::move(starts)), to_numpy(std::move(rows.scores)),
                                      to_numpy(std::move(rows.tp)));
            },
            views_);
    }

    // Segment scores of one type: that of the scores for the maximum, double for the mean.
    nb::object segment_scores(const Vector<int64_t>& starts, const Vector<int64_t>& durations,
                              int64_t length, bool mean, std::size_t threads) const {
        return std::visit(
            [&](const auto& views) -> nb::object {
                require(starts.size() == views.size() + 1 && durations.size() == views.size(),
                        "clips + 1 starts and one duration per clip are needed");
                const auto segments = static_cast<std::size_t>(starts.data()[views.size()]);
                auto find = [&](auto zero) {
                    Buffer<decltype(zero)> out(segments * columns_.size());
                    {
                        nb::gil_scoped_release release;
                        sedscope::segment_scores(views, columns_, starts.data(), durations.data(),
                                                 length, mean, threads, out.data());
                    }
                    return to_numpy(std::move(out), segments, columns_.size());
                };
                if (mean) return find(double{});
                return find(ScoreOf<decltype(views)>{});
            },
            views_);
    }

    // All detections of a clip and class: onset, offset, score, parent's score.
    nb::tuple detections(std::size_t clip, std::size_t class_number) const {
        require(class_number < columns_.size(), "class out of range");
        return std::visit(
            [&](const auto& views) {
                using T = ScoreOf<decltype(views)>;
                require(clip < views.size(), "clip out of range");
                Buffer<int64_t> first, end;
                Buffer<T> scores, parents;
                std::vector<T> copy;
                const T* column = load_column(views[clip], columns_[class_number], copy);
                const Time* edges = views[clip].edges;
                auto note = [&](const Detection<T>& detection, int32_t*) {
                    first.push(edges[detection.first]);
                    end.push(edges[detection.end]);
                    scores.push(detection.score);
                    parents.push(detection.parent);
                };
                auto ignore = [](T, const int32_t*) {};
                ComponentTree<T> tree;
                tree.begin(-std::numeric_limits<T>::infinity(), 0);
                tree.feed(column, views[clip].frames, note, ignore);
                tree.finish(note, ignore);
                return nb::make_tuple(to_numpy(std::move(first)), to_numpy(std::move(end)),
                                      to_numpy(std::move(scores)), to_numpy(std::move(parents)));
            },
            views_);
    }

    // Numbers of events in each bin, as changes from stop to stop: (stops x bin_columns).
    nb::object error_bins(const Truth& truth, const Judge& judge, const AnyVector& stops,
                          const Vector<int64_t>& starts) const {
        return diagnose(truth, judge, stops, starts, [&](const auto& job) {
            Buffer<int64_t> changes(stops.size() * bin_columns);
            {
                nb::gil_scoped_release release;
                job.count(truth.threads, changes.data());
            }
            return to_numpy(std::move(changes), stops.size(), bin_columns);
        });
    }

    // False positives and false negatives: (clips x classes) each.
    nb::object error_costs(const Truth& truth, const Judge& judge, const AnyVector& stops,
                           const Vector<int64_t>& starts) const {
        return diagnose(truth, judge, stops, starts, [&](const auto& job) {
            const std::size_t clips = arrays_.size(), classes = columns_.size();
            Buffer<int32_t> false_positives(clips * classes), false_negatives(clips * classes);
            {
                nb::gil_scoped_release release;
                job.cost(truth.threads, false_positives.data(), false_negatives.data());
            }
            return nb::make_tuple(to_numpy(std::move(false_positives), clips, classes),
                                  to_numpy(std::move(false_negatives), clips, classes));
        });
    }

    // The detections of a clip and class at the first stop of the class; the bins of detections and
    // references; which detection is paired with, or meets, which reference; which is a
    // cross-trigger on which class.
    nb::object judged_events(const Truth& truth, const Judge& judge, const AnyVector& stops,
                             const Vector<int64_t>& starts, std::size_t clip,
                             std::size_t class_number) const {
        require(clip < arrays_.size() && class_number < columns_.size(),
                "clip or class out of range");
        return diagnose(truth, judge, stops, starts, [&](const auto& job) {
            Buffer<int64_t> times, pairs, contacts, triggered;
            Buffer<uint8_t> detection_bins, reference_bins;
            job.look(clip, class_number, [&](auto& kernel, const auto& view) {
                const Scene& scene = kernel.scene();
                for (std::size_t i = 0; i < scene.detections.size(); ++i) {
                    times.push(scene.detections[i].onset);
                    times.push(scene.detections[i].offset);
                    detection_bins.push(kernel.detection_bins()[i]);
                    if (scene.partners[i] != Matching::none) {
                        pairs.push(static_cast<int64_t>(i));
                        pairs.push(scene.partners[i]);
                    }
                    if (kernel.detection_bins()[i] == cross_trigger)
                        kernel.each_triggered(view, scene.detections[i], [&](int32_t label) {
                            triggered.push(static_cast<int64_t>(i));
                            triggered.push(label);
                        });
                }
                for (const Contact& contact : scene.contacts) {
                    contacts.push(contact.detection);
                    contacts.push(contact.reference);
                }
                for (const Bin bin : kernel.reference_bins()) reference_bins.push(bin);
            });
            auto rows = [](Buffer<int64_t>& of_two) {
                const std::size_t count = of_two.size() / 2;
                return to_numpy(std::move(of_two), count, 2);
            };
            return nb::make_tuple(rows(times), to_numpy(std::move(detection_bins)),
                                  to_numpy(std::move(reference_bins)), rows(pairs), rows(contacts),
                                  rows(triggered));
        });
    }

private:
    // Calls `use(job)` with the job of diagnosing by the judge.
    template <class Use>
    nb::object diagnose(const Truth& truth, const Judge& judge, const AnyVector& stops,
                        const Vector<int64_t>& starts, Use&& use) const {
        require(starts.size() == columns_.size() + 1 && truth.floors.size() == columns_.size(),
                "classes + 1 starts of stops and one floor per class are needed");
        require(starts.data()[0] == 0 &&
                    starts.data()[columns_.size()] == static_cast<int64_t>(stops.size()),
                "starts must begin with 0 and end with the number of stops");
        for (std::size_t c = 0; c < columns_.size(); ++c)
            require(starts.data()[c] < starts.data()[c + 1], "each class needs a stop");
        return std::visit(
            [&](const auto& views, const auto& of_criterion) -> nb::object {
                using T = ScoreOf<decltype(views)>;
                check_shape(truth, views.size());
                return use(DiagnosisJob<T, std::decay_t<decltype(of_criterion)>>(
                    views, columns_, truth.table(), data_of<T>(truth.maxima, "maxima"),
                    data_of<T>(truth.floors, "floors"), {data_of<T>(stops, "stops"), starts.data()},
                    of_criterion));
            },
            views_, judge.of_criterion);
    }

    void check_shape(const Truth& truth, std::size_t clips) const {
        require(truth.starts.size() == clips + 1, "clips + 1 starts are needed");
        require(truth.maxima.shape(0) == clips && truth.maxima.shape(1) == columns_.size(),
                "one maximum per clip and class is needed");
    }

    template <class T>
    void fill(std::vector<ClipView<T>>& views, const nb::list& values, const nb::list& edges) {
        const std::size_t clips = nb::len(values);
        views.reserve(clips);
        arrays_.reserve(clips);
        edges_.reserve(clips);
        for (std::size_t i = 0; i < clips; ++i) {
            const auto& array = arrays_.emplace_back(nb::cast<ScoreArray>(values[i], false));
            const auto& times = edges_.emplace_back(nb::cast<Vector<int64_t>>(edges[i], false));
            require(times.size() == array.shape(0) + 1, "frames + 1 edges are needed");
            for (int64_t column : columns_)
                require(column >= 0 && static_cast<std::size_t>(column) < array.shape(1),
                        "column out of range");
            views.push_back(
                {data_of<T>(array, "all clips"), static_cast<std::ptrdiff_t>(array.stride(0)),
                 static_cast<std::ptrdiff_t>(array.stride(1)), array.shape(0), times.data()});
        }
    }

    // `make_kernel(T{})` gives the kernel of a criterion for scores of type T.
    template <class MakeKernel>
    nb::tuple deltas(const Truth& truth, MakeKernel&& make_kernel) const {
        require(truth.floors.size() == columns_.size(), "one floor per class is needed");
        return std::visit(
            [&](const auto& views) {
                using T = ScoreOf<decltype(views)>;
                check_shape(truth, views.size());
                const ReferenceTable references = truth.table();
                BatchJob<T> job(views, columns_, references, data_of<T>(truth.maxima, "maxima"),
                                data_of<T>(truth.floors, "floors"));
                BatchDeltas<T> found;
                {
                    nb::gil_scoped_release release;
                    found = job.deltas([&] { return make_kernel(T{}); }, truth.threads);
                }
                return columns_of(std::move(found), columns_.size(), views.size());
            },
            views_);
    }

    std::vector<int64_t> columns_;
    std::vector<ScoreArray> arrays_;
    std::vector<Vector<int64_t>> edges_;
    std::variant<std::vector<ClipView<float>>, std::vector<ClipView<double>>> views_;
};

}  // namespace

void bind_clips(nb::module_& module) {
    nb::class_<Truth>(module, "Truth")
        .def(nb::init<Matrix<int64_t>, Vector<int32_t>, Vector<int64_t>, AnyMatrix, AnyVector,
                      std::size_t>(),
             "events"_a.noconvert(), "labels"_a.noconvert(), "starts"_a.noconvert(),
             "maxima"_a.noconvert(), "floors"_a.noconvert(), "threads"_a);
    nb::class_<Collar>(module, "Collar")
        .def(
            "__init__",
            [](Collar* made, std::optional<int64_t> onset, std::optional<int64_t> offset,
               double offset_rate) {
                new (made) Collar{onset.has_value(), offset.has_value(), onset.value_or(0),
                                  offset.value_or(0), offset_rate};
            },
            "onset"_a.none(), "offset"_a.none(), "offset_rate"_a);
    nb::class_<Overlap>(module, "Overlap")
        .def("__init__", [](Overlap* made, double iou) { new (made) Overlap{{iou}}; }, "iou"_a);
    nb::class_<Judge>(module, "Judge")
        .def(nb::init<double, double, std::optional<double>>(), "dtc"_a, "gtc"_a, "cttc"_a.none())
        .def(nb::init<const Collar&, bool>(), "pairing"_a, "cross_triggers"_a)
        .def(nb::init<const Overlap&, bool>(), "pairing"_a, "cross_triggers"_a);
    nb::class_<Clips>(module, "Clips")
        .def(nb::init<nb::list, nb::list, const Vector<int64_t>&>(), "values"_a, "edges"_a,
             "columns"_a.noconvert())
        .def("maxima", &Clips::maxima, "threads"_a)
        .def("intersection_deltas", &Clips::intersection_deltas, "truth"_a, "dtc"_a, "gtc"_a,
             "cttc"_a.none())
        .def("collar_deltas", &Clips::collar_deltas, "truth"_a, "collar"_a, "cross_triggers"_a,
             "errors"_a)
        .def("overlap_deltas", &Clips::overlap_deltas, "truth"_a, "overlap"_a, "cross_triggers"_a)
        .def("any_label_pairs", &Clips::any_label_pairs<Collar>, "truth"_a, "pairing"_a)
        .def("any_label_pairs", &Clips::any_label_pairs<Overlap>, "truth"_a, "pairing"_a)
        .def("segment_scores", &Clips::segment_scores, "starts"_a.noconvert(),
             "durations"_a.noconvert(), "length"_a, "mean"_a, "threads"_a)
        .def("detections", &Clips::detections, "clip"_a, "class_number"_a)
        .def("error_bins", &Clips::error_bins, "truth"_a, "judge"_a, "stops"_a.noconvert(),
             "starts"_a.noconvert())
        .def("error_costs", &Clips::error_costs, "truth"_a, "judge"_a, "stops"_a.noconvert(),
             "starts"_a.noconvert())
        .def("judged_events", &Clips::judged_events, "truth"_a, "judge"_a, "stops"_a.noconvert(),
             "starts"_a.noconvert(), "clip"_a, "class_number"_a);
}

}  // namespace sedscope::python
