// Part of whisper.cpp, which includes it after its own types: what loading a model, and graphs on a CPU, call of our own.

#include "kernels/lanes/instructions.h"
#include "kernels/quantized.h"
#include "median-filter.h"
#include "packed-weights.h"
#include "probabilities.h"
#include "quantize-weights.h"
#include "spectrum.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

static std::vector<whisper_vocab::id> whisper_find_non_speech(const whisper_vocab & vocab);

// Fills a buffer with zeros. The pages of a CPU's buffer go back to the system, which gives zeros when they are used again: most
// windows use a small part of a cache
static void whisper_buffer_clear(ggml_backend_buffer_t buffer) {
#if defined(__linux__)
    if (ggml_backend_buffer_get_type(buffer) == ggml_backend_cpu_buffer_type()) {
        const uintptr_t page  = sysconf(_SC_PAGESIZE);
        const uintptr_t begin = (uintptr_t) ggml_backend_buffer_get_base(buffer);
        const uintptr_t end   = begin + ggml_backend_buffer_get_size(buffer);

        const uintptr_t first = (begin + page - 1)/page*page;
        const uintptr_t last  = end/page*page;

        if (first < last && madvise((void *) first, last - first, MADV_DONTNEED) == 0) {
            memset((void *) begin, 0, first - begin);
            memset((void *) last,  0, end - last);
            return;
        }
    }
#endif

    ggml_backend_buffer_clear(buffer, 0);
}

static void model_read_tensor(whisper_model_loader * loader, ggml_tensor * tensor, std::vector<char> & read_buf) {
    if (ggml_backend_buffer_is_host(tensor->buffer)) {
        // for the CPU and Metal backend, we can read directly into the tensor
        model_read(loader, tensor->data, ggml_nbytes(tensor));
        BYTESWAP_TENSOR(tensor);
    } else {
        // read into a temporary buffer first, then copy to device memory
        read_buf.resize(ggml_nbytes(tensor));

        model_read(loader, read_buf.data(), read_buf.size());

        ggml_backend_tensor_set(tensor, read_buf.data(), 0, ggml_nbytes(tensor));
    }
}

static whisper_model_loader whisper_file_loader(std::ifstream & fin) {
    whisper_model_loader loader = {};

    loader.context = &fin;
    loader.size    = model_file_size(fin);

    loader.read = [](void * ctx, void * output, size_t read_size) {
        std::ifstream * fin = (std::ifstream*)ctx;
        fin->read((char *)output, read_size);
        return (size_t) fin->gcount();
    };

    loader.eof = [](void * ctx) {
        std::ifstream * fin = (std::ifstream*)ctx;
        return fin->eof();
    };

    // closes itself
    loader.close = [](void *) {};

    return loader;
}

// Returns where the next bytes of a file are, and skips them
static std::streampos whisper_skip(whisper_model_loader * loader, size_t n_bytes) {
    std::ifstream & fin = *(std::ifstream *) loader->context;

    const std::streampos place = fin.tellg();

    if (place < 0 || (size_t) place > loader->size || n_bytes > loader->size - (size_t) place) {
        throw std::runtime_error("the file ends too early");
    }

    fin.seekg(place + (std::streamoff) n_bytes);

    return place;
}

// Reads the weights of the encoder, unless they were read
static bool whisper_read_encoder(whisper_context & wctx) {
    const std::lock_guard<std::mutex> lock(wctx.later_mutex);

    if (wctx.later_tensors.empty()) {
        return true;
    }

    try {
        whisper_model_loader loader = whisper_file_loader(wctx.later_file);
        std::vector<char> read_buf;

        for (const auto & later : wctx.later_tensors) {
            wctx.later_file.seekg(later.place);
            model_read_tensor(&loader, later.tensor, read_buf);
        }
    } catch (const std::exception & e) {
        WHISPER_LOG_ERROR("%s: the encoder's weights could not be read: %s\n", __func__, e.what());
        return false;
    }

    wctx.later_tensors.clear();
    wctx.later_file.close();

    return true;
}

// Whether steps of a beam attend by transcribe::CrossAttention
static bool whisper_uses_cross_attention(const whisper_context & wctx) {
    using transcribe::CrossAttention;

    const auto & hparams = wctx.model.hparams;

    return CrossAttention::is_supported() && wctx.params.flash_attn && wctx.itype == GGML_TYPE_F16 &&
        hparams.n_text_state == hparams.n_text_head*(int) CrossAttention::head_width && hparams.n_audio_ctx <= (int) CrossAttention::most_positions;
}

// Calls `use` for each tensor of weights that only the decoder's steps multiply with
static void whisper_for_step_weights(whisper_model & model, const std::function<void (struct ggml_tensor *)> & use) {
    use(model.d_te);

    for (const auto & layer : model.layers_decoder) {
        for (struct ggml_tensor * weights : {
                layer.attn_q_w, layer.attn_k_w, layer.attn_v_w, layer.attn_ln_1_w, layer.cross_attn_q_w, layer.cross_attn_ln_1_w, layer.mlp_0_w, layer.mlp_1_w }) {
            use(weights);
        }
    }
}

// by default GPU backends sum 16-bit products in 16 bits; the CPU backend never does
static void whisper_sum_in_f32(struct ggml_cgraph * gf) {
    for (int i = 0; i < ggml_graph_n_nodes(gf); ++i) {
        struct ggml_tensor * node = ggml_graph_node(gf, i);

        if (node->op == GGML_OP_MUL_MAT) {
            ggml_mul_mat_set_prec(node, GGML_PREC_F32);
        } else if (node->op == GGML_OP_FLASH_ATTN_EXT) {
            ggml_flash_attn_ext_set_prec(node, GGML_PREC_F32);
        }
    }
}

static void whisper_multiply_rows(struct ggml_tensor * dst, int ith, int nth, void * /*userdata*/) {
    const struct ggml_tensor * rows = dst->src[1];

    transcribe::multiply_rows(dst->src[0], (const float *) rows->data, rows->nb[1]/sizeof(float), rows->ne[1],
            (float *) dst->data, dst->nb[1]/sizeof(float), ith, nth);
}

// Product with all positions of a window
static struct ggml_tensor * whisper_multiply_window(struct ggml_context * ctx, const whisper_model & model, struct ggml_tensor * weights, struct ggml_tensor * cur) {
    if (!model.multiplies_windows) {
        return ggml_mul_mat(ctx, weights, cur);
    }

    struct ggml_tensor * args[] = { weights, cur };

    return ggml_custom_4d(ctx, GGML_TYPE_F32, weights->ne[1], cur->ne[1], 1, 1, args, 2, whisper_multiply_rows, GGML_N_TASKS_MAX, nullptr);
}

// Counts a graph and the weights that it reads
static void whisper_count_work(whisper_context & wctx, struct ggml_cgraph * gf) {
    int64_t n_bytes = 0;

    for (int i = 0; i < ggml_graph_n_nodes(gf); ++i) {
        const struct ggml_tensor * node = ggml_graph_node(gf, i);

        if (node->op == GGML_OP_VIEW || node->op == GGML_OP_RESHAPE || node->op == GGML_OP_PERMUTE || node->op == GGML_OP_TRANSPOSE) {
            continue;
        }

        for (const struct ggml_tensor * src : node->src) {
            const ggml_backend_buffer_t buffer = !src ? nullptr : src->view_src ? src->view_src->buffer : src->buffer;

            if (buffer && ggml_backend_buffer_get_usage(buffer) == GGML_BACKEND_BUFFER_USAGE_WEIGHTS) {
                n_bytes += node->src[1] && node->src[1]->type == GGML_TYPE_I32 ? ggml_row_size(src->type, src->ne[0])*ggml_nrows(node) : ggml_nbytes(src);
            }
        }
    }

    wctx.n_graphs++;
    wctx.n_weight_bytes += n_bytes;
}

// Length of the audio context of a state's window
static int whisper_n_audio_ctx(const whisper_context & wctx, const whisper_state & wstate) {
    return wstate.exp_n_audio_ctx > 0 ? wstate.exp_n_audio_ctx : wctx.model.hparams.n_audio_ctx;
}

// Number of keys that attention to a window of `n_ctx` positions reads. Attention on a CPU reads any number of keys, on a GPU
// whole blocks. A whole window is read in blocks, too, so that recordings have the same numbers everywhere
static int whisper_n_keys(const whisper_state & wstate, int n_ctx) {
    const bool is_exact = wstate.exp_n_audio_ctx > 0 &&
        ggml_backend_dev_type(ggml_backend_get_device(wstate.backends[0])) == GGML_BACKEND_DEVICE_TYPE_CPU;

    return is_exact ? n_ctx : GGML_PAD(n_ctx, 256);
}

static transcribe::PackedWeights whisper_packed(const struct ggml_tensor * weights) {
    return { weights->data, (size_t) weights->ne[1], (size_t) weights->ne[0] };
}

static void whisper_multiply_packed(struct ggml_tensor * dst, int ith, int nth, void * /*userdata*/) {
    const struct ggml_tensor * columns = dst->src[1];

    whisper_packed(dst->src[0]).multiply((const float *) columns->data, columns->nb[1]/sizeof(float), columns->ne[1],
            (float *) dst->data, dst->nb[1]/sizeof(float), ith, nth);
}

static void whisper_get_packed_rows(struct ggml_tensor * dst, int ith, int nth, void * /*userdata*/) {
    for (int64_t i = ith; i < dst->ne[1]; i += nth) {
        whisper_packed(dst->src[0]).unpack(((const int32_t *) dst->src[1]->data)[i], (float *) ((char *) dst->data + i*dst->nb[1]));
    }
}

// Product with weights of the decoder's steps, which alone are quantized if any are packed, or with keys or values
static struct ggml_tensor * whisper_multiply(struct ggml_context * ctx, const whisper_model & model, struct ggml_tensor * weights, struct ggml_tensor * cur) {
    if (!model.has_packed_weights || weights->type != GGML_TYPE_Q8_0) {
        return ggml_mul_mat(ctx, weights, cur);
    }

    struct ggml_tensor * args[] = { weights, cur };

    return ggml_custom_4d(ctx, GGML_TYPE_F32, weights->ne[1], cur->ne[1], 1, 1, args, 2, whisper_multiply_packed, GGML_N_TASKS_MAX, nullptr);
}

// Rows of the embedding of tokens
static struct ggml_tensor * whisper_get_rows(struct ggml_context * ctx, const whisper_model & model, struct ggml_tensor * weights, struct ggml_tensor * ids) {
    if (!model.has_packed_weights) {
        return ggml_get_rows(ctx, weights, ids);
    }

    struct ggml_tensor * args[] = { weights, ids };

    return ggml_custom_4d(ctx, GGML_TYPE_F32, weights->ne[0], ids->ne[0], 1, 1, args, 2, whisper_get_packed_rows, GGML_N_TASKS_MAX, nullptr);
}

static void whisper_attend(struct ggml_tensor * dst, int ith, int nth, void * userdata) {
    const auto & op = *(const whisper_cross_op *) userdata;

    const struct ggml_tensor * Q = dst->src[0]; // [n_state_head][n_tokens][n_head]

    for (int64_t head = ith; head < Q->ne[2]; head += nth) {
        op.attention->attend(op.layer, head, (const float *) ((const char *) Q->data + head*Q->nb[2]), Q->nb[1]/sizeof(float), Q->ne[1],
                op.scale, (float *) ((char *) dst->data + head*dst->nb[1]), dst->nb[2]/sizeof(float));
    }
}

// Whether a step continues texts; the prompt's keeps the precision of the other passes
static bool whisper_is_continuation(const whisper_batch & batch, bool save_alignment_heads_QKs) {
    return batch.n_tokens <= WHISPER_MAX_DECODERS && batch.pos[0] > 0 && !save_alignment_heads_QKs;
}

// Stores the window's cross-attention keys and values in 8 bits
static void whisper_pack_cross(const whisper_context & wctx, whisper_state & wstate) {
    const auto & hparams = wctx.model.hparams;

    const int n_ctx     = whisper_n_audio_ctx(wctx, wstate);
    const int n_ctx_pad = whisper_n_keys(wstate, n_ctx);

    if (!wstate.cross_attention) {
        wstate.cross_attention = std::make_unique<transcribe::CrossAttention>(hparams.n_text_layer, hparams.n_text_head);
    }

    for (int il = 0; il < hparams.n_text_layer; ++il) {
        const size_t first = (size_t) il*n_ctx_pad*hparams.n_text_state;

        wstate.cross_attention->pack(il, (const uint16_t *) wstate.kv_cross.k->data + first, (const uint16_t *) wstate.kv_cross.v->data + first,
                n_ctx, n_ctx_pad - n_ctx);
    }

    wstate.has_cross_attention = true;
}

// returns the k largest finite logits in descending order; of equal ones the first comes first
static void whisper_find_largest(
                                const std::vector<float> & logits,
                                                     int   k,
        std::vector<whisper_pair<double, whisper_vocab::id>> & largest) {
    using pair_type = whisper_pair<double, whisper_vocab::id>;

    // most blocks are skipped by their maximum
    const int n_block = 256;
    const int n       = logits.size();

    largest.clear();

    for (int first = 0; first < n; first += n_block) {
        const int n_here = std::min(n_block, n - first);

        double least = (int) largest.size() < k ? -INFINITY : largest.back().first;
        if (transcribe::largest(logits.data() + first, n_here) <= least) {
            continue;
        }

        for (int i = first; i < first + n_here; ++i) {
            if (logits[i] <= least) {
                continue;
            }

            const pair_type found(logits[i], i);
            const auto place = std::upper_bound(largest.begin(), largest.end(), found,
                    [](const pair_type & a, const pair_type & b) { return a.first > b.first; });
            largest.insert(place, found);

            if ((int) largest.size() > k) {
                largest.pop_back();
            }
            if ((int) largest.size() == k) {
                least = largest.back().first;
            }
        }
    }
}
