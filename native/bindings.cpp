// The Python face of the core. All arrays are taken as they are: a wrong type is an error, never a
// conversion.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "accumulate.hpp"
#include "any_label.hpp"
#include "clips.hpp"
#include "diagnosis.hpp"
#include "event_boxes.hpp"
#include "intersection.hpp"
#include "judges.hpp"
#include "matching_kernel.hpp"
#include "median_filter.hpp"
#include "moving_average.hpp"
#include "pairings.hpp"
#include "piecewise.hpp"
#include "resampled_psds.hpp"
#include "resampling.hpp"
#include "runs.hpp"
#include "segments.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace sedscope;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ScoreArray = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T, class... Shape>
nb::object to_numpy(Buffer<T>&& buffer, Shape... shape) {
    T* data = buffer.release();
    nb::capsule owner(data, [](void* memory) noexcept { std::free(memory); });
    return nb::ndarray<nb::numpy, T>(data, {static_cast<std::size_t>(shape)...}, owner).cast();
}

template <class T>
nb::object to_numpy(Buffer<T>&& buffer) {
    const std::size_t size = buffer.size();
    return to_numpy(std::move(buffer), size);
}

// Data of an array that must have the score type T.
template <class T, class Array>
const T* data_of(const Array& array, const char* name) {
    if (array.dtype() != nb::dtype<T>())
        throw nb::type_error((std::string(name) + " must have the type of the scores").c_str());
    return static_cast<const T*>(array.data());
}

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

// References of the clips, and what bounds the work: the largest scores, the floors, the threads.
struct Truth {
    Matrix<int64_t> events;
    Vector<int32_t> labels;
    Vector<int64_t> starts;
    AnyMatrix maxima;
    AnyVector floors;
    std::size_t threads;

    Truth(Matrix<int64_t> events, Vector<int32_t> labels, Vector<int64_t> starts, AnyMatrix maxima,
          AnyVector floors, std::size_t threads)
        : events(std::move(events)),
          labels(std::move(labels)),
          starts(std::move(starts)),
          maxima(std::move(maxima)),
          floors(std::move(floors)),
          threads(threads) {
        static_assert(sizeof(Interval) == 2 * sizeof(int64_t));
        require(this->events.shape(1) == 2 && this->events.shape(0) == this->labels.size(),
                "events must be (onset, offset) pairs, one per label");
    }

    ReferenceTable table() const {
        return {reinterpret_cast<const Interval*>(events.data()), labels.data(), starts.data()};
    }
};

// How single detections and references are judged.
struct Judge {
    std::variant<IntersectionJudge, PairingJudge<Collar>, PairingJudge<Overlap>> of_criterion;

    Judge(double dtc, double gtc, std::optional<double> cttc)
        : of_criterion(IntersectionJudge({{dtc}, {gtc}, {cttc.value_or(1)}, cttc.has_value()})) {}
    Judge(const Collar& collar, bool cross_triggers)
        : of_criterion(PairingJudge<Collar>(collar, cross_triggers)) {}
    Judge(const Overlap& overlap, bool cross_triggers)
        : of_criterion(PairingJudge<Overlap>(overlap, cross_triggers)) {}
};

// The score type of a vector of clip views.
template <class Views>
using ScoreOf = typename std::decay_t<Views>::value_type::Score;

// The classes of one clip, each given to `work(column, class)`; all columns are classes.
template <class T>
class ClipColumns {
public:
    using Score = T;

    ClipColumns(const ScoreArray& values, const Vector<int64_t>& edges)
        : classes(values.shape(1)),
          frames(values.shape(0)),
          edges(edges.data()),
          view_{data_of<T>(values, "values"), static_cast<std::ptrdiff_t>(values.stride(0)),
                static_cast<std::ptrdiff_t>(values.stride(1)), frames, edges.data()} {
        require(frames > 0 && edges.size() == frames + 1, "frames and frames + 1 edges are needed");
    }

    template <class Work>
    void each(Work&& work) const {
        std::vector<T> copy;
        for (std::size_t c = 0; c < classes; ++c)
            work(load_column(view_, static_cast<int64_t>(c), copy), c);
    }

    const std::size_t classes, frames;
    const Time* const edges;

private:
    const ClipView<T> view_;
};

// Calls `work` with the classes of one clip.
template <class Work>
nb::object with_columns(const ScoreArray& values, const Vector<int64_t>& edges, Work&& work) {
    if (values.dtype() == nb::dtype<double>()) return work(ClipColumns<double>(values, edges));
    return work(ClipColumns<float>(values, edges));
}

template <class Columns>
using ScoreOfColumns = typename std::decay_t<Columns>::Score;

// Scores (classes x frames) on the same frames: `run(column, out)` does one class.
template <class Out, class Columns, class Run>
nb::object on_same_frames(const Columns& columns, Run&& run) {
    Buffer<Out> out(columns.classes * columns.frames);
    {
        nb::gil_scoped_release release;
        columns.each([&](const auto* column, std::size_t c) {
            run(column, out.data() + c * columns.frames);
        });
    }
    return to_numpy(std::move(out), columns.classes, columns.frames);
}

// Scores (classes x frames) and edges of frames of their own: `run(column, pieces)` does one class.
template <class Out, class Columns, class Run>
nb::object on_own_frames(const Columns& columns, Run&& run) {
    Buffer<Out> out;
    Buffer<Time> grid;
    {
        nb::gil_scoped_release release;
        std::vector<Piecewise<Out>> pieces(columns.classes);
        columns.each([&](const auto* column, std::size_t c) { run(column, pieces[c]); });
        grid = common_grid(pieces, columns.edges[columns.frames]);
        out = on_grid(pieces, grid);
    }
    const std::size_t frames = grid.size() - 1;
    return nb::make_tuple(to_numpy(std::move(out), columns.classes, frames),
                          to_numpy(std::move(grid)));
}

nb::object median_filter(const ScoreArray& values, const Vector<int64_t>& edges, int64_t window) {
    require(window > 0, "a window is needed");
    return with_columns(values, edges, [&](const auto& columns) {
        using T = ScoreOfColumns<decltype(columns)>;
        return on_own_frames<T>(columns, [&, filter = MedianFilter<T>(window)](
                                             const T* column, Piecewise<T>& out) mutable {
            filter.run(column, columns.edges, columns.frames, out);
        });
    });
}

nb::object moving_average(const ScoreArray& values, const Vector<int64_t>& edges, int64_t window) {
    return with_columns(values, edges, [&](const auto& columns) {
        using T = ScoreOfColumns<decltype(columns)>;
        return on_same_frames<double>(
            columns, [&, average = MovingAverage<T>(window)](const T* column, double* out) mutable {
                average.run(column, columns.edges, columns.frames, out);
            });
    });
}

// MinimumDuration or MaximumGap.
template <template <class> class Operation>
nb::object by_length(const ScoreArray& values, const Vector<int64_t>& edges, int64_t length) {
    return with_columns(values, edges, [&](const auto& columns) {
        using T = ScoreOfColumns<decltype(columns)>;
        return on_same_frames<T>(
            columns, [&, operation = Operation<T>(length)](const T* column, T* out) mutable {
                operation.run(column, columns.edges, columns.frames, out);
            });
    });
}

nb::object hysteresis(const ScoreArray& values, const Vector<int64_t>& edges, double difference,
                      double ratio) {
    return with_columns(values, edges, [&](const auto& columns) {
        using T = ScoreOfColumns<decltype(columns)>;
        return on_same_frames<double>(
            columns, [&, operation = Hysteresis<T>()](const T* column, double* out) mutable {
                operation.run(column, columns.frames, out,
                              [&](double score) { return score / ratio + difference; });
            });
    });
}

nb::object event_boxes(const ScoreArray& values, const Vector<int64_t>& edges, int64_t window,
                       std::optional<double> absolute, std::optional<double> relative) {
    require(window > 0, "a window is needed");
    return with_columns(values, edges, [&](const auto& columns) {
        using T = ScoreOfColumns<decltype(columns)>;
        return on_own_frames<double>(columns,
                                     [&, boxes = EventBoxes<T>(window, {absolute, relative})](
                                         const T* column, Piecewise<double>& out) mutable {
                                         boxes.run(column, columns.edges, columns.frames, out);
                                     });
    });
}

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
                ComponentTree<T>().sweep(
                    column, views[clip].frames, -std::numeric_limits<T>::infinity(), 0,
                    [&](const Detection<T>& detection, int32_t*) {
                        first.push(edges[detection.first]);
                        end.push(edges[detection.end]);
                        scores.push(detection.score);
                        parents.push(detection.parent);
                    },
                    [](T, const int32_t*) {});
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
                auto& [scores, tp, fp] = found.rows.detections;
                auto& [cross_scores, cross_labels, ct] = found.rows.cross_triggers;
                const std::size_t classes = columns_.size(), clips = views.size();
                return nb::make_tuple(to_numpy(std::move(found.starts), classes, clips + 1),
                                      to_numpy(std::move(scores)), to_numpy(std::move(tp)),
                                      to_numpy(std::move(fp)),
                                      to_numpy(std::move(found.cross_starts), classes, clips + 1),
                                      to_numpy(std::move(cross_scores)),
                                      to_numpy(std::move(cross_labels)), to_numpy(std::move(ct)),
                                      to_numpy(std::move(found.error_starts), classes, clips + 1),
                                      to_numpy(std::move(found.rows.errors.scores)),
                                      to_numpy(std::move(found.rows.errors.onset)),
                                      to_numpy(std::move(found.rows.errors.offset)));
            },
            views_);
    }

    std::vector<int64_t> columns_;
    std::vector<ScoreArray> arrays_;
    std::vector<Vector<int64_t>> edges_;
    std::variant<std::vector<ClipView<float>>, std::vector<ClipView<double>>> views_;
};

template <class T, class Change>
nb::list accumulate(const Vector<int64_t>& starts, const Vector<T>& scores,
                    const Vector<Change>& tp, const Vector<Change>& fp,
                    const Vector<int64_t>& cross_starts, const Vector<T>& cross_scores,
                    const Vector<int32_t>& cross_labels, const Vector<Change>& ct,
                    std::size_t threads) {
    require(starts.size() > 0 && starts.size() == cross_starts.size(),
            "classes + 1 starts are needed");
    require(tp.size() == scores.size() && fp.size() == scores.size(), "columns differ in length");
    require(cross_labels.size() == cross_scores.size() && ct.size() == cross_scores.size(),
            "cross-trigger columns differ in length");
    const std::size_t classes = starts.size() - 1;
    std::vector<ClassCounts<T>> counts(classes);
    {
        nb::gil_scoped_release release;
        parallel_for(classes, threads, [&] {
            return [&, accumulator = Accumulator<T, Change>()](std::size_t c) mutable {
                const auto row = starts.data()[c], cross = cross_starts.data()[c];
                counts[c] = accumulator.add_up(
                    {scores.data() + row, tp.data() + row, fp.data() + row,
                     static_cast<std::size_t>(starts.data()[c + 1] - row),
                     cross_scores.data() + cross, cross_labels.data() + cross, ct.data() + cross,
                     static_cast<std::size_t>(cross_starts.data()[c + 1] - cross)});
            };
        });
    }
    nb::list result;
    for (auto& [class_scores, class_tp, class_fp, rows, labels, cross] : counts)
        result.append(nb::make_tuple(to_numpy(std::move(class_scores)),
                                     to_numpy(std::move(class_tp)), to_numpy(std::move(class_fp)),
                                     to_numpy(std::move(rows)), to_numpy(std::move(labels)),
                                     to_numpy(std::move(cross))));
    return result;
}

template <class T, class Change>
void bind_accumulate(nb::module_& module) {
    module.def("accumulate", &accumulate<T, Change>, "starts"_a.noconvert(), "scores"_a.noconvert(),
               "tp"_a.noconvert(), "fp"_a.noconvert(), "cross_starts"_a.noconvert(),
               "cross_scores"_a.noconvert(), "cross_labels"_a.noconvert(), "ct"_a.noconvert(),
               "threads"_a);
}

// Deltas of all classes by decreasing score, to be added up with the weights of their clips.
class Resampling {
public:
    Resampling(const Resampling&) = delete;
    template <class T>
    Resampling(const Vector<int64_t>& starts, const Vector<T>& scores, const Vector<int32_t>& clips,
               const Vector<int8_t>& tp, const Vector<int8_t>& fp,
               const Vector<int64_t>& cross_starts, const Vector<T>& cross_scores,
               const Vector<int32_t>& cross_clips, const Vector<int32_t>& cross_labels,
               const Vector<int8_t>& ct, std::size_t clip_count, std::size_t threads)
        : clips_(clip_count) {
        require(starts.size() > 0 && starts.size() == cross_starts.size(),
                "classes + 1 starts are needed");
        require(clips.size() == scores.size() && tp.size() == scores.size() &&
                    fp.size() == scores.size() && cross_clips.size() == cross_scores.size() &&
                    cross_labels.size() == cross_scores.size() && ct.size() == cross_scores.size(),
                "columns differ in length");
        const std::size_t classes = starts.size() - 1;
        nb::gil_scoped_release release;
        std::vector<std::optional<OrderedRows<T>>> ordered(classes);
        parallel_for(classes, threads, [&] {
            return [&](std::size_t c) {
                const auto row = starts.data()[c], cross = cross_starts.data()[c];
                ordered[c].emplace(ClipRows<T>{
                    scores.data() + row, clips.data() + row, tp.data() + row, fp.data() + row,
                    static_cast<std::size_t>(starts.data()[c + 1] - row),
                    cross_scores.data() + cross, cross_clips.data() + cross,
                    cross_labels.data() + cross, ct.data() + cross,
                    static_cast<std::size_t>(cross_starts.data()[c + 1] - cross)});
            };
        });
        auto& of_classes = rows_.emplace<std::vector<OrderedRows<T>>>();
        for (auto& of_class : ordered) of_classes.push_back(std::move(*of_class));
    }

    nb::list counts(const Vector<int32_t>& weights, bool extremes_only, std::size_t threads) const {
        require(weights.size() == clips_, "one weight per clip is needed");
        return std::visit(
            [&](const auto& of_classes) {
                using T = typename std::decay_t<decltype(of_classes)>::value_type::Score;
                std::vector<WeightedCounts<T>> counts(of_classes.size());
                {
                    nb::gil_scoped_release release;
                    parallel_for(of_classes.size(), threads, [&] {
                        return [&](std::size_t c) {
                            counts[c] = add_up(of_classes[c], weights.data(), extremes_only);
                        };
                    });
                }
                nb::list result;
                for (auto& [scores, tp, fp] : counts)
                    result.append(nb::make_tuple(to_numpy(std::move(scores)),
                                                 to_numpy(std::move(tp)), to_numpy(std::move(fp))));
                return result;
            },
            rows_);
    }

    // `variants`: resamplings of the same clips and classes; all are taken together.
    static nb::tuple psds(const nb::list& variants, const Matrix<int32_t>& weights,
                          const Vector<double>& durations, const Matrix<int64_t>& references,
                          const Matrix<double>& reference_times, const Vector<int64_t>& order,
                          double alpha_ct, double alpha_st, double max_efpr,
                          double seconds_per_unit, std::size_t threads) {
        require(nb::len(variants) > 0, "at least one resampling is needed");
        const auto& first = nb::cast<const Resampling&>(variants[0]);
        const std::size_t count = weights.shape(0), classes = order.size();
        require(weights.shape(1) == first.clips_, "one weight per clip is needed");
        require(durations.size() == count && references.shape(0) == count &&
                    references.shape(1) == classes && reference_times.shape(0) == count &&
                    reference_times.shape(1) == classes,
                "one duration per resample, and references per resample and class, are needed");
        return std::visit(
            [&](const auto& of_first) {
                using Variant = std::decay_t<decltype(of_first)>;
                std::vector<const Variant*> same;
                for (const auto& variant : variants) {
                    const auto& resampling = nb::cast<const Resampling&>(variant);
                    const auto* rows = std::get_if<Variant>(&resampling.rows_);
                    require(rows && rows->size() == classes && resampling.clips_ == first.clips_,
                            "variants must have the same type of scores, classes and clips");
                    same.push_back(rows);
                }
                Buffer<double> values(count), class_values(count * classes);
                const ResampledSets sets{count,
                                         first.clips_,
                                         classes,
                                         weights.data(),
                                         durations.data(),
                                         references.data(),
                                         reference_times.data()};
                const PsdsDefinition definition{alpha_ct, alpha_st, max_efpr, seconds_per_unit};
                {
                    nb::gil_scoped_release release;
                    resampled_psds(same, sets, definition, order.data(), threads, values.data(),
                                   class_values.data());
                }
                return nb::make_tuple(to_numpy(std::move(values)),
                                      to_numpy(std::move(class_values), count, classes));
            },
            first.rows_);
    }

private:
    std::size_t clips_;
    std::variant<std::vector<OrderedRows<float>>, std::vector<OrderedRows<double>>> rows_;
};

template <class T>
void bind_resampling(nb::class_<Resampling>& resampling) {
    resampling.def(nb::init<const Vector<int64_t>&, const Vector<T>&, const Vector<int32_t>&,
                            const Vector<int8_t>&, const Vector<int8_t>&, const Vector<int64_t>&,
                            const Vector<T>&, const Vector<int32_t>&, const Vector<int32_t>&,
                            const Vector<int8_t>&, std::size_t, std::size_t>(),
                   "starts"_a.noconvert(), "scores"_a.noconvert(), "clips"_a.noconvert(),
                   "tp"_a.noconvert(), "fp"_a.noconvert(), "cross_starts"_a.noconvert(),
                   "cross_scores"_a.noconvert(), "cross_clips"_a.noconvert(),
                   "cross_labels"_a.noconvert(), "ct"_a.noconvert(), "clip_count"_a, "threads"_a);
}

}  // namespace

NB_MODULE(_native, module) {
    module.doc() = "The compiled core of sedscope.";
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
    module.def("median_filter", &median_filter, "values"_a.noconvert(), "edges"_a.noconvert(),
               "window"_a);
    module.def("moving_average", &moving_average, "values"_a.noconvert(), "edges"_a.noconvert(),
               "window"_a);
    module.def("minimum_duration", &by_length<MinimumDuration>, "values"_a.noconvert(),
               "edges"_a.noconvert(), "length"_a);
    module.def("maximum_gap", &by_length<MaximumGap>, "values"_a.noconvert(), "edges"_a.noconvert(),
               "length"_a);
    module.def("hysteresis", &hysteresis, "values"_a.noconvert(), "edges"_a.noconvert(),
               "difference"_a, "ratio"_a);
    module.def("event_boxes", &event_boxes, "values"_a.noconvert(), "edges"_a.noconvert(),
               "window"_a, "absolute"_a.none(), "relative"_a.none());
    bind_accumulate<float, int8_t>(module);
    bind_accumulate<double, int8_t>(module);
    bind_accumulate<float, int32_t>(module);
    bind_accumulate<double, int32_t>(module);
    nb::class_<Resampling> resampling(module, "Resampling");
    bind_resampling<float>(resampling);
    bind_resampling<double>(resampling);
    resampling
        .def("counts", &Resampling::counts, "weights"_a.noconvert(), "extremes_only"_a, "threads"_a)
        .def_static("psds", &Resampling::psds, "variants"_a, "weights"_a.noconvert(),
                    "durations"_a.noconvert(), "references"_a.noconvert(),
                    "reference_times"_a.noconvert(), "order"_a.noconvert(), "alpha_ct"_a,
                    "alpha_st"_a, "max_efpr"_a, "seconds_per_unit"_a, "threads"_a);
}
