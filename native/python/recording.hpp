// One clip whose scores arrive in pieces, and the work on it that waits for more pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "clips/view.hpp"
#include "python/arrays.hpp"
#include "python/truth.hpp"

namespace sedscope::python {

// Work on a recording. It keeps the arrays alive that it reads. Its result has any type in C++, so
// what opens one says its type to the stub.
class OpenRecording {
public:
    // `algorithm->feed(view)` takes a piece, which has at least `columns` columns;
    // `to_python(algorithm->finish())` makes the result.
    template <class T, class Algorithm, class ToPython>
    OpenRecording(const Vector<int64_t>& edges, std::size_t columns, std::optional<Truth> truth,
                  std::unique_ptr<Algorithm> algorithm, ToPython to_python, T)
        : edges_(edges),
          truth_(std::move(truth)),
          work_(std::make_unique<Work<T, Algorithm, ToPython>>(columns, std::move(algorithm),
                                                               std::move(to_python))) {}

    void feed(const ScoreArray& values) {
        require(work_ && frames_ + values.shape(0) < edges_.size(), "more frames than edges");
        work_->feed(values, edges_.data() + frames_);
        frames_ += values.shape(0);
    }

    nb::object finish() {
        require(work_ && frames_ + 1 == edges_.size(), "frames + 1 edges are needed");
        nb::object result = work_->finish();
        work_.reset();
        return result;
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
            const ClipView<T> piece = view_of<T>(values, edges, "all pieces");
            nb::gil_scoped_release release;
            algorithm_->feed(piece);
        }
        nb::object finish() override {
            decltype(algorithm_->finish()) result;
            {
                nb::gil_scoped_release release;
                result = algorithm_->finish();
                algorithm_.reset();
            }
            return nb::cast(to_python_(std::move(result)));
        }

    private:
        const std::size_t columns_;
        std::unique_ptr<Algorithm> algorithm_;
        ToPython to_python_;
    };

    Vector<int64_t> edges_;
    std::optional<Truth> truth_;
    std::unique_ptr<AnyWork> work_;
    std::size_t frames_ = 0;  // so far
};

class Recording {
public:
    Recording(const Vector<int64_t>& edges, const Vector<int64_t>& columns, bool is_double)
        : edges_(edges), columns_(columns.data(), columns.data() + columns.size()) {
        require(edges.size() > 0, "frames + 1 edges are needed");
        for (int64_t column : columns_) {
            require(column >= 0, "column out of range");
            width_ = std::max(width_, static_cast<std::size_t>(column) + 1);
        }
        if (is_double) zero_ = 0.0;
    }

    const std::vector<int64_t>& columns() const { return columns_; }
    const Time* edges() const { return edges_.data(); }
    std::size_t boundaries() const { return edges_.size(); }

    // Starts work on the recording. `make_algorithm(T{})` returns a unique pointer to an algorithm
    // for scores of type T; `to_python` turns what it finds into a result.
    template <class MakeAlgorithm, class ToPython>
    OpenRecording open(const std::optional<Truth>& truth, MakeAlgorithm&& make_algorithm,
                       ToPython&& to_python) const {
        return std::visit(
            [&](auto zero) {
                return OpenRecording(edges_, width_, truth, make_algorithm(zero), to_python, zero);
            },
            zero_);
    }

private:
    Vector<int64_t> edges_;
    std::vector<int64_t> columns_;
    std::size_t width_ = 0;             // the columns that each piece needs
    std::variant<float, double> zero_;  // of the type of the scores
};

}  // namespace sedscope::python
