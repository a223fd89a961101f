#include "joint.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

namespace transcribe {

namespace {

using Clock = std::chrono::steady_clock;

// Interval at which a waiting call checks whether it was aborted.
constexpr auto abort_check = std::chrono::milliseconds(20);

template <typename Item> struct Work;

template <> struct Work<whisper_window> {
    // Which lane encodes next is not known.
    static constexpr std::chrono::nanoseconds least_wait{0};
    static constexpr std::chrono::nanoseconds most_wait{0};
    // Maximum number of windows in a graph, which bounds its memory and, on a GPU, the time that an abort takes.
    static constexpr size_t most_size = 4;

    static whisper_joint * memory(whisper_context * context, int most) { return whisper_init_joint(context, most); }
    static bool alone(const whisper_window * window) { return whisper_evaluate_window(window); }
    static bool together(whisper_joint * memory, const std::vector<const whisper_window *> & windows, ggml_abort_callback should_end,
                         void * data) {
        return whisper_evaluate_windows(memory, windows.data(), static_cast<int>(windows.size()), should_end, data);
    }
    static bool fit(const whisper_window * one, const whisper_window * other) {
        return whisper_window_n_frames(one) == whisper_window_n_frames(other);
    }
};

template <> struct Work<whisper_step> {
    // A step waits for another lane no longer than the last graph took: a second graph would cost as much. The minimum is
    // several times what choosing the next tokens takes; the maximum leaves time for an abort.
    static constexpr std::chrono::nanoseconds least_wait = std::chrono::milliseconds(10);
    static constexpr std::chrono::nanoseconds most_wait = std::chrono::milliseconds(100);
    // All slots of a model.
    static constexpr size_t most_size = std::numeric_limits<size_t>::max();

    static whisper_joint * memory(whisper_context *, int) { return nullptr; }
    static bool alone(const whisper_step * step) { return whisper_evaluate_steps(&step, 1); }
    // A step takes some milliseconds: it is not worth ending.
    static bool together(whisper_joint *, const std::vector<const whisper_step *> & steps, ggml_abort_callback, void *) {
        return whisper_evaluate_steps(steps.data(), static_cast<int>(steps.size()));
    }
    static bool fit(const whisper_step *, const whisper_step *) { return true; }
};

}  // namespace

template <typename Item>
Joint<Item>::Joint(std::shared_ptr<whisper_context> context, int most)
    : context_(std::move(context)), memory_(Work<Item>::memory(context_.get(), most), whisper_free_joint),
      most_(static_cast<size_t>(most)) {
}

template <typename Item>
Joint<Item>::Lane::Lane(std::shared_ptr<Joint> joint, std::function<bool()> should_end)
    : joint_(std::move(joint)), should_end_(std::move(should_end)) {}

template <typename Item> Joint<Item>::Lane::~Lane() {
    leave();
}

template <typename Item> bool Joint<Item>::Lane::evaluate(const Item * item) {
    return joint_->evaluate(*this, item);
}

template <typename Item> void Joint<Item>::Lane::leave() {
    joint_->leave(*this);
}

template <typename Item> bool Joint<Item>::evaluate(Lane & lane, const Item * item) {
    using Status = typename Lane::Status;
    std::unique_lock<std::mutex> lock(mutex_);
    present_.reserve(present_.size() + 1);
    waiting_.push_back(&lane);
    if (lane.status_ == Status::away) {
        present_.push_back(&lane);
    }
    lane.item_ = item;
    lane.succeeded_ = false;
    lane.status_ = Status::waiting;
    changed_.notify_all();
    while (lane.status_ == Status::waiting || lane.status_ == Status::evaluating) {
        if (lane.status_ == Status::waiting && lane.should_end_()) {
            waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &lane));
            break;
        }
        if (!evaluating_.empty()) {
            changed_.wait_for(lock, abort_check);
            continue;
        }
        if (const auto until = expected_until(); until > Clock::now()) {
            changed_.wait_until(lock, std::min(until, Clock::now() + abort_check));
            continue;
        }
        take_waiting();
        if (lane.status_ == Status::evaluating) {
            evaluate_taken(lock);
        } else {
            // An abort of this lane could not end a graph of others.
            put_back();
            changed_.wait_for(lock, abort_check);
        }
    }
    lane.item_ = nullptr;
    lane.status_ = Status::expected;
    lane.due_ = Clock::now() + wait_;
    // The other lanes now wait for this one.
    changed_.notify_all();
    return lane.succeeded_;
}

template <typename Item> void Joint<Item>::leave(Lane & lane) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (lane.status_ != Lane::Status::away) {
        lane.status_ = Lane::Status::away;
        present_.erase(std::find(present_.begin(), present_.end(), &lane));
        changed_.notify_all();
    }
}

template <typename Item> Clock::time_point Joint<Item>::expected_until() const {
    Clock::time_point until = Clock::time_point::min();
    if (waiting_.size() < most_ && !is_alone_) {
        for (const Lane * lane : present_) {
            if (lane->status_ == Lane::Status::expected) {
                until = std::max(until, lane->due_);
            }
        }
    }
    return until;
}

template <typename Item> void Joint<Item>::take_waiting() {
    const size_t most = is_alone_ ? 1 : std::min(most_, Work<Item>::most_size);
    for (auto next = waiting_.begin(); next != waiting_.end() && evaluating_.size() < most;) {
        Lane * lane = *next;
        const bool fits = evaluating_.empty() || Work<Item>::fit(evaluating_.front()->item_, lane->item_);
        if (!fits) {
            ++next;
            continue;
        }
        lane->status_ = Lane::Status::evaluating;
        evaluating_.splice(evaluating_.end(), waiting_, next++);
    }
}

template <typename Item> void Joint<Item>::put_back() {
    for (Lane * lane : evaluating_) {
        lane->status_ = Lane::Status::waiting;
    }
    waiting_.splice(waiting_.begin(), evaluating_);
}

template <typename Item> void Joint<Item>::evaluate_taken(std::unique_lock<std::mutex> & lock) {
    lock.unlock();
    const Clock::time_point start = Clock::now();
    bool succeeded = false;
    try {
        succeeded = evaluate_graph();
    } catch (const std::exception &) {
        // Memory is short.
    }
    const std::chrono::nanoseconds taken = Clock::now() - start;
    lock.lock();
    wait_ = std::clamp(taken, Work<Item>::least_wait, Work<Item>::most_wait);
    const bool is_one = evaluating_.size() == 1;
    const auto was_aborted = [](const Lane * lane) { return lane->should_end_(); };
    is_alone_ = is_alone_ || (!succeeded && !is_one && std::none_of(evaluating_.begin(), evaluating_.end(), was_aborted));
    evaluating_.remove_if([&](Lane * lane) {
        const bool has_result = succeeded || is_one || was_aborted(lane);
        if (has_result) {
            lane->succeeded_ = succeeded;
            lane->status_ = Lane::Status::evaluated;
        }
        return has_result;
    });
    put_back();
    changed_.notify_all();
}

template <typename Item> bool Joint<Item>::evaluate_graph() const {
    if (evaluating_.size() == 1) {
        return Work<Item>::alone(evaluating_.front()->item_);
    }
    std::vector<const Item *> items;
    items.reserve(evaluating_.size());
    for (const Lane * lane : evaluating_) {
        items.push_back(lane->item_);
    }
    const auto is_any_aborted = [](void * joint) {
        const auto & lanes = static_cast<const Joint *>(joint)->evaluating_;
        return std::any_of(lanes.begin(), lanes.end(), [](const Lane * lane) { return lane->should_end_(); });
    };
    return Work<Item>::together(memory_.get(), items, is_any_aborted, const_cast<Joint *>(this));
}

template class Joint<whisper_window>;
template class Joint<whisper_step>;

}  // namespace transcribe
