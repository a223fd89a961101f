#pragma once

namespace transcribe {

// Functions of a text's logits: between two steps of the decoder they take 51,865 of them for each text, sixteen at once.

// Returns the largest of the numbers.
float largest(const float * numbers, int count);

// Returns log(Σ e^x); minus infinity if all x are. `most`: the largest of them
float log_of_sum(const float * numbers, int count, float most);

// Computes e^x of logarithms of probabilities.
void probabilities(const float * logarithms, int count, float * output);

}  // namespace transcribe
