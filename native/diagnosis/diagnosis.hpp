// Where errors come from: each detection and each reference in one bin, at given thresholds.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "../clips/batch_job.hpp"
#include "../clips/component_tree.hpp"
#include "../criteria/judges.hpp"
#include "../core/parallel.hpp"
#include "../clips/references.hpp"

namespace sedscope {

// `right`: a found reference or a true detection. References are never in the last two bins,
// detections are never missed.
enum Bin : uint8_t {
    right,
    missed,
    fragmented,
    merged,
    too_long,
    too_short,
    wrong_onset,
    wrong_offset,
    cross_trigger,
    background,
    bins
};

// How many references are in each bin, then how many detections.
constexpr std::size_t bin_columns = 2 * bins;

// One class of one clip, with the thresholds at which it is looked at.
template <class T>
struct ClassView {
    const T* scores;
    std::size_t frames;
    const Time* edges;
    const T* stops;  // decreasing
    std::size_t stop_count;
    References* own;  // null where there are none
    std::vector<OtherClass>& others;
};

template <class T, class Judge>
class DiagnosisKernel {
public:
    explicit DiagnosisKernel(const Judge& judge) : judge_(judge) {}

    // Adds to `changes` (stops x bin_columns) by how much each number differs from that at the stop
    // before.
    void run(const ClassView<T>& view, int64_t* changes) {
        find_spans(view);
        if (view.own)
            follow(view, changes);
        else
            add_strays(view, changes);
    }

    // The first stop alone: the detections, and the bins of all.
    void look(const ClassView<T>& view) {
        find_spans(view);
        assess(view, 0);
    }
    const Scene& scene() const { return scene_; }
    const std::vector<Bin>& detection_bins() const { return detection_bins_; }
    const std::vector<Bin>& reference_bins() const { return reference_bins_; }

    // Calls `found(label)` for every other class on which a detection is a cross-trigger.
    template <class Found>
    void each_triggered(const ClassView<T>& view, const DetectedEvent& detection, Found&& found) {
        for (OtherClass& other : view.others)
            if (judge_.triggers(detection, view.own, other.references)) found(other.label);
    }

private:
    // A detection that is there at the stops [from, until).
    struct Span {
        DetectedEvent event;
        std::size_t from, until;
    };

    // The detections of any stop; those of one stop are in order of time. Between two stops scores
    // make no difference: the tree is that of the frames' levels, the numbers of stops below them.
    void find_spans(const ClassView<T>& view) {
        spans_.clear();
        levels_.resize(view.frames);
        const std::size_t stops = view.stop_count;
        const T lowest = view.stops[stops - 1];  // most scores lie below it
        for (std::size_t frame = 0; frame < view.frames; ++frame) {
            const T score = view.scores[frame];
            levels_[frame] = score > lowest ? level(view, score) : 0;
        }
        const auto keep = [&](const Detection<uint32_t>& found, int32_t*) {
            const DetectedEvent event{found.first, found.end, view.edges[found.first],
                                      view.edges[found.end]};
            spans_.push_back({event, stops - found.score, stops - found.parent});
        };
        const auto nothing = [](uint32_t, const int32_t*) {};
        tree_.begin(0, 0);
        tree_.feed(levels_.data(), view.frames, keep, nothing);
        tree_.finish(keep, nothing);
    }

    // How many stops lie below a score.
    static uint32_t level(const ClassView<T>& view, T score) {
        const T* stop = view.stops;  // a search without branches: what comes next is hard to guess
        std::size_t count = view.stop_count;
        while (count > 1) {
            const std::size_t half = count / 2;
            stop += stop[half - 1] >= score ? half : 0;
            count -= half;
        }
        return static_cast<uint32_t>(view.stops + view.stop_count - stop - (*stop >= score));
    }

    // Without references of the class each detection is judged by itself.
    void add_strays(const ClassView<T>& view, int64_t* changes) {
        for (const Span& span : spans_) {
            int64_t* const column = changes + bins + stray_bin(view, span.event);
            ++column[span.from * bin_columns];
            if (span.until < view.stop_count) --column[span.until * bin_columns];
        }
    }

    // Looks at every stop at which the detections are not those of the stop before.
    void follow(const ClassView<T>& view, int64_t* changes) {
        differs_.assign(view.stop_count + 1, 0);
        differs_[0] = 1;
        for (const Span& span : spans_) differs_[span.from] = differs_[span.until] = 1;
        std::array<int64_t, bin_columns> before{};
        for (std::size_t stop = 0; stop < view.stop_count; ++stop) {
            if (!differs_[stop]) continue;
            assess(view, stop);
            std::array<int64_t, bin_columns> now{};
            for (Bin bin : reference_bins_) ++now[bin];
            for (Bin bin : detection_bins_) ++now[bins + bin];
            for (std::size_t column = 0; column < bin_columns; ++column)
                changes[stop * bin_columns + column] += now[column] - before[column];
            before = now;
        }
    }

    // Finds the detections of one stop, and the bins of all.
    void assess(const ClassView<T>& view, std::size_t stop) {
        scene_.detections.clear();
        for (const Span& span : spans_)
            if (span.from <= stop && stop < span.until) scene_.detections.push_back(span.event);
        const References none;
        const References& references = view.own ? *view.own : none;
        scene_.meet(references);
        if (view.own) judge_.judge(scene_, *view.own);
        of_detections_.assign(scene_.detections.size(), {});
        of_references_.assign(references.count(), {});
        for (const auto& [i, j, shared] : scene_.contacts) {
            of_detections_[i].add(j);
            of_references_[j].add(i);
        }
        reference_bins_.clear();
        for (std::size_t j = 0; j < references.count(); ++j)
            reference_bins_.push_back(reference_bin(references, j));
        detection_bins_.clear();
        for (std::size_t i = 0; i < scene_.detections.size(); ++i)
            detection_bins_.push_back(detection_bin(view, i));
    }

    Bin reference_bin(const References& references, std::size_t j) const {
        if (scene_.is_found[j]) return right;
        const Contacts& met = of_references_[j];
        if (met.count == 0) return missed;
        if (met.count > 1) return fragmented;
        if (of_detections_[met.last].count > 1) return merged;
        return boundary_bin(scene_.detections[met.last], references[j]);
    }

    Bin detection_bin(const ClassView<T>& view, std::size_t i) {
        if (scene_.is_true[i]) return right;
        const Contacts& met = of_detections_[i];
        if (met.count == 0) return stray_bin(view, scene_.detections[i]);
        if (met.count > 1) return merged;
        if (of_references_[met.last].count > 1) return fragmented;
        return boundary_bin(scene_.detections[i], (*view.own)[met.last]);
    }

    // A false detection that meets no reference of its class.
    Bin stray_bin(const ClassView<T>& view, const DetectedEvent& detection) {
        for (OtherClass& other : view.others)
            if (judge_.triggers(detection, view.own, other.references)) return cross_trigger;
        return background;
    }

    // A detection and a reference that meet each other and no other.
    Bin boundary_bin(const DetectedEvent& detection, const Interval& reference) const {
        const Time onset = detection.onset - reference.onset;
        const Time offset = detection.offset - reference.offset;
        const bool bad_onset = judge_.onset_off(onset);
        const bool bad_offset = judge_.offset_off(offset, reference);
        if (bad_onset != bad_offset) return bad_onset ? wrong_onset : wrong_offset;
        if (onset <= 0 && offset >= 0) return too_long;
        if (onset >= 0 && offset <= 0) return too_short;
        return std::abs(onset) >= std::abs(offset) ? wrong_onset : wrong_offset;
    }

    // How many of the other side an event meets, and the last of them.
    struct Contacts {
        uint32_t count = 0, last = 0;

        void add(uint32_t other) {
            ++count;
            last = other;
        }
    };

    Judge judge_;
    std::vector<uint32_t> levels_;
    ComponentTree<uint32_t> tree_;
    std::vector<Span> spans_;
    std::vector<uint8_t> differs_;
    Scene scene_;
    std::vector<Contacts> of_detections_, of_references_;
    std::vector<Bin> detection_bins_, reference_bins_;
};

// The stops of all classes: class c has those in [starts[c], starts[c + 1]), decreasing.
template <class T>
struct Stops {
    const T* values;
    const int64_t* starts;
};

template <class T, class Judge>
class DiagnosisJob {
public:
    using Kernel = DiagnosisKernel<T, Judge>;

    DiagnosisJob(const std::vector<ClipView<T>>& clips, const std::vector<int64_t>& columns,
                 const ReferenceTable& references, const T* maxima, const T* floors,
                 const Stops<T>& stops, const Judge& judge)
        : clips_(clips),
          columns_(columns),
          references_(references),
          maxima_(maxima),
          floors_(floors),
          stops_(stops),
          judge_(judge) {}

    // Changes from stop to stop, added up over all clips: (stops of all classes x bin_columns).
    void count(std::size_t threads, int64_t* changes) const {
        const std::size_t size = static_cast<std::size_t>(stops_.starts[columns_.size()]);
        std::vector<std::vector<int64_t>> tables(std::max<std::size_t>(1, threads));
        std::atomic<std::size_t> next{0};
        each(threads, [&] {
            auto& table = tables[next++];
            table.assign(size * bin_columns, 0);
            return [&](Kernel& kernel, std::size_t, std::size_t c, const ClassView<T>& view) {
                kernel.run(view, table.data() + stops_.starts[c] * bin_columns);
            };
        });
        std::fill_n(changes, size * bin_columns, 0);
        for (const auto& table : tables)
            for (std::size_t k = 0; k < table.size(); ++k) changes[k] += table[k];
    }

    // False positives and false negatives of each clip and class at the first stop of the class.
    void cost(std::size_t threads, int32_t* false_positives, int32_t* false_negatives) const {
        each(threads, [&] {
            return [&](Kernel& kernel, std::size_t i, std::size_t c, const ClassView<T>& view) {
                kernel.look(view);
                const std::size_t at = i * columns_.size() + c;
                false_positives[at] = wrong(kernel.detection_bins());
                false_negatives[at] = wrong(kernel.reference_bins());
            };
        });
    }

    // Calls `use(kernel, view)` when the kernel has looked at one clip and class.
    template <class Use>
    void look(std::size_t clip, std::size_t c, Use&& use) const {
        Kernel kernel(judge_);
        Workspace work;
        work.references.assign(references_, clip, clips_[clip].edges, clips_[clip].frames + 1);
        const ClassView<T> class_view = view(clip, c, work);
        kernel.look(class_view);
        use(kernel, class_view);
    }

private:
    struct Workspace {
        std::vector<T> column;
        ClipReferences references;
        References own;
        std::vector<OtherClass> others;
    };

    static int32_t wrong(const std::vector<Bin>& found) {
        return static_cast<int32_t>(found.size()) -
               static_cast<int32_t>(std::count(found.begin(), found.end(), right));
    }

    // Calls `use(kernel, clip, class, view)` for all; `make_use()` is called once a thread. Where
    // clips are few, threads share the classes of a clip.
    template <class MakeUse>
    void each(std::size_t threads, MakeUse&& make_use) const {
        const std::size_t classes = columns_.size();
        const std::size_t parts = clips_.size() < 16 * threads ? classes : 1;
        parallel_for(clips_.size() * parts, threads, [&] {
            return [&, parts, kernel = Kernel(judge_), work = Workspace(),
                    use = make_use()](std::size_t item) mutable {
                const std::size_t i = item / parts, part = item % parts;
                const ClipView<T>& clip = clips_[i];
                work.references.assign(references_, i, clip.edges, clip.frames + 1);
                for (std::size_t c = part * classes / parts; c < (part + 1) * classes / parts; ++c)
                    use(kernel, i, c, view(i, c, work));
            };
        });
    }

    ClassView<T> view(std::size_t i, std::size_t c, Workspace& work) const {
        const ClipView<T>& clip = clips_[i];
        const bool detected = maxima_[i * columns_.size() + c] > floors_[c];
        work.own = work.references.split(c, work.others);
        return {detected ? load_column(clip, columns_[c], work.column) : nullptr,
                detected ? clip.frames : 0,
                clip.edges,
                stops_.values + stops_.starts[c],
                static_cast<std::size_t>(stops_.starts[c + 1] - stops_.starts[c]),
                work.own.count() > 0 ? &work.own : nullptr,
                work.others};
    }

    const std::vector<ClipView<T>>& clips_;
    const std::vector<int64_t>& columns_;
    ReferenceTable references_;
    const T* maxima_;
    const T* floors_;
    Stops<T> stops_;
    Judge judge_;
};

}  // namespace sedscope
