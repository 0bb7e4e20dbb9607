// A growing array of plain values that does not initialise what it reserves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace sedscope {

// Memory for `std::free`. Much of what a large array costs is the first touch of each of its pages:
// large ones are asked for where the system has them, as numpy does.
inline void* allocate(std::size_t bytes) {
#ifdef __linux__
    constexpr std::size_t page = std::size_t{1} << 21;
    if (bytes >= 2 * page) {
        const std::size_t rounded = (bytes + page - 1) / page * page;
        void* memory = std::aligned_alloc(page, rounded);
        if (!memory) throw std::bad_alloc();
        madvise(memory, rounded, MADV_HUGEPAGE);
        return memory;
    }
#endif
    void* memory = std::malloc(bytes > 0 ? bytes : 1);
    if (!memory) throw std::bad_alloc();
    return memory;
}

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Buffer() = default;
    explicit Buffer(std::size_t size) : data_(values(size)), size_(size), capacity_(size) {}

    std::size_t size() const { return size_; }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    T& operator[](std::size_t i) { return data_.get()[i]; }
    const T& operator[](std::size_t i) const { return data_.get()[i]; }

    // Room for `extra` more values behind the last one; they count only once `grow` says so.
    T* reserve(std::size_t extra) {
        if (size_ + extra > capacity_) {
            const std::size_t capacity = std::max(size_ + extra, 2 * capacity_);
            std::unique_ptr<T, Free> larger(values(capacity));
            std::copy_n(data_.get(), size_, larger.get());
            data_ = std::move(larger);
            capacity_ = capacity;
        }
        return data_.get() + size_;
    }
    void grow(std::size_t extra) { size_ += extra; }
    void push(T value) {
        *reserve(1) = value;
        ++size_;
    }
    void pop() { --size_; }
    void clear() { size_ = 0; }
    // `size` values, whatever they are.
    void assign(std::size_t size) {
        clear();
        reserve(size);
        size_ = size;
    }
    T* begin() { return data_.get(); }
    T* end() { return data_.get() + size_; }
    const T* begin() const { return data_.get(); }
    const T* end() const { return data_.get() + size_; }

    // Hands the memory over, for `std::free`; the buffer is empty afterwards.
    T* release() {
        size_ = capacity_ = 0;
        return data_.release();
    }

private:
    static T* values(std::size_t count) { return static_cast<T*>(allocate(count * sizeof(T))); }

    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace sedscope
