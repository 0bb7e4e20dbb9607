// The most true positives of a class at each cost, as the vertices of a step curve.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace sedscope {

// The cost of a point is its rate of false alarms, or anything that rises strictly with it.
class Frontier {
public:
    struct Vertex {  // both increase strictly
        double cost;
        int64_t tp;
    };

    void clear() { vertices_.clear(); }
    const std::vector<Vertex>& vertices() const { return vertices_; }

    // The cost below which a point with so many true positives changes the curve; `otherwise` if no
    // vertex has as many.
    double cost_to_beat(int64_t tp, double otherwise) const {
        if (tp <= 0) return -std::numeric_limits<double>::infinity();
        auto at = vertices_.end();  // the first vertex with as many true positives
        while (at != vertices_.begin() && (at - 1)->tp >= tp) --at;
        return at == vertices_.end() ? otherwise : at->cost;
    }

    void add(double cost, int64_t tp) {
        auto at = vertices_.end();  // the first vertex with this cost or a higher one
        while (at != vertices_.begin() && (at - 1)->cost >= cost) --at;
        if (tp <= (at == vertices_.begin() ? 0 : (at - 1)->tp)) return;
        if (at != vertices_.end() && at->cost == cost && at->tp >= tp) return;
        auto end = at;  // the vertices that the new one replaces
        while (end != vertices_.end() && end->tp <= tp) ++end;
        if (at == end) {
            vertices_.insert(at, {cost, tp});
        } else {
            *at = {cost, tp};
            vertices_.erase(at + 1, end);
        }
    }

    // Replaces each cost by `rate_of(cost)`, which rises strictly with it.
    template <class RateOf>
    void rate_by(RateOf&& rate_of) {
        for (Vertex& vertex : vertices_) vertex.cost = rate_of(vertex.cost);
    }

private:
    std::vector<Vertex> vertices_;
};

}  // namespace sedscope
