// The diagnosis of errors as Python sees it: thresholds in, types of errors out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "criteria/scene.hpp"
#include "diagnosis/diagnosis_job.hpp"
#include "python/arrays.hpp"
#include "python/clips.hpp"
#include "python/truth.hpp"

namespace sedscope::python {

// The thresholds of class c are values[starts[c]:starts[c + 1]], decreasing.
struct ThresholdTable {
    ScoreVector values;
    Vector<int64_t> starts;

    ThresholdTable(ScoreVector values, Vector<int64_t> starts)
        : values(std::move(values)), starts(std::move(starts)) {
        const std::size_t classes = this->starts.size() - 1;
        require(this->starts.size() > 0 && this->starts.data()[0] == 0 &&
                    this->starts.data()[classes] == static_cast<int64_t>(this->values.size()),
                "starts must begin with 0 and end with the number of thresholds");
        for (std::size_t c = 0; c < classes; ++c)
            require(this->starts.data()[c] < this->starts.data()[c + 1],
                    "each class needs a threshold");
    }
};

struct ClipErrors {
    NumpyArray<int32_t> fp, fn;
};

struct JudgedEvents {
    NumpyArray<int64_t> detections;
    NumpyArray<uint8_t> detection_types, reference_types;
    NumpyArray<int64_t> pairs, overlaps, cross_triggers;
};

// Calls `use(job)` with the job that diagnoses the clips by a criterion.
template <class Criterion, class Use>
auto diagnose(const Criterion& criterion, const Clips& clips, const Truth& truth,
              const ThresholdTable& thresholds, Use&& use) {
    truth.require_shape(clips.size(), clips.columns().size());
    require(thresholds.starts.size() == clips.columns().size() + 1,
            "thresholds of each class are needed");
    return clips.visit_any([&](const auto& views, const auto* detected) {
        using T = ScoreOf<decltype(views)>;
        const Thresholds<T> values{data_of<T>(thresholds.values, "thresholds"),
                                   thresholds.starts.data()};
        return use(DiagnosisJob<T, Criterion>(
            views, detected, clips.columns(), truth.table(), data_of<T>(truth.maxima, "maxima"),
            data_of<T>(truth.floors, "floors"), values, criterion));
    });
}

template <class Criterion>
NumpyArray<int64_t> count_error_types(const Criterion& criterion, const Clips& clips,
                                      const Truth& truth, const ThresholdTable& thresholds) {
    return diagnose(criterion, clips, truth, thresholds, [&](const auto& job) {
        const std::size_t rows = thresholds.values.size();
        Buffer<int64_t> changes(rows * type_columns);
        {
            nb::gil_scoped_release release;
            job.count(truth.threads, changes.data());
        }
        return to_numpy(std::move(changes), rows, type_columns);
    });
}

template <class Criterion>
ClipErrors count_clip_errors(const Criterion& criterion, const Clips& clips, const Truth& truth,
                             const ThresholdTable& thresholds) {
    return diagnose(criterion, clips, truth, thresholds, [&](const auto& job) {
        const std::size_t classes = clips.columns().size();
        Buffer<int32_t> fp(clips.size() * classes), fn(clips.size() * classes);
        {
            nb::gil_scoped_release release;
            job.count_errors(truth.threads, fp.data(), fn.data());
        }
        return ClipErrors{to_numpy(std::move(fp), clips.size(), classes),
                          to_numpy(std::move(fn), clips.size(), classes)};
    });
}

// Rows of two numbers.
class PairTable {
public:
    void add(int64_t first, int64_t second) {
        values_.push(first);
        values_.push(second);
    }
    NumpyArray<int64_t> to_numpy() {
        const std::size_t rows = values_.size() / 2;
        return python::to_numpy(std::move(values_), rows, 2);
    }

private:
    Buffer<int64_t> values_;
};

template <class Criterion>
JudgedEvents judge_events(const Criterion& criterion, const Clips& clips, const Truth& truth,
                          const ThresholdTable& thresholds, std::size_t clip,
                          std::size_t class_number) {
    require(clip < clips.size() && class_number < clips.columns().size(),
            "clip or class out of range");
    return diagnose(criterion, clips, truth, thresholds, [&](const auto& job) {
        PairTable times, pairs, overlaps, cross_triggers;
        Buffer<uint8_t> detection_types, reference_types;
        job.examine(clip, class_number, [&](auto& kernel, const auto& view) {
            const Scene& scene = kernel.scene();
            for (std::size_t i = 0; i < scene.detections.size(); ++i) {
                const auto number = static_cast<int64_t>(i);
                times.add(scene.detections[i].onset, scene.detections[i].offset);
                detection_types.push(kernel.detection_types()[i]);
                if (scene.partners[i] != Scene::no_partner) pairs.add(number, scene.partners[i]);
                if (kernel.detection_types()[i] == cross_trigger)
                    kernel.each_triggered(view, scene.detections[i], [&](int32_t label) {
                        cross_triggers.add(number, label);
                    });
            }
            for (const Overlap& overlap : scene.overlaps)
                overlaps.add(overlap.detection, overlap.reference);
            for (const ErrorType type : kernel.reference_types()) reference_types.push(type);
        });
        return JudgedEvents{times.to_numpy(),
                            to_numpy(std::move(detection_types)),
                            to_numpy(std::move(reference_types)),
                            pairs.to_numpy(),
                            overlaps.to_numpy(),
                            cross_triggers.to_numpy()};
    });
}

}  // namespace sedscope::python
