// Runs independent items of work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

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

// Calls `work(item)` once for every item in [0, items). `make_worker()` is called once per thread
// and returns `work`, so that a worker can keep buffers between items. Rethrows the first
// exception.
template <class MakeWorker>
void parallel_for(std::size_t items, std::size_t threads, MakeWorker&& make_worker) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    auto run = [&](Pauses* pauses) {
        try {
            auto work = make_worker();
            for (std::size_t item; (item = next.fetch_add(1)) < items;) {
                work(item);
                if (pauses) pauses->pause();
            }
        } catch (...) {
            next = items;
            std::lock_guard<std::mutex> lock(failure_mutex);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    try {
        for (std::size_t i = 1; i < thread_count(threads, items); ++i) {
            others.emplace_back(run, nullptr);
        }
    } catch (const std::system_error&) {
        // the system has no more threads: those that started do the work
    }
    Pauses pauses;
    run(&pauses);
    for (auto& thread : others) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace sedscope
