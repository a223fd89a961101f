#pragma once

#include "aligned.h"
#include "rows.h"

#include <cstddef>

struct ggml_tensor;

namespace transcribe {

// Products of a window's rows with whole matrices, in bfloat16 with sums of 32 bits. All functions need AVX-512 with BF16;
// their arguments' widths are multiples of 32.

// Rows that are multiplied at once.
constexpr size_t most_rows = 12;

// Rows of numbers in bfloat16. The last ones may be used together with rows after them, whose results are not used.
class Bfloat16Rows {
public:
    Bfloat16Rows(size_t count, size_t width) : width_(width), numbers_(buffer<Bfloat16>((count + most_rows - 1) * width)) {}

    size_t width() const { return width_; }
    Bfloat16 * at(size_t row) const { return numbers_.get() + row * width_; }

private:
    size_t width_;
    Buffer<Bfloat16> numbers_;
};

// Reports whether a matrix of weights has a form that can be packed: F16 or F32.
bool can_pack(const ggml_tensor * weights);

// Rounds a matrix to bfloat16 in its own memory, in the layout that the products read: [outputs / 16][inputs / 2][16][2].
// Returns memory that remains to the system. Afterwards only the products below understand the matrix.
void pack_matrix(const ggml_tensor * weights);

// Multiplies rows [0, count) with 16 outputs from `first` and 16 outputs from `second` of a packed matrix, and calls
// `take(self, row, sums)` for each.
void multiply_packed(const Bfloat16Rows & rows, size_t count, const ggml_tensor * weights, size_t first, size_t second,
                     void (*take)(const void * self, size_t row, const float * sums), const void * self);

}  // namespace transcribe
