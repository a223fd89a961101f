import { type Check, ok, skipped } from "../check.ts";
import { kernelsInUse } from "../context.ts";

const kernels: Check = {
  id: "cpu.kernels",
  title: "CPU kernels",
  explanation:
    "The instructions with which this program computes on the CPU: it has kernels of its own for AVX2, AVX-VNNI, AVX-512 VNNI, and AVX-512 VNNI with BF16, from the slowest to the fastest. They follow the CPU variant, and so does the form of the speech model's encoder. Without them the kernels of ggml and ONNX Runtime compute. ONNX Runtime runs the speaker models and chooses its instructions by itself.",
  heavy: true,
  async run(context) {
    const kernels = await kernelsInUse(context);
    return kernels === null ? skipped("no variant of the CPU backend works") : ok(kernels.summary);
  },
};

export const kernelChecks = [kernels];
