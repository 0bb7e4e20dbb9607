// A growing array of plain values that does not initialise what it reserves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace sedscope {

template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Buffer() = default;
    explicit Buffer(std::size_t size) : data_(new T[size]), size_(size), capacity_(size) {}

    std::size_t size() const { return size_; }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }

    // Room for `extra` more values behind the last one; they count only once `grow` says so.
    T* reserve(std::size_t extra) {
        if (size_ + extra > capacity_) {
            const std::size_t capacity = std::max(size_ + extra, 2 * capacity_);
            std::unique_ptr<T[]> larger(new T[capacity]);
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
    void clear() { size_ = 0; }
    // `size` values, whatever they are.
    void assign(std::size_t size) {
        clear();
        reserve(size);
        size_ = size;
    }
    const T* begin() const { return data_.get(); }
    const T* end() const { return data_.get() + size_; }

    // Hands the memory over; the buffer is empty afterwards.
    T* release() {
        size_ = capacity_ = 0;
        return data_.release();
    }

private:
    std::unique_ptr<T[]> data_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace sedscope
