// What the parts of a criterion must offer. Whatever runs such a part checks it when it is
// compiled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "clips/ignored_references.hpp"
#include "clips/reference_table.hpp"
#include "clips/references.hpp"
#include "core/time.hpp"
#include "criteria/delta_rows.hpp"
#include "criteria/scene.hpp"

namespace sedscope {

// Whether the expressions of `Calls<Types...>` are valid.
template <template <class...> class Calls, class Valid, class... Types>
struct Offer : std::false_type {};
template <template <class...> class Calls, class... Types>
struct Offer<Calls, std::void_t<Calls<Types...>>, Types...> : std::true_type {};
template <template <class...> class Calls, class... Types>
inline constexpr bool offers = Offer<Calls, void, Types...>::value;

// A kernel turns the detections of one clip and class into rows of deltas. It may refer to the
// references of `begin` until `finish`. `Change`: of the columns of detections.
template <class Kernel, class T, class Change>
using KernelCalls = decltype(  // a new clip, with its references, and class; and its end
    std::declval<Kernel&>().begin(std::declval<const ClipReferences&>(), int32_t{}, T{}),
    std::declval<Kernel&>().finish(std::declval<DeltaRows<T, Change>&>()));
template <class Kernel, class T, class Change>
using FrameCalls = decltype(  // the scores of the next frames
    std::declval<Kernel&>().feed(std::declval<const T*>(), std::size_t{},
                                 std::declval<DeltaRows<T, Change>&>()));
template <class Kernel, class T, class Change>
using EventCalls = decltype(  // the next event, detected as it is below its score
    std::declval<Kernel&>().add(std::declval<const Interval&>(), T{},
                                std::declval<DeltaRows<T, Change>&>()));

template <class Kernel, class T, class Change>
inline constexpr bool takes_frames =
    offers<KernelCalls, Kernel, T, Change> && offers<FrameCalls, Kernel, T, Change>;
template <class Kernel, class T, class Change>
inline constexpr bool takes_events =
    offers<KernelCalls, Kernel, T, Change> && offers<EventCalls, Kernel, T, Change>;

// A judge marks what is right in a scene, and says whether detections matter to each other where
// there are no references, of false detections whether they are cross-triggers on another class,
// and of boundary errors whether they are too large. The references of the class are null if it has
// none.
template <class Judge>
using JudgeCalls =
    decltype(std::declval<Judge&>().judge(std::declval<Scene&>(), std::declval<References&>(),
                                          std::declval<IgnoredReferences&>()),
             bool{std::declval<const Judge&>().judges_strays()},
             bool{std::declval<const Judge&>().triggers(
                 std::declval<const DetectedEvent&>(), std::declval<References*>(),
                 std::declval<IgnoredReferences&>(), std::declval<References&>())},
             bool{std::declval<const Judge&>().onset_off(Time{})},
             bool{std::declval<const Judge&>().offset_off(Time{}, Interval{})});
template <class Judge>
inline constexpr bool is_judge = offers<JudgeCalls, Judge>;

}  // namespace sedscope
