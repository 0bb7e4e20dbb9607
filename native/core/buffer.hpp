// A growing array of plain values that leaves new memory uninitialised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "core/memory_blocks.hpp"
#include "core/out_of_line.hpp"

namespace sedscope {

// Uninitialised memory.
class Memory {
public:
    Memory() = default;
    explicit Memory(std::size_t bytes) : block_(MemoryBlocks::shared().take(bytes)) {}
    Memory(Memory&& other) noexcept { *this = std::move(other); }
    Memory& operator=(Memory&& other) noexcept {
        std::swap(block_, other.block_);
        return *this;
    }
    ~Memory() { MemoryBlocks::shared().give_back(block_); }

    void* data() const { return block_.data; }

private:
    MemoryBlock block_;
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
