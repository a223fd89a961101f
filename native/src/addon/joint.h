#pragma once

#include <whisper.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace transcribe {

// Evaluates items of a model's states, whisper_window, whisper_step or whisper_pass, in one graph where they meet, so that
// weights are read once for all of them. Each state has a lane. A step waits a bounded time for lanes whose next step is
// expected. One of the waiting threads evaluates the graph. An abort of one of its lanes ends the graph where the device can,
// and the others wait for the next one.
template <typename Item> class Joint {
public:
    // `most`: number of the model's slots
    explicit Joint(int most) : most_(static_cast<size_t>(most)) {}

    class Lane {
    public:
        // `should_end`: whether the running call was aborted; any thread may call it
        Lane(std::shared_ptr<Joint> joint, std::function<bool()> should_end);
        ~Lane();
        Lane(const Lane &) = delete;
        Lane & operator=(const Lane &) = delete;

        // Evaluates an item. Returns false if that failed or was aborted.
        bool evaluate(const Item * item);

        // Until its next item, no other lane waits for this one.
        void leave();

    private:
        friend class Joint;
        enum class Status { away, expected, waiting, evaluating, evaluated };

        const std::shared_ptr<Joint> joint_;
        const std::function<bool()> should_end_;
        // Guarded by the joint's mutex; during an evaluation the item belongs to the evaluating thread.
        Status status_ = Status::away;
        const Item * item_ = nullptr;
        bool succeeded_ = false;
        // While expected: until when the other lanes wait.
        std::chrono::steady_clock::time_point due_;
    };

private:
    bool evaluate(Lane & lane, const Item * item);
    void leave(Lane & lane);
    // Moves the lanes of the next graph from `waiting_` to `evaluating_`, or back to the front of `waiting_`.
    void take_waiting();
    void put_back();
    // Evaluates the graph of the lanes that were taken. Releases the lock meanwhile.
    void evaluate_taken(std::unique_lock<std::mutex> & lock);
    bool evaluate_graph() const;
    std::chrono::steady_clock::time_point expected_until() const;

    const size_t most_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Lane *> present_; // all that are not away
    std::list<Lane *> waiting_;
    std::list<Lane *> evaluating_; // empty: no graph is evaluated; else unchanged until its end
    // A graph for several states failed without an abort: memory is short, and from now on each has its own.
    bool is_alone_ = false;
    // How long a lane's next item is waited for.
    std::chrono::nanoseconds wait_{0};
    // Number of items whose graph leaves time for an abort.
    size_t most_in_time_ = std::numeric_limits<size_t>::max();
};

extern template class Joint<whisper_window>;
extern template class Joint<whisper_step>;
extern template class Joint<whisper_pass>;

// The items of the states of one model that have a slot.
struct Joints {
    explicit Joints(int slots) : windows(slots), steps(slots), passes(slots) {}

    Joint<whisper_window> windows;
    Joint<whisper_step> steps;
    Joint<whisper_pass> passes;
};

}  // namespace transcribe
