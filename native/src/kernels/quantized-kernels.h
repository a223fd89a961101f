// The kernels of quantized.cpp, for each kind of instructions.

namespace {

constexpr size_t lanes = 16;

#if HAS_AVX512

// Uses 24 of the 32 registers as sums of 16 lanes.
constexpr size_t rows = 6;
constexpr size_t columns = panel_outputs / lanes;

// Adds the products of four numbers with the weights of 32 outputs. GCC 12 stores the sums after each step if the
// intrinsic function is used.
inline void add_quad(__m512i (&sums)[columns], __m512i first, __m512i second, const int8_t * numbers) {
    asm("vpdpbusd %4%{1to16%}, %2, %0\n\tvpdpbusd %4%{1to16%}, %3, %1"
        : "+&v"(sums[0]), "+&v"(sums[1])
        : "v"(first), "v"(second), "m"(*reinterpret_cast<const Quad *>(numbers)));
}

// Multiplies rows that follow each other with a panel.
template <size_t width>
void multiply_tile(const QuantizedRows & input, size_t row, const PanelBlockOf<width> * panel, size_t blocks,
                   float (*sums)[panel_outputs]) {
    const int8_t * numbers = input.numbers(row);
    const size_t stride = input.blocks() * width;
    const QuantizedRows::Scale * scales = input.scales(row);
    const size_t scale_stride = input.blocks();
    __m512 totals[rows][columns];
    for (auto & total : totals) {
        total[0] = total[1] = _mm512_setzero_ps();
    }
    for (size_t block = 0; block < blocks; block++, panel++, numbers += width, scales++) {
        __m512i parts[rows][columns];
#pragma GCC unroll 6
        for (size_t r = 0; r < rows; r++) {
            parts[r][0] = parts[r][1] = _mm512_set1_epi32(scales[r * scale_stride].offset);
        }
#pragma GCC unroll 8
        for (size_t quad = 0; quad < width / 4; quad++) {
            const __m512i first = _mm512_loadu_si512(panel->numbers[quad][0]);
            const __m512i second = _mm512_loadu_si512(panel->numbers[quad][1]);
#pragma GCC unroll 6
            for (size_t r = 0; r < rows; r++) {
                add_quad(parts[r], first, second, numbers + r * stride + 4 * quad);
            }
        }
        const __m512 first = _mm512_loadu_ps(panel->scales);
        const __m512 second = _mm512_loadu_ps(panel->scales + lanes);
#pragma GCC unroll 6
        for (size_t r = 0; r < rows; r++) {
            const __m512 scale = _mm512_set1_ps(scales[r * scale_stride].scale);
            totals[r][0] = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(parts[r][0]), scale), first, totals[r][0]);
            totals[r][1] = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(parts[r][1]), scale), second, totals[r][1]);
        }
    }
    for (size_t r = 0; r < rows; r++) {
        _mm512_store_ps(sums[r], totals[r][0]);
        _mm512_store_ps(sums[r] + lanes, totals[r][1]);
    }
}

template <size_t width>
void multiply_rows(const QuantizedRows & input, size_t count, const PanelBlockOf<width> * panel, size_t blocks, TakeSums take,
                   const void * self) {
    for (size_t row = 0; row < count; row += rows) {
        alignas(64) float sums[rows][panel_outputs];
        multiply_tile(input, row, panel, blocks, sums);
        for (size_t r = 0; r < rows && row + r < count; r++) {
            take(self, row + r, sums[r]);
        }
    }
}

#else

// Uses 12 of the 16 registers as sums of 8 lanes.
constexpr size_t rows = 3;
constexpr size_t half = 8;
constexpr size_t columns = panel_outputs / half;

// Adds the products of rows that follow each other with a panel's block to `sums`.
template <size_t width>
INLINE void multiply_tile(const QuantizedRows & input, size_t row, size_t block, const PanelBlockOf<width> & panel, bool is_first,
                          float (*sums)[panel_outputs]) {
    const int8_t * numbers = input.numbers(row) + block * width;
    const size_t stride = input.blocks() * width;
    __m256i parts[rows][columns] = {};
#pragma GCC unroll 8
    for (size_t quad = 0; quad < width / 4; quad++) {
#pragma GCC unroll 3
        for (size_t r = 0; r < rows; r++) {
            const __m256i four = _mm256_set1_epi32(*reinterpret_cast<const Quad *>(numbers + r * stride + 4 * quad));
#pragma GCC unroll 4
            for (size_t c = 0; c < columns; c++) {
                add_byte_products(parts[r][c], four, panel.numbers[quad][0] + 4 * half * c);
            }
        }
    }
#pragma GCC unroll 3
    for (size_t r = 0; r < rows; r++) {
        const QuantizedRows::Scale & its = input.scales(row + r)[block];
        const __m256 scale = _mm256_set1_ps(its.scale);
        const __m256 least = _mm256_set1_ps(its.least);
#pragma GCC unroll 4
        for (size_t c = 0; c < columns; c++) {
            float * to = sums[r] + c * half;
            const __m256 before = is_first ? _mm256_setzero_ps() : _mm256_load_ps(to);
            const __m256 part = _mm256_mul_ps(_mm256_cvtepi32_ps(parts[r][c]), scale);
            const __m256 total = _mm256_fmadd_ps(part, _mm256_load_ps(panel.scales + c * half), before);
            _mm256_store_ps(to, _mm256_fmadd_ps(least, _mm256_load_ps(panel.sums + c * half), total));
        }
    }
}

// Rows for which the sums stay in the CPU's first cache, beside a block of weights.
constexpr size_t rows_of_block = 48;

// Each block of weights is read once for many rows.
template <size_t width>
void multiply_rows(const QuantizedRows & input, size_t count, const PanelBlockOf<width> * panel, size_t blocks, TakeSums take,
                   const void * self) {
    alignas(64) float sums[rows_of_block][panel_outputs];
    for (size_t first = 0; first < count; first += rows_of_block) {
        const size_t many = std::min(rows_of_block, count - first);
        for (size_t block = 0; block < blocks; block++) {
            for (size_t row = 0; row < many; row += rows) {
                multiply_tile(input, first + row, block, panel[block], block == 0, sums + row);
            }
        }
        for (size_t row = 0; row < many; row++) {
            take(self, first + row, sums[row]);
        }
    }
}

#endif

// A block of 32 weights in memory: the scale in 16 bits, then their bits.
constexpr size_t scale_bytes = 2;

// Unpacks a block of weights to bytes, with 128 added if the product is one of AVX-512.
template <ggml_type type> inline __m256i unpack(const uint8_t * weights) {
    if constexpr (type == GGML_TYPE_Q8_0) {
        const __m256i numbers = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(weights + scale_bytes));
        return _mm256_xor_si256(numbers, _mm256_set1_epi8(static_cast<char>(HAS_AVX512 ? 0x80 : 0)));
    } else {
        const bool five = type == GGML_TYPE_Q5_0;
        const __m128i packed =
            _mm_loadu_si128(reinterpret_cast<const __m128i *>(weights + scale_bytes + (five ? sizeof(uint32_t) : 0)));
        const __m128i low = _mm_and_si128(packed, _mm_set1_epi8(15));
        const __m128i high = _mm_and_si128(_mm_srli_epi16(packed, 4), _mm_set1_epi8(15));
        __m256i numbers = _mm256_set_m128i(high, low);
        if (five) {
            uint32_t fifth;
            std::memcpy(&fifth, weights + scale_bytes, sizeof fifth);
            // The byte of each number's bit, and then the bit.
            const __m256i bytes = _mm256_shuffle_epi8(
                _mm256_set1_epi32(static_cast<int>(fifth)),
                _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0));
            const __m256i bits = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
            const __m256i is_set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bits), bits);
            numbers = _mm256_or_si256(numbers, _mm256_and_si256(is_set, _mm256_set1_epi8(16)));
        }
        return _mm256_add_epi8(numbers, _mm256_set1_epi8(static_cast<char>((HAS_AVX512 ? 128 : 0) - (five ? 16 : 8))));
    }
}

// Turns eight vectors of eight quads: afterwards vector i has quad i of each.
inline void turn(__m256i (&v)[8]) {
    __m256i pairs[8];
    for (size_t i = 0; i < 4; i++) {
        pairs[2 * i] = _mm256_unpacklo_epi32(v[2 * i], v[2 * i + 1]);
        pairs[2 * i + 1] = _mm256_unpackhi_epi32(v[2 * i], v[2 * i + 1]);
    }
    __m256i fours[8];
    for (size_t i = 0; i < 2; i++) {
        fours[4 * i] = _mm256_unpacklo_epi64(pairs[4 * i], pairs[4 * i + 2]);
        fours[4 * i + 1] = _mm256_unpackhi_epi64(pairs[4 * i], pairs[4 * i + 2]);
        fours[4 * i + 2] = _mm256_unpacklo_epi64(pairs[4 * i + 1], pairs[4 * i + 3]);
        fours[4 * i + 3] = _mm256_unpackhi_epi64(pairs[4 * i + 1], pairs[4 * i + 3]);
    }
    for (size_t i = 0; i < 4; i++) {
        v[i] = _mm256_permute2x128_si256(fours[i], fours[4 + i], 0x20);
        v[4 + i] = _mm256_permute2x128_si256(fours[i], fours[4 + i], 0x31);
    }
}

constexpr size_t turned = 8;

template <ggml_type type> void pack(const ggml_tensor * weights, size_t first, size_t second, PanelBlock * panel) {
    const size_t blocks = static_cast<size_t>(weights->ne[0]) / block_width;
    const size_t bytes = ggml_type_size(type);
    const auto * data = static_cast<const uint8_t *>(weights->data);
    for (size_t output = 0; output < panel_outputs; output += turned) {
        const size_t column = output / lanes;
        const size_t lane = output % lanes;
        const uint8_t * from = data + ((column == 0 ? first : second) + lane) * weights->nb[1];
        for (size_t block = 0; block < blocks; block++) {
            __m256i numbers[turned];
            alignas(16) uint16_t scales[turned];
            for (size_t i = 0; i < turned; i++) {
                const uint8_t * at = from + i * weights->nb[1] + block * bytes;
                numbers[i] = unpack<type>(at);
                std::memcpy(scales + i, at, scale_bytes);
            }
            turn(numbers);
            __m256i sums = _mm256_setzero_si256();
            for (size_t quad = 0; quad < turned; quad++) {
                _mm256_store_si256(reinterpret_cast<__m256i *>(panel[block].numbers[quad][column] + 4 * lane), numbers[quad]);
                if (!HAS_AVX512) {
                    const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), numbers[quad]);
                    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
                }
            }
            const __m256 factors = _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i *>(scales)));
            _mm256_store_ps(panel[block].scales + output, factors);
            if (!HAS_AVX512) {
                _mm256_store_ps(panel[block].sums + output, _mm256_mul_ps(_mm256_cvtepi32_ps(sums), factors));
            }
        }
    }
}

}  // namespace

void multiply_panel(const QuantizedRows & input, size_t count, const PanelBlock * panel, size_t blocks, TakeSums take,
                    const void * self) {
    multiply_rows(input, count, panel, blocks, take, self);
}

void multiply_panel(const QuantizedRows & input, size_t count, const WidePanelBlock * panel, size_t blocks, TakeSums take,
                    const void * self) {
    multiply_rows(input, count, panel, blocks, take, self);
}

void pack_panel(const ggml_tensor * weights, size_t first, size_t second, PanelBlock * panel) {
    switch (weights->type) {
    case GGML_TYPE_Q8_0: return pack<GGML_TYPE_Q8_0>(weights, first, second, panel);
    case GGML_TYPE_Q5_0: return pack<GGML_TYPE_Q5_0>(weights, first, second, panel);
    default: return pack<GGML_TYPE_Q4_0>(weights, first, second, panel);
    }
}

#if HAS_AVX512

void quantize(const float * input, size_t count, const QuantizedRows & output, size_t row, size_t first_block) {
    const size_t width = output.block();
    int8_t * numbers = output.numbers(row) + first_block * width;
    QuantizedRows::Scale * scales = output.scales(row) + first_block;
    for (size_t block = 0; block < count / width; block++, input += width, numbers += width) {
        Floats most_of = zeros();
        Floats sum_of_zeros = zeros();
        for (size_t i = 0; i < width; i += lanes) {
            const Floats values = load(input + i);
            most_of = largest(most_of, absolute(values));
            sum_of_zeros = multiply_add(values, zeros(), sum_of_zeros);
        }
        const float most = largest_of(most_of);
        const Floats factor = same(most > 0 ? 127 / most : 0);
        Ints total = same_ints(0);
        for (size_t i = 0; i < width; i += lanes) {
            const Ints rounded = to_ints(multiply(load(input + i), factor));
            total = add_ints(total, rounded);
            store_bytes(numbers + i, rounded);
        }
        // The largest number does not show one that is not a number; the sum does.
        scales[block].scale = most / 127 + sum_of(sum_of_zeros);
        scales[block].offset = -128 * sum_of_ints(total);
    }
}

#else

void quantize(const float * input, size_t count, const QuantizedRows & output, size_t row, size_t first_block) {
    const size_t width = output.block();
    const int most = width == wide_block_width ? wide_levels : levels;
    int8_t * numbers = output.numbers(row) + first_block * width;
    QuantizedRows::Scale * scales = output.scales(row) + first_block;
    for (size_t block = 0; block < count / width; block++, input += width, numbers += width) {
        Floats most_of = load(input);
        Floats least_of = most_of;
        Floats sum_of_zeros = zeros();
        for (size_t i = 0; i < width; i += lanes) {
            const Floats values = load(input + i);
            most_of = largest(most_of, values);
            least_of = smallest(least_of, values);
            sum_of_zeros = multiply_add(values, zeros(), sum_of_zeros);
        }
        const float lowest = -largest_of(subtract(zeros(), least_of));
        const float range = largest_of(most_of) - lowest;
        const Floats factor = same(range > 0 ? most / range : 0);
        for (size_t i = 0; i < width; i += lanes) {
            store_lowest_bytes(numbers + i, to_ints(multiply(subtract(load(input + i), same(lowest)), factor)));
        }
        scales[block].scale = range / most + sum_of(sum_of_zeros);
        scales[block].least = lowest;
    }
}

#endif
