// Included by ggml's ops.cpp: it is compiled for each CPU variant. In a step of the decoder, self- and cross-attention have one
// query for each text of the beam. ggml reads all keys for each query and sums values in 16 bits, with an error of 0.6 % instead
// of one in a million. For a window of base and a beam of five this takes 1.1 ms instead of 5.8 (zen4), 1.6 (haswell).

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
// width of a head in all sizes of Whisper
#define GGML_FA_FEW_D 64

static inline GGML_F32_VEC ggml_fa_load_f16(const ggml_fp16_t * x) {
#if defined(__AVX512F__)
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *) x));
#else
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) x));
#endif
}

static inline float ggml_fa_sum(GGML_F32_VEC x) {
#if defined(__AVX512F__)
    return _mm512_reduce_add_ps(x);
#else
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 two  = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
#endif
}

// Attention of N queries of a head, such as the texts of a beam. Each key and each value is read once for all queries, and
// sums are 32-bit floats.
template <int N>
static void ggml_flash_attn_ext_few(ggml_tensor * dst, int64_t first, int64_t i2, int64_t i3) {
    const ggml_tensor * q    = dst->src[0];
    const ggml_tensor * k    = dst->src[1];
    const ggml_tensor * v    = dst->src[2];
    const ggml_tensor * mask = dst->src[3];

    constexpr int D     = GGML_FA_FEW_D;
    constexpr int E     = GGML_F32_EPR;
    constexpr int BLOCK = 64; // keys at once

    float scale = 1.0f;
    memcpy(&scale, (float *) dst->op_params + 0, sizeof(float));

    const char * k_data = (const char *) k->data + i2/(q->ne[2]/k->ne[2])*k->nb[2] + i3/(q->ne[3]/k->ne[3])*k->nb[3];
    const char * v_data = (const char *) v->data + i2/(q->ne[2]/v->ne[2])*v->nb[2] + i3/(q->ne[3]/v->ne[3])*v->nb[3];

    const ggml_fp16_t * masks[N];

    float Q[N][D];
    float VKQ[N][D] = {};
    float S[N] = {};
    float M[N];

    for (int j = 0; j < N; ++j) {
        const float * pq = (const float *) ((const char *) q->data + (first + j)*q->nb[1] + i2*q->nb[2] + i3*q->nb[3]);
        for (int d = 0; d < D; ++d) {
            Q[j][d] = pq[d]*scale;
        }
        M[j] = -INFINITY;
        masks[j] = mask ? (const ggml_fp16_t *) ((const char *) mask->data + (first + j)*mask->nb[1]
            + (i2%mask->ne[2])*mask->nb[2] + (i3%mask->ne[3])*mask->nb[3]) : nullptr;
    }

    for (int64_t ic = 0; ic < k->ne[1];) {
        // the next keys that any of the queries may attend to
        int64_t keys[BLOCK];
        int n_keys = 0;
        for (; ic < k->ne[1] && n_keys < BLOCK; ++ic) {
            bool is_seen = mask == nullptr;
            for (int j = 0; j < N && !is_seen; ++j) {
                is_seen = masks[j][ic] != 0xfc00; // minus infinity
            }
            keys[n_keys] = ic;
            n_keys += is_seen;
        }

        float P[N][BLOCK];
        float top[N];
        for (int j = 0; j < N; ++j) {
            top[j] = M[j];
        }

        for (int i = 0; i < n_keys; ++i) {
            const char * key   = k_data + keys[i]*k->nb[1];
            const char * value = v_data + keys[i]*v->nb[1];

            // rows of a head are too far apart for a hardware prefetcher
            for (size_t line = 0; line < D*sizeof(ggml_fp16_t); line += CACHE_LINE_SIZE) {
                _mm_prefetch(key + BLOCK*k->nb[1] + line, _MM_HINT_T0);
                _mm_prefetch(value + line, _MM_HINT_T0);
            }

            GGML_F32_VEC K[D/E];
            for (int d = 0; d < D; d += E) {
                K[d/E] = ggml_fa_load_f16((const ggml_fp16_t *) key + d);
            }
            for (int j = 0; j < N; ++j) {
                GGML_F32_VEC sum = GGML_F32_VEC_MUL(K[0], GGML_F32_VEC_LOAD(Q[j]));
                for (int d = E; d < D; d += E) {
                    sum = GGML_F32_VEC_FMA(sum, K[d/E], GGML_F32_VEC_LOAD(Q[j] + d));
                }
                P[j][i] = ggml_fa_sum(sum) + (mask ? GGML_CPU_FP16_TO_FP32(masks[j][keys[i]]) : 0.0f);
                top[j] = std::max(top[j], P[j][i]);
            }
        }

        for (int j = 0; j < N; ++j) {
            if (top[j] == -INFINITY) {
                std::fill_n(P[j], n_keys, 0.0f);
                continue;
            }
            // in whole vectors
            const int n_exp = GGML_PAD(n_keys, E);
            std::fill(P[j] + n_keys, P[j] + n_exp, -INFINITY);

            const float less = expf(M[j] - top[j]);
            S[j] = S[j]*less + (float) ggml_vec_soft_max_f32(n_exp, P[j], P[j], top[j]);
            ggml_vec_scale_f32(D, VKQ[j], less);
            M[j] = top[j];
        }

        for (int d = 0; d < D; d += 2*E) {
            GGML_F32_VEC sums[N][2];
            for (int j = 0; j < N; ++j) {
                sums[j][0] = GGML_F32_VEC_LOAD(VKQ[j] + d);
                sums[j][1] = GGML_F32_VEC_LOAD(VKQ[j] + d + E);
            }
            for (int i = 0; i < n_keys; ++i) {
                const ggml_fp16_t * value = (const ggml_fp16_t *) (v_data + keys[i]*v->nb[1]) + d;
                const GGML_F32_VEC V[2] = { ggml_fa_load_f16(value), ggml_fa_load_f16(value + E) };
                for (int j = 0; j < N; ++j) {
                    const GGML_F32_VEC p = GGML_F32_VEC_SET1(P[j][i]);
                    sums[j][0] = GGML_F32_VEC_FMA(sums[j][0], V[0], p);
                    sums[j][1] = GGML_F32_VEC_FMA(sums[j][1], V[1], p);
                }
            }
            for (int j = 0; j < N; ++j) {
                GGML_F32_VEC_STORE(VKQ[j] + d,     sums[j][0]);
                GGML_F32_VEC_STORE(VKQ[j] + d + E, sums[j][1]);
            }
        }
    }

    for (int j = 0; j < N; ++j) {
        ggml_vec_scale_f32(D, VKQ[j], S[j] == 0.0f ? 0.0f : 1.0f/S[j]);
        memcpy((char *) dst->data + i3*dst->nb[3] + (first + j)*dst->nb[2] + i2*dst->nb[1], VKQ[j], sizeof(VKQ[j]));
    }
}

static bool ggml_flash_attn_ext_is_few(const ggml_compute_params * params, const ggml_tensor * dst) {
    const ggml_tensor * q = dst->src[0];
    const ggml_tensor * k = dst->src[1];
    const ggml_tensor * v = dst->src[2];

    float max_bias      = 0.0f;
    float logit_softcap = 0.0f;
    memcpy(&max_bias,      (float *) dst->op_params + 1, sizeof(float));
    memcpy(&logit_softcap, (float *) dst->op_params + 2, sizeof(float));

    return !params->use_ref && dst->src[4] == nullptr && max_bias == 0.0f && logit_softcap == 0.0f &&
        q->type == GGML_TYPE_F32 && k->type == GGML_TYPE_F16 && v->type == GGML_TYPE_F16 &&
        k->ne[0] == GGML_FA_FEW_D && v->ne[0] == GGML_FA_FEW_D && q->ne[2]*q->ne[3] >= params->nth;
}

// A thread processes groups of eight queries of a head.
static void ggml_compute_forward_flash_attn_ext_few(const ggml_compute_params * params, ggml_tensor * dst) {
    const ggml_tensor * q = dst->src[0];

    const int64_t n_group = (q->ne[1] + 7)/8;
    const int64_t n_total = n_group*q->ne[2]*q->ne[3];

    for (int64_t i = n_total*params->ith/params->nth; i < n_total*(params->ith + 1)/params->nth; ++i) {
        const int64_t first = i%n_group*8;
        const int64_t i2    = i/n_group%q->ne[2];
        const int64_t i3    = i/n_group/q->ne[2];

        switch (std::min<int64_t>(q->ne[1] - first, 8)) {
            case 1: ggml_flash_attn_ext_few<1>(dst, first, i2, i3); break;
            case 2: ggml_flash_attn_ext_few<2>(dst, first, i2, i3); break;
            case 3: ggml_flash_attn_ext_few<3>(dst, first, i2, i3); break;
            case 4: ggml_flash_attn_ext_few<4>(dst, first, i2, i3); break;
            case 5: ggml_flash_attn_ext_few<5>(dst, first, i2, i3); break;
            case 6: ggml_flash_attn_ext_few<6>(dst, first, i2, i3); break;
            case 7: ggml_flash_attn_ext_few<7>(dst, first, i2, i3); break;
            case 8: ggml_flash_attn_ext_few<8>(dst, first, i2, i3); break;
        }
    }
}
#endif
