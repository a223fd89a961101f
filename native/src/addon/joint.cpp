#include "joint.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace transcribe {

namespace {

using Clock = std::chrono::steady_clock;

// Interval at which a waiting call checks whether it was aborted.
constexpr auto abort_check = std::chrono::milliseconds(20);

template <typename Item> struct Work;

// Which lane encodes or reads next is not known: these items do not wait for others.
struct WorkWithoutWait {
    static constexpr std::chrono::nanoseconds least_wait{0};
    static constexpr std::chrono::nanoseconds most_wait{0};
};

template <> struct Work<whisper_window> : WorkWithoutWait {
    // A GPU does not end a graph, and an abort must not take longer.
    static constexpr std::chrono::nanoseconds most_time = std::chrono::milliseconds(150);

    static bool evaluate(const std::vector<const whisper_window *> & windows, ggml_abort_callback should_end, void * data) {
        return whisper_evaluate_windows(windows.data(), static_cast<int>(windows.size()), should_end, data);
    }
    static bool fit(const whisper_window * one, const whisper_window * other) {
        return whisper_is_encoded(one) == whisper_is_encoded(other);
    }
};

template <> struct Work<whisper_pass> : WorkWithoutWait {
    static constexpr std::chrono::nanoseconds most_time = std::chrono::milliseconds(150);

    static bool evaluate(const std::vector<const whisper_pass *> & passes, ggml_abort_callback, void *) {
        return whisper_evaluate_passes(passes.data(), static_cast<int>(passes.size()));
    }
    static bool fit(const whisper_pass * one, const whisper_pass * other) { return whisper_is_prompt(one) == whisper_is_prompt(other); }
};

template <> struct Work<whisper_step> {
    // A step waits for another lane no longer than the last graph took: a second graph would cost as much. The minimum is
    // several times what choosing the next tokens takes; the maximum leaves time for an abort.
    static constexpr std::chrono::nanoseconds least_wait = std::chrono::milliseconds(10);
    static constexpr std::chrono::nanoseconds most_wait = std::chrono::milliseconds(100);
    // Fewer items would hardly make it shorter.
    static constexpr std::chrono::nanoseconds most_time = std::chrono::hours(1);

    static bool evaluate(const std::vector<const whisper_step *> & steps, ggml_abort_callback, void *) {
        return whisper_evaluate_steps(steps.data(), static_cast<int>(steps.size()));
    }
    static bool fit(const whisper_step *, const whisper_step *) { return true; }
};

}  // namespace

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
    const size_t most = is_alone_ ? 1 : std::min(most_, most_in_time_);
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
    const size_t size = evaluating_.size();
    most_in_time_ = std::max<size_t>(1, static_cast<size_t>(Work<Item>::most_time / (taken / size + std::chrono::nanoseconds(1))));
    const bool is_one = size == 1;
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
    std::vector<const Item *> items;
    items.reserve(evaluating_.size());
    for (const Lane * lane : evaluating_) {
        items.push_back(lane->item_);
    }
    const auto is_any_aborted = [](void * joint) {
        const auto & lanes = static_cast<const Joint *>(joint)->evaluating_;
        return std::any_of(lanes.begin(), lanes.end(), [](const Lane * lane) { return lane->should_end_(); });
    };
    return Work<Item>::evaluate(items, is_any_aborted, const_cast<Joint *>(this));
}

template class Joint<whisper_window>;
template class Joint<whisper_step>;
template class Joint<whisper_pass>;

}  // namespace transcribe
