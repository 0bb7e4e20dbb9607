// A clip that comes in pieces.
#include <functional>
#include <memory>
#include <vector>

#include "../criteria/label_free_pairs.hpp"
#include "../criteria/pairing_kernel.hpp"
#include "../clips/open_clip.hpp"
#include "../criteria/segments.hpp"
#include "truth.hpp"

namespace sedscope::python {

namespace {

// Something that is found in a recording piece by piece. The arrays that it looks at are kept
// alive.
class OpenRecording {
public:
    // `algorithm` is fed with views of the pieces, which have at least so many columns;
    // `to_python(found)` says what it found in the end.
    template <class T, class Algorithm, class ToPython>
    static OpenRecording of(const Vector<int64_t>& edges, std::size_t columns, const Truth* truth,
                            std::unique_ptr<Algorithm> algorithm, ToPython to_python) {
        OpenRecording made;
        made.edges_ = edges;
        if (truth) made.truth_ = *truth;
        made.work_ = std::make_unique<Work<T, Algorithm, ToPython>>(columns, std::move(algorithm),
                                                                    std::move(to_python));
        return made;
    }

    void feed(const ScoreArray& values) {
        require(work_ && frames_ + values.shape(0) < edges_.size(), "more frames than edges");
        work_->feed(values, edges_.data() + frames_);
        frames_ += values.shape(0);
    }

    nb::object finish() {
        require(work_ && frames_ + 1 == edges_.size(), "frames + 1 edges are needed");
        nb::object found = work_->finish();
        work_.reset();
        return found;
    }

private:
    struct AnyWork {
        virtual ~AnyWork() = default;
        virtual void feed(const ScoreArray& values, const Time* edges) = 0;
        virtual nb::object finish() = 0;
    };

    template <class T, class Algorithm, class ToPython>
    class Work : public AnyWork {
    public:
        Work(std::size_t columns, std::unique_ptr<Algorithm> algorithm, ToPython to_python)
            : columns_(columns),
              algorithm_(std::move(algorithm)),
              to_python_(std::move(to_python)) {}

        void feed(const ScoreArray& values, const Time* edges) override {
            require(values.shape(1) >= columns_, "column out of range");
            const ClipView<T> piece{
                data_of<T>(values, "all pieces"), static_cast<std::ptrdiff_t>(values.stride(0)),
                static_cast<std::ptrdiff_t>(values.stride(1)), values.shape(0), edges};
            nb::gil_scoped_release release;
            algorithm_->feed(piece);
        }
        nb::object finish() override {
            decltype(algorithm_->finish()) found;
            {
                nb::gil_scoped_release release;
                found = algorithm_->finish();
                algorithm_.reset();
            }
            return to_python_(std::move(found));
        }

    private:
        const std::size_t columns_;
        std::unique_ptr<Algorithm> algorithm_;
        ToPython to_python_;
    };

    Vector<int64_t> edges_;
    std::optional<Truth> truth_;
    std::unique_ptr<AnyWork> work_;
    std::size_t frames_ = 0;  // how many have come
};

// One clip whose scores come in pieces: what can be found in it, as in clips that are whole.
class Recording {
public:
    Recording(const Vector<int64_t>& edges, const Vector<int64_t>& columns, bool is_double)
        : edges_(edges), columns_(columns.data(), columns.data() + columns.size()) {
        require(edges.size() > 0, "frames + 1 edges are needed");
        for (int64_t column : columns_) {
            require(column >= 0, "column out of range");
            needed_ = std::max(needed_, static_cast<std::size_t>(column) + 1);
        }
        if (is_double) zero_ = 0.0;
    }

    OpenRecording intersection_deltas(const Truth& truth, double dtc, double gtc,
                                      std::optional<double> cttc) const {
        const Intersection criterion{{dtc}, {gtc}, {cttc.value_or(1)}, cttc.has_value()};
        return deltas(truth,
                      [&](auto score) { return IntersectionKernel<decltype(score)>(criterion); });
    }

    OpenRecording collar_deltas(const Truth& truth, const Collar& collar, bool cross_triggers,
                                bool errors) const {
        return deltas(truth, [&](auto score) {
            return MatchingKernel<decltype(score), Collar>(collar, cross_triggers, errors);
        });
    }

    OpenRecording overlap_deltas(const Truth& truth, const Overlap& overlap,
                                 bool cross_triggers) const {
        return deltas(truth, [&](auto score) {
            return MatchingKernel<decltype(score), Overlap>(overlap, cross_triggers, false);
        });
    }

    template <class Pairing>
    OpenRecording any_label_pairs(const Truth& truth, const Pairing& pairing) const {
        require(truth.starts.size() == 2, "2 starts are needed");
        return std::visit(
            [&](auto zero) {
                using T = decltype(zero);
                using Algorithm = OpenAnyLabel<T, Pairing>;
                auto algorithm = std::make_unique<Algorithm>(columns_, truth.table(), edges_.data(),
                                                             edges_.size(), pairing);
                return open<T>(&truth, std::move(algorithm), [](DetectionRows<T>&& rows) {
                    Buffer<int64_t> starts(2);
                    starts[0] = 0;
                    starts[1] = static_cast<int64_t>(rows.size());
                    return nb::make_tuple(to_numpy(std::move(starts)),
                                          to_numpy(std::move(rows.scores)),
                                          to_numpy(std::move(rows.tp)));
                });
            },
            zero_);
    }

    OpenRecording segment_scores(std::size_t segments, int64_t duration, int64_t length,
                                 bool mean) const {
        return std::visit(
            [&](auto zero) {
                using T = decltype(zero);
                auto find = [&](auto score) {
                    using Out = decltype(score);
                    auto algorithm = std::make_unique<OpenSegments<T, Out>>(
                        columns_, edges_.data(), duration, segments, length, mean);
                    return open<T>(nullptr, std::move(algorithm),
                                   [segments, classes = columns_.size()](Buffer<Out>&& scores) {
                                       return to_numpy(std::move(scores), segments, classes);
                                   });
                };
                return mean ? find(double{}) : find(T{});
            },
            zero_);
    }

private:
    template <class T, class Algorithm, class ToPython>
    OpenRecording open(const Truth* truth, std::unique_ptr<Algorithm> algorithm,
                       ToPython&& to_python) const {
        return OpenRecording::of<T>(edges_, needed_, truth, std::move(algorithm),
                                    std::forward<ToPython>(to_python));
    }

    // `make_kernel(T{})` gives the kernel of a criterion for scores of type T.
    template <class MakeKernel>
    OpenRecording deltas(const Truth& truth, MakeKernel&& make_kernel) const {
        require(truth.floors.size() == columns_.size(), "one floor per class is needed");
        require(truth.starts.size() == 2, "2 starts are needed");
        return std::visit(
            [&](auto zero) {
                using T = decltype(zero);
                using Algorithm = OpenClip<T, decltype(make_kernel(zero))>;
                auto algorithm =
                    std::make_unique<Algorithm>(columns_, truth.table(), edges_.data(),
                                                edges_.size(), data_of<T>(truth.floors, "floors"),
                                                truth.threads, [&] { return make_kernel(T{}); });
                return open<T>(&truth, std::move(algorithm),
                               [classes = columns_.size()](BatchDeltas<T>&& found) {
                                   return columns_of(std::move(found), classes, 1);
                               });
            },
            zero_);
    }

    Vector<int64_t> edges_;
    std::vector<int64_t> columns_;
    std::size_t needed_ = 0;            // columns of each piece
    std::variant<float, double> zero_;  // of the type of the scores
};

}  // namespace

void bind_recording(nb::module_& module) {
    nb::class_<OpenRecording>(module, "OpenRecording")
        .def("feed", &OpenRecording::feed, "values"_a.noconvert())
        .def("finish", &OpenRecording::finish);
    nb::class_<Recording>(module, "Recording")
        .def(nb::init<const Vector<int64_t>&, const Vector<int64_t>&, bool>(),
             "edges"_a.noconvert(), "columns"_a.noconvert(), "is_double"_a)
        .def("intersection_deltas", &Recording::intersection_deltas, "truth"_a, "dtc"_a, "gtc"_a,
             "cttc"_a.none())
        .def("collar_deltas", &Recording::collar_deltas, "truth"_a, "collar"_a, "cross_triggers"_a,
             "errors"_a)
        .def("overlap_deltas", &Recording::overlap_deltas, "truth"_a, "overlap"_a,
             "cross_triggers"_a)
        .def("any_label_pairs", &Recording::any_label_pairs<Collar>, "truth"_a, "pairing"_a)
        .def("any_label_pairs", &Recording::any_label_pairs<Overlap>, "truth"_a, "pairing"_a)
        .def("segment_scores", &Recording::segment_scores, "segments"_a, "duration"_a, "length"_a,
             "mean"_a);
}

}  // namespace sedscope::python
