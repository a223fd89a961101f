#pragma once

#include "kernels/aligned.h"

#include <cstddef>

namespace transcribe {

// Softmax attention with relative positions (Transformer-XL), in 32-bit floats. A query's score for a key is
// ((query + key bias) · key + (query + position bias) · position) / √width, where the position depends on their distance.
// All functions need one of the kinds of instructions; a head's width is a multiple of 16.

// Number of vectors side by side.
constexpr size_t turned_vectors = 16;

// Vectors of all heads, 16 positions side by side: [position / 16][heads · head width][16].
class TurnedVectors {
public:
    TurnedVectors(size_t count, size_t width);

    // Sets 16 numbers, `from` their first one's dimension, of a position.
    void set(size_t position, size_t from, const float * numbers) {
        float * to = data_.get() + ((position / 16) * width_ + from) * 16 + position % 16;
        for (size_t i = 0; i < 16; i++) {
            to[i * 16] = numbers[i];
        }
    }
    // Returns the 16 positions around a position, from a dimension on.
    const float * at(size_t position, size_t from) const { return data_.get() + ((position / 16) * width_ + from) * 16; }
    size_t stride() const { return width_ * 16; }

private:
    size_t width_;
    Buffer<float> data_;
};

struct RelativeAttention {
    size_t count; // of queries, keys and values
    size_t heads;
    size_t head_width;
    const float * queries;       // [count][heads][head width]
    const TurnedVectors * keys;  // with memory for `padded_keys`
    const float * values;        // [heads][count][head width]
    const float * key_bias;      // [heads][head width]
    const float * position_bias; // [heads][head width]
    const TurnedVectors * positions; // of the distances from `most` - 1 to 1 - `most`, in this order, after 16 others
    size_t most;
};

// Largest numbers of vectors that the scores read.
size_t padded_keys(size_t count);
size_t padded_positions(size_t most);
// Place of a distance between a query and a key.
inline size_t position_of(size_t most, long distance) {
    return static_cast<size_t>(static_cast<long>(most) + 15 - distance);
}

// Queries that are computed at once.
constexpr size_t group_queries = 24;

// Memory for `attend`, one for each thread.
Buffer<float> attention_scratch(size_t count, size_t head_width);

// Computes the output of a head for one group of queries: `output` is [count][heads][head width].
void attend(const RelativeAttention & attention, size_t head, size_t group, float * scratch, float * output);

}  // namespace transcribe
