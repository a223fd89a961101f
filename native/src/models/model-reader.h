#pragma once

#include "ggml.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

// Reads untrusted model files. Each function throws a std::runtime_error if the file is truncated or contains values
// that no model has, before memory is allocated. `Loader` is whisper_model_loader or parakeet_model_loader.

// Reads exactly `size` bytes.
template<typename Loader>
static inline void model_read(Loader * loader, void * to, size_t size) {
    if (size > 0 && loader->read(loader->context, to, size) != size) {
        throw std::runtime_error("the file ends too early");
    }
}

// Reads exactly `size` bytes, or returns false at the end of the file.
template<typename Loader>
static inline bool model_read_or_end(Loader * loader, void * to, size_t size) {
    const size_t got = loader->read(loader->context, to, size);
    if (got != 0 && got != size) {
        throw std::runtime_error("the file ends too early");
    }
    return got != 0;
}

// Returns the size of an open file in bytes; 0 if unknown, as for a pipe.
static inline size_t model_file_size(std::ifstream & file) {
    file.seekg(0, std::ios::end);
    const std::streamoff size = file.tellg();
    file.clear();
    file.seekg(0, std::ios::beg);
    file.clear();
    return size > 0 ? (size_t) size : 0;
}

static inline void model_check(int64_t value, int64_t least, int64_t most, const char * name) {
    if (value < least || value > most) {
        throw std::runtime_error(std::string(name) + " is " + std::to_string(value) + ", not " + std::to_string(least) +
                                 (least == most ? "" : " to " + std::to_string(most)));
    }
}

// Returns the element type of a model's large tensors by its `ftype`; GGML_TYPE_COUNT if there is none (ggml would abort).
static inline ggml_type model_weight_type(int32_t ftype) {
    switch (ftype) {
        case GGML_FTYPE_ALL_F32:
        case GGML_FTYPE_MOSTLY_F16:
        case GGML_FTYPE_MOSTLY_Q4_0:
        case GGML_FTYPE_MOSTLY_Q4_1:
        case GGML_FTYPE_MOSTLY_Q5_0:
        case GGML_FTYPE_MOSTLY_Q5_1:
        case GGML_FTYPE_MOSTLY_Q8_0:
        case GGML_FTYPE_MOSTLY_Q2_K:
        case GGML_FTYPE_MOSTLY_Q3_K:
        case GGML_FTYPE_MOSTLY_Q4_K:
        case GGML_FTYPE_MOSTLY_Q5_K:
        case GGML_FTYPE_MOSTLY_Q6_K:
            return ggml_ftype_to_ggml_type((ggml_ftype) ftype);
        default:
            return GGML_TYPE_COUNT;
    }
}

// Throws if a file is too small for the tensors that its header announces, so that no memory is allocated for them.
// Tensors that are quantized while being read take more space in the file, never less.
template<typename Loader>
static inline void model_check_size(Loader * loader, const std::map<std::string, ggml_tensor *> & tensors) {
    size_t needed = 0;
    for (const auto & tensor : tensors) {
        needed += ggml_nbytes(tensor.second);
    }
    if (loader->size > 0 && needed > loader->size) {
        throw std::runtime_error("the file has " + std::to_string(loader->size) + " bytes, its tensors take " + std::to_string(needed));
    }
}

// Header of a tensor.
struct model_tensor_header {
    std::string name;
    int32_t type;
    int32_t ne[4];

    // Throws unless the file's tensor has exactly the shape and the type that the model needs.
    void require(const ggml_tensor * tensor, ggml_type needed) const {
        for (int i = 0; i < 4; ++i) {
            if (tensor->ne[i] != ne[i]) {
                throw std::runtime_error("the tensor " + name + " has another shape than the model needs");
            }
        }
        if (type != needed) {
            throw std::runtime_error("the tensor " + name + " is of type " + std::to_string(type) + ", not " + std::to_string(needed));
        }
    }
};

// Reads the next tensor's header, or returns false at the end of the file. `swap` converts a number to native byte order.
template<typename Loader, typename Swap>
static inline bool model_read_tensor_header(Loader * loader, model_tensor_header & header, Swap swap) {
    int32_t start[3];
    if (!model_read_or_end(loader, start, sizeof(start))) {
        return false;
    }
    const int32_t n_dims = swap(start[0]);
    const int32_t length = swap(start[1]);
    header.type = swap(start[2]);
    // a single number has no dimension
    model_check(n_dims, 0, 4, "a tensor's number of dimensions");
    model_check(length, 1, 256, "the length of a tensor's name");
    for (int i = 0; i < 4; ++i) {
        header.ne[i] = 1;
        if (i < n_dims) {
            model_read(loader, &header.ne[i], sizeof(header.ne[i]));
            header.ne[i] = swap(header.ne[i]);
            model_check(header.ne[i], 1, INT32_MAX, "a tensor's dimension");
        }
    }
    header.name.resize(length);
    model_read(loader, &header.name[0], length);
    return true;
}
