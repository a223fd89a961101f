import { existsSync } from "node:fs";
import { runSelfTest } from "../../../devices/index.ts";
import {
  builtInPath,
  familyFacts,
  findModel,
  foreignWeights,
  ModelLibrary,
  productCatalogue,
  type SpeechModel,
  verifyBuiltIn,
  verifyInstalled,
} from "../../../models/index.ts";
import { readModelLanguages, validateModelFile } from "../../../speech/index.ts";
import { count, messageOf, size } from "../../../text/index.ts";
import { type Check, type CheckContext, type Finding, ok, problem, skipped, unpackAgain } from "../check.ts";
import { filesOf, kernelsInUse, speechModelOf } from "../context.ts";

const speech: Check = {
  id: "model.whisper",
  title: "Speech model",
  explanation:
    "The speech model for new recordings: whether its file exists, has the right format, and equals the published or installed file byte for byte.",
  heavy: true,
  async run(context): Promise<Finding> {
    if (context.speechModel === null) throw filesOf(context);
    const { id, path } = context.speechModel;
    const advice =
      "Choose another model (transcribe models list, transcribe models use ID) or get this one again (transcribe models pull ID; without a network, transcribe models import FILE).";
    if (!existsSync(path)) {
      const detail = [`there is no file ${path}`];
      return problem(`${id} is missing, so nothing can be transcribed`, { detail, advice });
    }
    let languages: string;
    let others: string[];
    try {
      validateModelFile(path);
      languages = count(readModelLanguages(path).length, "language");
      others = otherModels(context, { id, path });
    } catch (error) {
      return problem(`${id} is unusable, so nothing can be transcribed`, { detail: [messageOf(error)], advice });
    }
    const damage = await damageOf(context, id, path);
    const more = others.length === 0 ? "" : `; ${others.join("; ")}`;
    if (damage === undefined) return ok(`${id}, ${languages}, checksum unknown${more}`, path);
    if (damage === null) {
      const foreign = await foreignOf(id, path, context);
      const detail = [path, ...(foreign === null ? [] : [`not the file of releases: its SHA-256 is ${foreign}`])];
      return ok(`${id}, ${languages}, checksum correct${more}`, ...detail);
    }
    return problem(`${id} is damaged`, { detail: [path, damage], advice });
  },
};

/** Names the other models that recognize parts of new recordings. */
function otherModels({ speechModels }: CheckContext, model: SpeechModel): string[] {
  const companion = speechModels?.companionOf(model) ?? null;
  const routes = (speechModels?.routes() ?? []).filter((route) => route.model.id !== model.id);
  return [
    ...(companion === null
      ? []
      : [`${companion.id} detects the language and recognizes those that no other model knows`]),
    ...routes.map((route) => `${route.model.id} recognizes ${route.codes.join(", ")}`),
  ];
}

/** Returns the damage of a model file; null if it is intact, undefined if there is no checksum to compare it with. */
async function damageOf({ paths }: CheckContext, id: string, path: string): Promise<string | null | undefined> {
  const catalogue = productCatalogue();
  const installed = new ModelLibrary(paths.models).find(id);
  if (installed?.path === path) return await verifyInstalled(installed, catalogue);
  const entry = findModel(catalogue, id);
  return entry === null ? undefined : await verifyBuiltIn(entry, path);
}

/** Returns the SHA-256 of a built-in model that is not the file of releases. */
async function foreignOf(id: string, path: string, context: CheckContext): Promise<string | null> {
  const entry = findModel(productCatalogue(), id);
  return entry !== null && builtInPath(entry, filesOf(context)) === path ? await foreignWeights(entry, path) : null;
}

const speakers: Check = {
  id: "model.speakers",
  title: "Speaker models",
  explanation:
    "The built-in models for speech detection and speaker diarization. Both must equal the published files byte for byte.",
  heavy: true,
  async run(context): Promise<Finding> {
    const files = filesOf(context);
    const detail: string[] = [];
    for (const entry of productCatalogue()) {
      const path = entry.kind === "speech" ? null : builtInPath(entry, files);
      const damage = path === null ? null : await verifyBuiltIn(entry, path);
      if (damage !== null) detail.push(`${entry.id}: ${damage}`);
    }
    if (detail.length === 0) return ok("both present, checksums correct");
    return problem("a model for speaker diarization is damaged or missing, so nothing can be transcribed", {
      detail,
      advice: unpackAgain,
    });
  },
};

const library: Check = {
  id: "model.library",
  title: "Installed models",
  explanation:
    "The models installed by `transcribe models pull` and `import`. With `--all` every byte of each is compared with its checksum, which takes some seconds for each gigabyte.",
  heavy: true,
  async run({ data, paths, all }): Promise<Finding> {
    if (data !== "present") return skipped("there is no readable data directory");
    const models = new ModelLibrary(paths.models).list();
    if (models.length === 0) return skipped("only the built-in models are installed");
    const names = models.map(({ id, sizeBytes }) => `${id}, ${size(sizeBytes)}`);
    if (!all) return ok(`${count(models.length, "model")}; --all compares their checksums`, ...names);
    const detail: string[] = [];
    for (const model of models) {
      const damage = await verifyInstalled(model, productCatalogue());
      if (damage !== null) detail.push(`${model.id}: ${damage}`);
    }
    if (detail.length === 0) return ok(`${count(models.length, "model")}, checksums correct`, ...names);
    return problem(`${count(detail.length, "installed model")} damaged`, {
      detail,
      advice:
        "Remove the model (transcribe models remove ID) and get it again (transcribe models pull ID; if it is not in the catalogue, transcribe models import FILE).",
    });
  },
};

const onnx: Check = {
  id: "engine.onnx",
  title: "Speaker models' self-test",
  explanation:
    "ONNX Runtime runs the models for speech detection and speaker diarization on a second of noise, in a separate process. Without them no recording can be processed.",
  heavy: true,
  async run(context) {
    const { onnxBinding, segmentationModel, embeddingModel } = filesOf(context);
    const { signal } = context;
    const test = await runSelfTest("computeDiarization", { onnxBinding, segmentationModel, embeddingModel, signal });
    if (test.ok) return ok(`both work (${test.answer.seconds.toFixed(2)} s for a few seconds of audio)`);
    return problem("the models for speaker diarization do not run, so nothing can be transcribed", {
      detail: [test.reason],
      advice: `If the model files are intact (model.speakers), ONNX Runtime itself is missing or damaged. ${unpackAgain}`,
    });
  },
};

const encoder: Check = {
  id: "engine.encoder",
  title: "Speech model's encoder",
  explanation:
    "A speech model spends most of its time in its encoder. On a CPU the server builds a form of the encoder for ONNX Runtime and stores it in state/encoders of the data directory. The first recording with three minutes of speech runs its self-test, in a separate process. It is used if it gives the same numbers as the model's own encoder and is faster. Each recording uses one encoder from start to end. To repeat the self-test, stop the server and remove state/devices.json.",
  heavy: true,
  async run(context) {
    if (familyFacts({ path: speechModelOf(context) })?.hasOnnxEncoder === false) {
      return skipped("a model of this family computes its encoder itself");
    }
    const untested = skipped("not tested yet: the first recording with three minutes of speech runs the self-test");
    const kernels = await kernelsInUse(context);
    if (kernels === null) return skipped("no variant of the CPU backend works");
    return kernels.encoder === null ? untested : ok(kernels.encoder);
  },
};

export const modelChecks = [speech, speakers, library, onnx, encoder];
