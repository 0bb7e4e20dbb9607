// Blocks of memory that are used again.
//
// Most of the cost of a large block is the first access to each of its pages. An evaluation frees
// what it took, and the next one takes as much again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "core/out_of_line.hpp"

namespace sedscope {

struct MemoryBlock {
    void* start = nullptr;
    void* data = nullptr;
    std::size_t bytes = 0;  // from `data`; 0 if the block is too small to be kept
};

class MemoryBlocks {
public:
    static MemoryBlocks& shared() {
        static MemoryBlocks* const blocks = new MemoryBlocks();  // outlives all other statics
        return *blocks;
    }

    SEDSCOPE_OUT_OF_LINE MemoryBlock take(std::size_t bytes) {
        if (bytes < smallest_) return allocated(bytes > 0 ? bytes : 1, 0);
        const std::size_t size = rounded(bytes);
        // a process that was forked meanwhile may never get the lock: then it keeps no blocks
        if (std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock); lock) {
            for (std::size_t i = free_.size(); i-- > 0;)
                if (free_[i].bytes == size) return remove(i);
        }
        return map(size);
    }

    SEDSCOPE_OUT_OF_LINE void give_back(const MemoryBlock& block) {
        if (block.bytes == 0) {
            std::free(block.start);
            return;
        }
        std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
        if (!lock) {
            release(block);
            return;
        }
        free_.push_back(block);
        kept_ += block.bytes;
        while (kept_ > most_kept_) release(remove(0));
    }

private:
    MemoryBlock remove(std::size_t i) {
        const MemoryBlock block = free_[i];
        free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
        kept_ -= block.bytes;
        return block;
    }

    static MemoryBlock allocated(std::size_t size, std::size_t bytes) {
        void* const start = std::malloc(size);
        if (!start) throw std::bad_alloc();
        return {start, start, bytes};
    }

    // Rounds up by at most a quarter, so that blocks of about one size can take each other's place.
    static std::size_t rounded(std::size_t bytes) {
        std::size_t step = smallest_ / 4;
        while (step * 8 <= bytes) step *= 2;
        return (bytes + step - 1) / step * step;
    }

#ifdef __linux__
    // From half a large page on, blocks begin at a multiple of one and ask for large pages, with
    // which the first access and finding addresses cost less.
    static std::size_t mapped(std::size_t bytes) {
        return bytes < large_page_ / 2 ? bytes : (bytes / large_page_ + 2) * large_page_;
    }
    static MemoryBlock map(std::size_t bytes) {
        const std::size_t size = mapped(bytes);
        void* const start =
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (start == MAP_FAILED) throw std::bad_alloc();
        if (size == bytes) return {start, start, bytes};
        madvise(start, size, MADV_HUGEPAGE);
        const auto address = reinterpret_cast<std::uintptr_t>(start);
        const std::size_t skipped = (large_page_ - address % large_page_) % large_page_;
        return {start, static_cast<char*>(start) + skipped, bytes};
    }
    static void release(const MemoryBlock& block) { munmap(block.start, mapped(block.bytes)); }
    static constexpr std::size_t large_page_ = std::size_t{1} << 21;
#else
    static MemoryBlock map(std::size_t bytes) { return allocated(bytes, bytes); }
    static void release(const MemoryBlock& block) { std::free(block.start); }
#endif

    static constexpr std::size_t smallest_ = std::size_t{1} << 18;
#ifdef __SANITIZE_ADDRESS__
    static constexpr std::size_t most_kept_ = 0;  // so that reading freed memory is noticed
#else
    static constexpr std::size_t most_kept_ = std::size_t{1} << 28;
#endif
    std::mutex mutex_;
    std::vector<MemoryBlock> free_;
    std::size_t kept_ = 0;  // bytes
};

}  // namespace sedscope
