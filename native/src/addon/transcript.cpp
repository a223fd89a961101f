#include "transcript.h"

namespace transcribe {

namespace {

// Returns the length of the character that starts with this byte (RFC 3629, section 3), or 0 if no character does.
size_t character_length(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return 2;
    if (first >= 0xE0 && first <= 0xEF) return 3;
    if (first >= 0xF0 && first <= 0xF4) return 4;
    return 0;
}

enum class Bytes { whole, unfinished, wrong };

// Returns whether the bytes are whole characters, end inside a character, or can never become text.
Bytes check_utf8(const std::string & bytes) {
    size_t at = 0;
    while (at < bytes.size()) {
        const size_t length = character_length(static_cast<unsigned char>(bytes[at]));
        if (length == 0) {
            return Bytes::wrong;
        }
        for (size_t i = 1; i < length; ++i) {
            if (at + i == bytes.size()) {
                return Bytes::unfinished;
            }
            if ((static_cast<unsigned char>(bytes[at + i]) & 0xC0) != 0x80) {
                return Bytes::wrong;
            }
        }
        at += length;
    }
    return Bytes::whole;
}

// Joins tokens to pieces of whole characters. Drops bytes that never become characters: the model did not finish them.
class PieceJoiner {
public:
    void add(const char * token_bytes, const whisper_token_data & token, bool is_given) {
        bytes_ += token_bytes;
        probability_sum_ += token.p;
        count_ += 1;
        given_ += is_given;
        const Bytes state = check_utf8(bytes_);
        if (state == Bytes::unfinished) {
            return;
        }
        if (state == Bytes::whole && !bytes_.empty()) {
            pieces.push_back({bytes_, probability_sum_ / count_, token.t_dtw, given_ == count_});
        }
        bytes_.clear();
        probability_sum_ = 0;
        count_ = 0;
        given_ = 0;
    }

    std::vector<Piece> pieces;

private:
    std::string bytes_;
    float probability_sum_ = 0;
    int count_ = 0;
    int given_ = 0;
};

}  // namespace

std::vector<Segment> read_segments(whisper_context * context, whisper_state * state, size_t given) {
    std::vector<Segment> segments;
    const whisper_token first_special = whisper_token_eot(context);
    for (int i = 0; i < whisper_full_n_segments_from_state(state); ++i) {
        PieceJoiner joiner;
        double log_probability_sum = 0;
        int text_tokens = 0;
        for (int j = 0; j < whisper_full_n_tokens_from_state(state, i); ++j) {
            const whisper_token_data token = whisper_full_get_token_data_from_state(state, i, j);
            if (token.id >= first_special) {
                continue;
            }
            const bool is_given = given > 0;
            joiner.add(whisper_token_to_str(context, token.id), token, is_given);
            if (is_given) {
                given -= 1;
                continue;
            }
            log_probability_sum += token.plog;
            text_tokens += 1;
        }
        segments.push_back({
            whisper_full_get_segment_t0_from_state(state, i),
            whisper_full_get_segment_t1_from_state(state, i),
            whisper_full_get_segment_no_speech_prob_from_state(state, i),
            text_tokens == 0 ? 0.0f : static_cast<float>(log_probability_sum / text_tokens),
            std::move(joiner.pieces),
        });
    }
    return segments;
}

Napi::Value to_javascript(Napi::Env env, const Transcript & transcript) {
    Napi::Array segments = Napi::Array::New(env, transcript.segments.size());
    for (uint32_t i = 0; i < transcript.segments.size(); ++i) {
        const Segment & segment = transcript.segments[i];
        Napi::Array pieces = Napi::Array::New(env, segment.pieces.size());
        for (uint32_t j = 0; j < segment.pieces.size(); ++j) {
            const Piece & piece = segment.pieces[j];
            Napi::Object entry = Napi::Object::New(env);
            entry.Set("text", piece.text);
            entry.Set("probability", piece.probability);
            entry.Set("isGiven", piece.is_given);
            entry.Set("alignedEnd", static_cast<double>(piece.aligned_end));
            pieces.Set(j, entry);
        }
        Napi::Object entry = Napi::Object::New(env);
        entry.Set("start", static_cast<double>(segment.start));
        entry.Set("end", static_cast<double>(segment.end));
        entry.Set("noSpeechProbability", segment.no_speech_probability);
        entry.Set("averageLogProbability", segment.average_log_probability);
        entry.Set("pieces", pieces);
        segments.Set(i, entry);
    }
    Napi::Object result = Napi::Object::New(env);
    result.Set("aborted", transcript.aborted);
    result.Set("language", transcript.language);
    result.Set("segments", segments);
    return result;
}

}  // namespace transcribe
