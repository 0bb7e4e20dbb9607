// A growing array of plain values that leaves new memory uninitialised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "core/out_of_line.hpp"

namespace sedscope {

// Uninitialised memory. Large blocks come from the system directly and go back to it as soon as
// they are freed, which `free` does not guarantee. Most of their cost is the first access to each
// page, so they ask for large pages where the system has them, as numpy does.
class Memory {
public:
    Memory() = default;
    SEDSCOPE_OUT_OF_LINE explicit Memory(std::size_t bytes) {
#ifdef __linux__
        constexpr std::size_t page = std::size_t{1} << 21;
        if (bytes >= 2 * page) {
            bytes_ = bytes + page;  // room to begin at a multiple of a large page
            start_ =
                mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (start_ == MAP_FAILED) throw std::bad_alloc();
            madvise(start_, bytes_, MADV_HUGEPAGE);
            const auto address = reinterpret_cast<std::uintptr_t>(start_);
            data_ = static_cast<char*>(start_) + (page - address % page) % page;
            return;
        }
#endif
        start_ = data_ = std::malloc(bytes > 0 ? bytes : 1);
        if (!data_) throw std::bad_alloc();
    }
    Memory(Memory&& other) noexcept { *this = std::move(other); }
    Memory& operator=(Memory&& other) noexcept {
        std::swap(start_, other.start_);
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    SEDSCOPE_OUT_OF_LINE ~Memory() {
#ifdef __linux__
        if (bytes_ > 0) {
            munmap(start_, bytes_);
            return;
        }
#endif
        std::free(start_);
    }

    void* data() const { return data_; }

private:
    void* start_ = nullptr;
    void* data_ = nullptr;
    std::size_t bytes_ = 0;  // mapped; 0 if the memory is from malloc
};

template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Buffer() = default;
    explicit Buffer(std::size_t size) : memory_(size * sizeof(T)), size_(size), capacity_(size) {}
    Buffer(Buffer&& other) noexcept { *this = std::move(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        memory_ = std::move(other.memory_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }

    std::size_t size() const { return size_; }
    T* data() { return static_cast<T*>(memory_.data()); }
    const T* data() const { return static_cast<const T*>(memory_.data()); }
    T& operator[](std::size_t i) { return data()[i]; }
    const T& operator[](std::size_t i) const { return data()[i]; }

    // Makes room for `extra` values after the last one. They belong to the buffer after `grow`.
    T* reserve(std::size_t extra) {
        if (size_ + extra > capacity_) enlarge(extra);
        return data() + size_;
    }
    void grow(std::size_t extra) { size_ += extra; }
    void push(T value) {
        *reserve(1) = value;
        ++size_;
    }
    void pop() { --size_; }
    void clear() { size_ = 0; }
    // Makes `size` values, uninitialised.
    void assign(std::size_t size) {
        clear();
        reserve(size);
        size_ = size;
    }
    T* begin() { return data(); }
    T* end() { return data() + size_; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }

private:
    SEDSCOPE_OUT_OF_LINE void enlarge(std::size_t extra) {
        constexpr std::size_t few = 32;  // so that short buffers seldom grow
        const std::size_t capacity = std::max({size_ + extra, 2 * capacity_, few});
        Memory larger(capacity * sizeof(T));
        std::copy_n(data(), size_, static_cast<T*>(larger.data()));
        memory_ = std::move(larger);
        capacity_ = capacity;
    }

    Memory memory_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace sedscope
