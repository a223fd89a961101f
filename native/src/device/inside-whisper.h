// Part of whisper.cpp, which includes it after its own types and decoder/inside-whisper.h: states that have a slot, and the
// functions of whisper.h for them.

static std::vector<ggml_backend_t> whisper_backend_init(const whisper_context_params & params);

// A call of the encoder for a state that has a slot
struct whisper_window {
    whisper_context & wctx;
    whisper_state   & wstate;

    const int  n_threads;
    const bool needs_output;
};

// The next tokens of the texts of a state that has a slot
struct whisper_step {
    whisper_context & wctx;
    whisper_state   & wstate;

    const whisper_batch & batch;
    const int             n_threads;
};

// All tokens of a text of a state that has a slot
struct whisper_pass {
    whisper_context & wctx;
    whisper_state   & wstate;

    const whisper_batch & batch;
    const int             n_threads;
    const bool            aligns;
};

// Counts what a slot's graphs did
static void whisper_count_evaluations(whisper_context & wctx, int64_t n_evaluated, int64_t n_weight_bytes) {
    wctx.n_graphs       += n_evaluated;
    wctx.n_weight_bytes += n_evaluated*n_weight_bytes;
}

bool whisper_is_encoded(const struct whisper_window * window) {
    return window->wstate.is_encoded;
}

bool whisper_evaluate_windows(const struct whisper_window * const * windows, int n_windows, ggml_abort_callback abort_callback, void * abort_callback_data) {
    whisper_context & wctx = windows[0]->wctx;

    const bool is_encoded = whisper_is_encoded(windows[0]);

    std::vector<transcribe::SlotWindow> slot_windows;

    int n_threads = 1;

    for (int iw = 0; iw < n_windows; ++iw) {
        auto & wstate = windows[iw]->wstate;

        WHISPER_ASSERT(wstate.slot >= 0 && wstate.is_encoded == is_encoded);

        if (!is_encoded) {
            wstate.encoder_output.resize(windows[iw]->needs_output ? (size_t) wctx.model.hparams.n_audio_ctx*wctx.model.hparams.n_audio_state : 0);
        }

        slot_windows.push_back({ wstate.slot, is_encoded ? nullptr : wstate.inp_mel.data(), wstate.encoder_output.empty() ? nullptr : wstate.encoder_output.data() });

        n_threads = std::max(n_threads, windows[iw]->n_threads);
    }

    const int64_t n_before = wctx.windows->evaluations().evaluated;

    if (!wctx.windows->evaluate(slot_windows, n_threads, abort_callback, abort_callback_data)) {
        return false;
    }

    whisper_count_evaluations(wctx, wctx.windows->evaluations().evaluated - n_before, wctx.windows->weight_bytes(!is_encoded));

    return true;
}

static bool whisper_encode_in_slot(
        whisper_context & wctx,
          whisper_state & wstate,
              const int   n_threads,
             const bool   needs_output,
    ggml_abort_callback   abort_callback,
                   void * abort_callback_data) {
    const int64_t t_start_us = ggml_time_us();

    const whisper_window window { wctx, wstate, n_threads, needs_output };
    const whisper_window * windows[] = { &window };

    const auto & callbacks = wstate.slot_callbacks;

    const bool is_evaluated = callbacks.window
        ? callbacks.window(&window, callbacks.user_data)
        : whisper_evaluate_windows(windows, 1, abort_callback, abort_callback_data);

    wstate.has_encoder_output = is_evaluated && !wstate.encoder_output.empty();

    if (!is_evaluated) {
        return false;
    }

    wstate.t_encode_us += ggml_time_us() - t_start_us;
    wstate.n_encode++;

    if (abort_callback && abort_callback(abort_callback_data)) {
        return false;
    }

    wstate.encoded_mel = wstate.inp_mel;

    return true;
}

bool whisper_evaluate_steps(const struct whisper_step * const * steps, int n_steps) {
    whisper_context & wctx = steps[0]->wctx;

    std::vector<std::vector<bool>> visible;
    visible.reserve((size_t) n_steps*WHISPER_MAX_DECODERS);

    std::vector<transcribe::SlotStep> slot_steps;

    int n_threads = 1;

    for (int is = 0; is < n_steps; ++is) {
        const whisper_batch & batch = steps[is]->batch;

        auto & wstate  = steps[is]->wstate;
        auto & kv_self = wstate.kv_self;

        WHISPER_ASSERT(wstate.slot >= 0 && batch.n_tokens <= transcribe::Slots::most_rows);

        const size_t first = visible.size();

        for (int j = 0; j < batch.n_tokens; ++j) {
            std::vector<bool> sees(kv_self.n);
            for (size_t i = 0; i < sees.size(); ++i) {
                sees[i] = kv_self.cells[i].has_seq_id(batch.seq_id[j][0]) && kv_self.cells[i].pos <= batch.pos[j];
            }
            visible.push_back(std::move(sees));
        }

        wstate.slot_choices.resize(batch.n_tokens);

        // without rules all logits are wanted
        const bool has_rules = (int) wstate.slot_rules.size() == batch.n_tokens;

        slot_steps.push_back({ wstate.slot, batch.n_tokens, batch.token, batch.pos, (int) kv_self.head, (int) kv_self.n, visible.data() + first,
                has_rules ? wstate.slot_rules.data() : nullptr, has_rules ? wstate.slot_choices.data() : nullptr, has_rules ? nullptr : wstate.logits.data() });

        n_threads = std::max(n_threads, steps[is]->n_threads);
    }

    if (!wctx.slots->evaluate(slot_steps, n_threads)) {
        return false;
    }

    whisper_count_evaluations(wctx, 1, wctx.slots->weight_bytes());

    return true;
}

bool whisper_is_prompt(const struct whisper_pass * pass) {
    return !pass->aligns;
}

bool whisper_evaluate_passes(const struct whisper_pass * const * passes, int n_passes) {
    whisper_context & wctx = passes[0]->wctx;

    const int n_vocab = wctx.model.hparams.n_vocab;

    std::vector<transcribe::SlotPass> slot_passes;

    int n_threads = 1;

    for (int ip = 0; ip < n_passes; ++ip) {
        const whisper_batch & batch = passes[ip]->batch;

        auto & wstate = passes[ip]->wstate;

        WHISPER_ASSERT(wstate.slot >= 0 && batch.pos[0] == 0);

        transcribe::SlotPass pass { wstate.slot, batch.n_tokens, batch.token, -1, {}, nullptr };

        if (passes[ip]->aligns) {
            wstate.aheads_cross_QKs_data.resize(wctx.passes->heads()*batch.n_tokens*wctx.model.hparams.n_audio_ctx);
            pass.weights = wstate.aheads_cross_QKs_data.data();
        } else {
            pass.first_cell = wstate.kv_self.head;
            for (int i = 0; i < batch.n_tokens; ++i) {
                if (batch.logits[i] != 0) {
                    pass.logits.push_back({ i, wstate.logits.data() + (size_t) n_vocab*i });
                }
            }
        }

        slot_passes.push_back(std::move(pass));

        n_threads = std::max(n_threads, passes[ip]->n_threads);
    }

    const int64_t n_before = wctx.passes->evaluations().evaluated;

    if (!wctx.passes->evaluate(slot_passes, n_threads)) {
        return false;
    }

    whisper_count_evaluations(wctx, wctx.passes->evaluations().evaluated - n_before, wctx.passes->weight_bytes());

    return true;
}

// Evaluates a batch of a state that has a slot: few tokens as a step, together with the texts of others
static bool whisper_decode_in_slot(
        whisper_context & wctx,
          whisper_state & wstate,
    const whisper_batch & batch,
              const int   n_threads,
                   bool   aligns) {
    const auto & callbacks = wstate.slot_callbacks;

    const bool has_rules = (int) wstate.slot_rules.size() == batch.n_tokens;

    if (!aligns && !has_rules) {
        wstate.logits.resize((size_t) batch.n_tokens*wctx.model.hparams.n_vocab);
    }

    bool is_evaluated = false;

    if (!aligns && batch.n_tokens <= transcribe::Slots::most_rows) {
        const whisper_step step { wctx, wstate, batch, n_threads };
        const whisper_step * steps[] = { &step };

        is_evaluated = callbacks.step ? callbacks.step(&step, callbacks.user_data) : whisper_evaluate_steps(steps, 1);

        wstate.has_slot_choices = is_evaluated && has_rules;
    } else {
        const whisper_pass pass { wctx, wstate, batch, n_threads, aligns };
        const whisper_pass * passes[] = { &pass };

        is_evaluated = callbacks.pass ? callbacks.pass(&pass, callbacks.user_data) : whisper_evaluate_passes(passes, 1);
    }

    wstate.slot_rules.clear();

    return is_evaluated;
}

// Positions of a slot's cache: room for as many texts as it follows, and two more for what is freed late
static int whisper_slot_cells(const whisper_context & wctx) {
    return GGML_PAD(wctx.model.hparams.n_text_ctx, 256)*(transcribe::Slots::most_rows + 2);
}

// Bits of the number of a mask, each for something that the mask forbids
enum { WHISPER_MASK_TIMESTAMPS = 1, WHISPER_MASK_WORDS = 2, WHISPER_MASK_NON_SPEECH = 4, WHISPER_N_MASKS = 8 };

static std::vector<std::vector<float>> whisper_slot_masks(whisper_context & wctx) {
    const auto & vocab = wctx.vocab;

    std::vector<std::vector<float>> masks(WHISPER_N_MASKS, std::vector<float>(vocab.n_vocab, 0.0f));

    for (int n = 0; n < WHISPER_N_MASKS; ++n) {
        const auto forbid = [&](int first, int end) {
            std::fill(masks[n].begin() + first, masks[n].begin() + end, -INFINITY);
        };

        for (const whisper_token token : { vocab.token_not, vocab.token_sot, vocab.token_nosp, vocab.token_solm, vocab.token_translate, vocab.token_transcribe, vocab.token_prev }) {
            forbid(token, token + 1);
        }
        for (size_t i = 0; i < g_lang.size(); ++i) {
            const whisper_token token = whisper_token_lang(&wctx, i);
            forbid(token, token + 1);
        }
        if (n & WHISPER_MASK_TIMESTAMPS) {
            forbid(vocab.token_beg, vocab.n_vocab);
        }
        if (n & WHISPER_MASK_WORDS) {
            forbid(0, vocab.token_eot);
        }
        if (n & WHISPER_MASK_NON_SPEECH) {
            for (const whisper_vocab::id id : vocab.non_speech) {
                forbid(id, id + 1);
            }
        }
    }

    return masks;
}

static transcribe::DecoderWeights whisper_decoder_weights(const whisper_model & model, const whisper_vocab & vocab) {
    transcribe::DecoderWeights weights { model.d_te, model.d_pe, { model.d_ln_w, model.d_ln_b }, {}, model.hparams.n_text_head, model.hparams.eps, vocab.token_beg };

    for (const auto & layer : model.layers_decoder) {
        weights.layers.push_back({
                { layer.attn_ln_0_w,       layer.attn_ln_0_b },
                { layer.attn_q_w,          layer.attn_q_b },
                { layer.attn_k_w,          nullptr },
                { layer.attn_v_w,          layer.attn_v_b },
                { layer.attn_ln_1_w,       layer.attn_ln_1_b },
                { layer.cross_attn_ln_0_w, layer.cross_attn_ln_0_b },
                { layer.cross_attn_q_w,    layer.cross_attn_q_b },
                { layer.cross_attn_k_w,    nullptr },
                { layer.cross_attn_v_w,    layer.cross_attn_v_b },
                { layer.cross_attn_ln_1_w, layer.cross_attn_ln_1_b },
                { layer.mlp_ln_w,          layer.mlp_ln_b },
                { layer.mlp_0_w,           layer.mlp_0_b },
                { layer.mlp_1_w,           layer.mlp_1_b },
        });
    }

    return weights;
}

static transcribe::EncoderWeights whisper_encoder_weights(const whisper_model & model) {
    transcribe::EncoderWeights weights { { model.e_conv_1_w, model.e_conv_1_b }, { model.e_conv_2_w, model.e_conv_2_b }, model.e_pe, {}, { model.e_ln_w, model.e_ln_b }, model.hparams.n_audio_head, model.hparams.eps };

    for (const auto & layer : model.layers_encoder) {
        weights.layers.push_back({
                { layer.attn_ln_0_w, layer.attn_ln_0_b },
                { layer.attn_q_w,    layer.attn_q_b },
                { layer.attn_k_w,    nullptr },
                { layer.attn_v_w,    layer.attn_v_b },
                { layer.attn_ln_1_w, layer.attn_ln_1_b },
                { layer.mlp_ln_w,    layer.mlp_ln_b },
                { layer.mlp_0_w,     layer.mlp_0_b },
                { layer.mlp_1_w,     layer.mlp_1_b },
        });
    }

    return weights;
}

// Sets up the slots of a context. Without memory, or with a device that lacks an operation, each state is evaluated alone
static void whisper_init_slots(whisper_context & wctx) {
    const auto & model   = wctx.model;
    const auto & hparams = model.hparams;

    if (wctx.params.n_slots <= 1 || !wctx.params.flash_attn || wctx.itype != GGML_TYPE_F16 || !whisper_read_encoder(wctx)) {
        return;
    }

    // graphs of different kinds do not wait for each other
    const auto backend = [&]() {
        const std::vector<ggml_backend_t> backends = whisper_backend_init(wctx.params);
        wctx.slot_backends.insert(wctx.slot_backends.end(), backends.begin(), backends.end());
        return backends.at(0);
    };

    std::vector<transcribe::Passes::Head> heads;
    for (int il = 0; il < hparams.n_text_layer && wctx.params.dtw_token_timestamps; ++il) {
        for (const uint32_t head : get_alignment_heads_by_layer(wctx.params, il, hparams.n_text_layer, hparams.n_text_head)) {
            heads.push_back({ il, (int) head });
        }
    }

    try {
        auto slots = std::make_unique<transcribe::Slots>(backend(), whisper_decoder_weights(model, wctx.vocab), whisper_slot_masks(wctx),
                wctx.params.n_slots, whisper_slot_cells(wctx), GGML_PAD(hparams.n_audio_ctx, 256));
        wctx.windows = std::make_unique<transcribe::Windows>(backend(), whisper_encoder_weights(model), *slots);
        wctx.passes  = std::make_unique<transcribe::Passes>(backend(), *slots, std::move(heads), hparams.n_audio_ctx);
        wctx.slots   = std::move(slots);
        wctx.is_slot_taken.assign(wctx.params.n_slots, false);
    } catch (const std::exception & error) {
        wctx.windows.reset();
        WHISPER_LOG_WARN("%s: windows are transcribed one by one: %s\n", __func__, error.what());
    }
}

// Gives a new state a free slot and all else that it needs. Returns false if there is none
static bool whisper_take_slot(whisper_context & wctx, whisper_state & wstate) {
    if (!wctx.slots) {
        return false;
    }

    const std::lock_guard<std::mutex> lock(wctx.slot_mutex);

    const auto free = std::find(wctx.is_slot_taken.begin(), wctx.is_slot_taken.end(), false);
    if (free == wctx.is_slot_taken.end()) {
        return false;
    }
    *free = true;

    wstate.slot = free - wctx.is_slot_taken.begin();
    wstate.slot_context = &wctx;
    wstate.kv_self_n_dec = transcribe::Slots::most_rows;

    // the slots have the keys and values themselves
    wstate.kv_self.size = whisper_slot_cells(wctx);
    wstate.kv_self.cells.assign(wstate.kv_self.size, {});

    const auto & hparams = wctx.model.hparams;

    wstate.batch = whisper_batch_init(hparams.n_text_ctx, WHISPER_MAX_DECODERS);
    wstate.logits.reserve(wctx.vocab.n_vocab*hparams.n_text_ctx);

    auto & decoder = wstate.decoders[0];

    decoder.sequence.tokens.reserve(hparams.n_text_ctx);
    decoder.probs.reserve    (wctx.vocab.n_vocab);
    decoder.logits.reserve   (wctx.vocab.n_vocab);
    decoder.logprobs.reserve (wctx.vocab.n_vocab);
    decoder.logits_id.reserve(hparams.n_vocab);
    decoder.rng = std::mt19937(0);

    return true;
}

// Sets for each row of the next step what may come after it, if the slots can choose by the rules of this call: those of
// whisper_process_logits after the first token
static void whisper_set_slot_rules(
              struct whisper_context & ctx,
               struct whisper_state  & state,
    const struct whisper_full_params & params,
                               float   temperature,
                                 int   n_decoders) {
    const auto & vocab = ctx.vocab;

    state.slot_rules.clear();

    if (state.slot < 0 || temperature > 0.0f || params.n_grammar_rules > 0 || params.logits_filter_callback || params.suppress_regex || params.tdrz_enable ||
        params.beam_search.beam_size >= transcribe::SlotChoice::most) {
        return;
    }

    for (int j = 0; j < n_decoders; ++j) {
        const auto & decoder = state.decoders[j];
        const auto & tokens  = decoder.sequence.tokens;

        if (decoder.failed || decoder.completed) {
            continue;
        }

        const bool last_was_timestamp        = tokens.size() > 0 && tokens.back().id >= vocab.token_beg;
        const bool penultimate_was_timestamp = tokens.size() < 2 || tokens[tokens.size() - 2].id >= vocab.token_beg;

        const bool is_full = !params.no_timestamps && !params.single_segment && params.max_tokens > 0 && (int) tokens.size() >= params.max_tokens;

        int mask = params.suppress_nst ? WHISPER_MASK_NON_SPEECH : 0;
        if (params.no_timestamps || (last_was_timestamp && penultimate_was_timestamp)) {
            mask |= WHISPER_MASK_TIMESTAMPS;
        }
        if (is_full || (last_was_timestamp && !penultimate_was_timestamp)) {
            mask |= WHISPER_MASK_WORDS;
        }

        state.slot_rules.push_back({ mask, decoder.has_ts ? decoder.seek_delta/2 : 0 });
    }
}

// Takes over what the slots chose for a decoder
static void whisper_take_choice(const whisper_vocab & vocab, const transcribe::SlotChoice & choice, whisper_decoder & decoder) {
    const auto & best = choice.best[0];

    decoder.has_choice       = true;
    decoder.logsumexp        = best.logit - logf(best.probability);
    decoder.best_timestamp   = vocab.token_beg + choice.best_timestamps[0].id;
    decoder.best_timestamp_p = choice.best_timestamps[0].probability;
    decoder.timestamps_p     = choice.timestamps;

    // if the sum of probability over timestamps is above any other token, sample timestamp
    const bool is_timestamp = best.id >= vocab.token_beg || choice.timestamps > best.probability;

    decoder.logits_id.clear();

    for (int k = 0; k < transcribe::SlotChoice::most; ++k) {
        const auto & token = is_timestamp ? choice.best_timestamps[k] : choice.best[k];
        if (token.logit > -INFINITY) {
            decoder.logits_id.push_back({ token.logit, token.id + (is_timestamp ? vocab.token_beg : 0) });
        }
    }
}

// A token that the slots chose
static whisper_token_data whisper_chosen_token(const whisper_vocab & vocab, const whisper_decoder & decoder, size_t i) {
    const auto id   = decoder.logits_id[i].second;
    const float plog = decoder.logits_id[i].first - decoder.logsumexp;
    const float p    = expf(plog);
    const float pt   = decoder.best_timestamp_p/(decoder.timestamps_p + 1e-10);

    if (id >= vocab.token_beg) {
        return { id, id, p, plog, p, decoder.timestamps_p, -1, -1, -1, 0.0f, };
    }
    return { id, decoder.timestamps_p > 0.0f ? decoder.best_timestamp : vocab.token_beg, p, plog, pt, decoder.timestamps_p, -1, -1, -1, 0.0f, };
}

static struct whisper_evaluations whisper_evaluations_of(const transcribe::Evaluations & evaluations) {
    return { evaluations.built, evaluations.evaluated, evaluations.items };
}

struct whisper_work whisper_get_work(struct whisper_context * ctx) {
    whisper_work work { ctx->n_graphs, ctx->n_weight_bytes, {}, {}, {}, 0 };
    if (ctx->slots) {
        work.windows    = whisper_evaluations_of(ctx->windows->evaluations());
        work.steps      = whisper_evaluations_of(ctx->slots->evaluations());
        work.passes     = whisper_evaluations_of(ctx->passes->evaluations());
        work.step_nodes = ctx->slots->digest();
    }
    return work;
}

void whisper_set_slot_callbacks(struct whisper_state * state, struct whisper_slot_callbacks callbacks) {
    state->slot_callbacks = callbacks;
}

void whisper_set_encoder_callback(struct whisper_state * state, whisper_encoder_callback callback, void * user_data) {
    state->encoder_callback           = callback;
    state->encoder_callback_user_data = user_data;
}

void whisper_get_encoder_output(struct whisper_state * state, float * output) {
    if (state->slot >= 0) {
        std::copy(state->encoder_output.begin(), state->encoder_output.end(), output);
    } else {
        ggml_backend_tensor_get(state->embd_enc, output, 0, ggml_nbytes(state->embd_enc));
    }
}
