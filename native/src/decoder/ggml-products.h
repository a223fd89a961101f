// Included by ggml's sgemm.cpp, in its namespace: it is compiled for each CPU variant.

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VNNI__)
// Products of quantized weights in tiles of 16 rows and up to eight columns. The rows are transposed so that a lane sums
// one row, and they are read once for eight columns: with few columns, reading bounds the product. The number of
// columns does not change any sum.
class tinyBLAS_Q8_0_VNNI {
  public:
    tinyBLAS_Q8_0_VNNI(int64_t k,
                       const block_q8_0 * A, int64_t lda,
                       const block_q8_0 * B, int64_t ldb,
                       float * C, int64_t ldc)
        : A(A), B(B), C(C), k(k), lda(lda), ldb(ldb), ldc(ldc) {
    }

    void matmul(int64_t m, int64_t n, int ith, int nth) {
        const int64_t tiles = (m + RM - 1) / RM;
        const int64_t duty = (tiles + nth - 1) / nth;
        const int64_t end = MIN(tiles, duty * (ith + 1));
        for (int64_t tile = duty * ith; tile < end; ++tile) {
            const int64_t ii = RM * tile;
            for (int64_t jj = 0; jj < n; jj += 8) {
                switch (MIN(n - jj, 8)) {
                case 1: gemm<1>(ii, MIN(RM, m - ii), jj); break;
                case 2: gemm<2>(ii, MIN(RM, m - ii), jj); break;
                case 3: gemm<3>(ii, MIN(RM, m - ii), jj); break;
                case 4: gemm<4>(ii, MIN(RM, m - ii), jj); break;
                case 5: gemm<5>(ii, MIN(RM, m - ii), jj); break;
                case 6: gemm<6>(ii, MIN(RM, m - ii), jj); break;
                case 7: gemm<7>(ii, MIN(RM, m - ii), jj); break;
                case 8: gemm<8>(ii, MIN(RM, m - ii), jj); break;
                }
            }
        }
    }

  private:
    static constexpr int64_t RM = 16;

    // four rows, and the four after them: of dwords j and 4 + j of each, the first ones in one vector each
    static inline void turn(const block_q8_0 * const * rows, int64_t l, __m512i * turned) {
        __m512i pairs[4];
        for (int i = 0; i < 4; ++i) {
            const __m256i one   = _mm256_loadu_si256((const __m256i *) rows[i][l].qs);
            const __m256i other = _mm256_loadu_si256((const __m256i *) rows[i + 4][l].qs);
            pairs[i] = _mm512_inserti64x4(_mm512_castsi256_si512(one), other, 1);
        }
        const __m512i lo01 = _mm512_unpacklo_epi32(pairs[0], pairs[1]);
        const __m512i hi01 = _mm512_unpackhi_epi32(pairs[0], pairs[1]);
        const __m512i lo23 = _mm512_unpacklo_epi32(pairs[2], pairs[3]);
        const __m512i hi23 = _mm512_unpackhi_epi32(pairs[2], pairs[3]);
        turned[0] = _mm512_unpacklo_epi64(lo01, lo23);
        turned[1] = _mm512_unpackhi_epi64(lo01, lo23);
        turned[2] = _mm512_unpacklo_epi64(hi01, hi23);
        turned[3] = _mm512_unpackhi_epi64(hi01, hi23);
    }

    // negated contribution of the columns' offset to each sum
    static inline __m512i offset_of(const __m512i * turned, __m512i offset) {
        __m512i sum = _mm512_setzero_si512();
        for (int j = 0; j < 4; ++j) {
            sum = _mm512_dpbusd_epi32(sum, offset, turned[j]);
        }
        return _mm512_sub_epi32(_mm512_setzero_si512(), sum);
    }

    static inline __m512i dot(__m512i sum, const __m512i * columns, const __m512i * turned) {
        for (int j = 0; j < 4; ++j) {
            sum = _mm512_dpbusd_epi32(sum, columns[j], turned[j]);
        }
        return sum;
    }

    template <int RN>
    NOINLINE void gemm(int64_t ii, int64_t many, int64_t jj) {
        const block_q8_0 * rows[RM];
        for (int64_t i = 0; i < RM; ++i) {
            rows[i] = A + lda * (ii + MIN(i, many - 1));
        }
        // convert signed bytes to unsigned ones, which the instruction needs on one side
        const __m512i offset = _mm512_set1_epi8(-128);
        __m512 sums[RN][2] = {};
        for (int64_t l = 0; l < k; ++l) {
            // prefetch the rows of the next tile: hardware prefetchers do not follow sixteen
            if (jj == 0) {
                const char * next = (const char *) (rows[0] + lda * RM) + l * RM * sizeof(block_q8_0);
                for (size_t line = 0; line < RM * sizeof(block_q8_0); line += 64) {
                    _mm_prefetch(next + line, _MM_HINT_T0);
                }
            }

            __m512i turned[2][4];
            turn(rows,     l, turned[0]);
            turn(rows + 8, l, turned[1]);
            const __m512i less[2] = { offset_of(turned[0], offset), offset_of(turned[1], offset) };

            // set at once: a vector that is stored in pieces cannot be loaded before it has reached the cache
            const __m512 scale = _mm512_cvtph_ps(_mm256_setr_epi16(
                rows[ 0][l].d, rows[ 1][l].d, rows[ 2][l].d, rows[ 3][l].d,
                rows[ 4][l].d, rows[ 5][l].d, rows[ 6][l].d, rows[ 7][l].d,
                rows[ 8][l].d, rows[ 9][l].d, rows[10][l].d, rows[11][l].d,
                rows[12][l].d, rows[13][l].d, rows[14][l].d, rows[15][l].d));
            const __m512 scales[2] = {
                _mm512_shuffle_f32x4(scale, scale, _MM_SHUFFLE(1, 1, 0, 0)),
                _mm512_shuffle_f32x4(scale, scale, _MM_SHUFFLE(3, 3, 2, 2)),
            };

            for (int64_t j = 0; j < RN; ++j) {
                const block_q8_0 * b = B + ldb * (jj + j) + l;
                const __m256i bytes = _mm256_loadu_si256((const __m256i *) b->qs);
                const __m512i column = _mm512_xor_si512(_mm512_broadcast_i64x4(bytes), offset);
                const __m512i columns[4] = {
                    _mm512_shuffle_epi32(column, _MM_PERM_AAAA),
                    _mm512_shuffle_epi32(column, _MM_PERM_BBBB),
                    _mm512_shuffle_epi32(column, _MM_PERM_CCCC),
                    _mm512_shuffle_epi32(column, _MM_PERM_DDDD),
                };
                const __m512 by = _mm512_cvtph_ps(_mm256_set1_epi16(b->d));
                for (int i = 0; i < 2; ++i) {
                    const __m512 product = _mm512_cvtepi32_ps(dot(less[i], columns, turned[i]));
                    sums[j][i] = _mm512_fmadd_ps(product, _mm512_mul_ps(scales[i], by), sums[j][i]);
                }
            }
        }
        const __mmask16 mask = (1u << many) - 1;
        for (int64_t j = 0; j < RN; ++j) {
            const __m512 one   = _mm512_shuffle_f32x4(sums[j][0], sums[j][1], _MM_SHUFFLE(2, 0, 2, 0));
            const __m512 other = _mm512_shuffle_f32x4(sums[j][0], sums[j][1], _MM_SHUFFLE(3, 1, 3, 1));
            _mm512_mask_storeu_ps(C + ldc * (jj + j) + ii, mask, _mm512_add_ps(one, other));
        }
    }

    const block_q8_0 * const A;
    const block_q8_0 * const B;
    float * const C;
    const int64_t k;
    const int64_t lda;
    const int64_t ldb;
    const int64_t ldc;
};
#endif
