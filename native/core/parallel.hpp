// Runs independent items of work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/out_of_line.hpp"

namespace sedscope {

// The number of threads to use for `items` items of work.
inline std::size_t thread_count(std::size_t threads, std::size_t items) {
    return std::max<std::size_t>(1, std::min(threads, items));
}

// The calling thread calls this between items; an exception from it ends the work.
inline std::atomic<void (*)()> between_items{nullptr};

// Calls `between_items` so rarely that it costs nothing.
class Pauses {
public:
    void pause() {
        const auto now = Clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(50);
        if (auto* call = between_items.load()) call();
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(50);
};

// Items of work, which threads take one after the other.
class Items {
public:
    explicit Items(std::size_t count) : count_(count) {}

    // Writes the next item; returns whether there is one.
    bool take(std::size_t& item) { return (item = next_.fetch_add(1)) < count_; }
    void drop_rest() { next_ = count_; }

private:
    const std::size_t count_;
    std::atomic<std::size_t> next_{0};
};

// Calls `run(items, pauses)` on each thread, of which the calling one is the first, and the only
// one with pauses. Rethrows the first exception.
SEDSCOPE_OUT_OF_LINE inline void run_on_threads(Items& items, std::size_t threads,
                                                const std::function<void(Items&, Pauses*)>& run) {
    std::exception_ptr failure;
    std::mutex failure_mutex;
    const auto run_safely = [&](Pauses* pauses) {
        try {
            run(items, pauses);
        } catch (...) {
            items.drop_rest();
            std::lock_guard<std::mutex> lock(failure_mutex);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    try {
        for (std::size_t i = 1; i < threads; ++i) others.emplace_back(run_safely, nullptr);
    } catch (const std::system_error&) {
        // the system has no more threads: those that started do the work
    }
    Pauses pauses;
    run_safely(&pauses);
    for (auto& thread : others) thread.join();
    if (failure) std::rethrow_exception(failure);
}

// Calls `work(item)` once for every item in [0, items). `make_worker()` is called once per thread
// and returns `work`, so that a worker can keep buffers between items. Rethrows the first
// exception.
template <class MakeWorker>
void parallel_for(std::size_t items, std::size_t threads, MakeWorker&& make_worker) {
    Items all(items);
    run_on_threads(all, thread_count(threads, items), [&](Items& left, Pauses* pauses) {
        auto work = make_worker();
        for (std::size_t item; left.take(item);) {
            work(item);
            if (pauses) pauses->pause();
        }
    });
}

}  // namespace sedscope
