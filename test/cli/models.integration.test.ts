import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { Type } from "@sinclair/typebox";
import { available, root } from "../../harness/checkout.ts";
import { tinyModel, writeRandomModel } from "../../harness/parakeet/random-model.ts";
import { resultOf } from "../../harness/processes.ts";
import { runCli } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { smallWhisper } from "../../harness/whisper/small-models.ts";
import { transferText } from "../../src/cli/status-line.ts";
import { basePath } from "../support/whisper.ts";
import { Commands, maybe, shape } from "./support.ts";

const maybeText = maybe(Type.String());
const rowShape = shape({
  id: Type.String(),
  kind: Type.String(),
  state: Type.Union([Type.Literal("built_in"), Type.Literal("installed"), Type.Literal("available")]),
  in_use: Type.Boolean(),
  in_catalogue: Type.Boolean(),
  size_bytes: maybe(Type.Integer()),
  size_is_exact: Type.Boolean(),
  memory_bytes: maybe(Type.Integer()),
  ...{ parameters: maybeText, languages: maybeText, licence: maybeText, sha256: maybeText, sha1: maybeText },
  ...{ from: maybeText, installed_at: maybeText, advice: maybeText },
});
const listShape = Type.Array(rowShape);
const shownShape = shape({
  ...{ id: Type.String(), size_bytes: Type.Integer(), sha256: Type.String(), sha1: Type.String() },
  ...{ in_catalogue: Type.Boolean(), from: Type.String(), installed_at: Type.String() },
});
const findingsShape = Type.Array(Type.Object({ id: Type.String(), ok: Type.Boolean(), damage: maybeText }));

// Takes seconds on an idle machine, and longer on a busy one.
setDefaultTimeout(60_000);

describe.if(available("commands for models", basePath))("transcribe models", () => {
  const directory = temporaryDirectory();
  const data = join(directory.path, "data");
  const commands = new Commands(data);
  const loud = join(directory.path, "ggml-loud.bin");

  beforeAll(() => Bun.write(loud, smallWhisper().bytes));
  afterAll(() => directory[Symbol.dispose]());

  test("list prints the built-in and the official models with their properties", async () => {
    const rows = await commands.json(listShape, "models", "list");
    const row = (id: string) => rows.find((each) => each.id === id);
    expect(row("whisper-base")).toMatchObject({ state: "built_in", in_use: true, size_is_exact: true });
    expect(row("whisper-large-v3-turbo")).toMatchObject({ state: "available", in_use: false, size_is_exact: false });
    expect(row("whisper-tiny.en")).toMatchObject({ languages: "english", licence: "MIT", parameters: "39 M" });
    expect(
      rows
        .filter(({ in_use }) => in_use)
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(["embedding", "segmentation", "speech"]);
    const { stdout } = await commands.run("models", "list");
    expect(stdout).toMatch(/^whisper-small +available +~466 MiB/m);
  });

  test("import, verify and remove work on one model, and verify finds damage", async () => {
    const imported = await commands.json(Type.Array(shownShape), "models", "import", loud, "--name", "mine");
    expect(imported).toMatchObject([{ id: "mine", in_catalogue: false, from: "ggml-loud.bin" }]);
    expect(await commands.json(findingsShape, "models", "verify", "mine")).toEqual([
      { id: "mine", ok: true, damage: null },
    ]);
    const file = join(data, "models/installed/mine/model.bin");
    await Bun.write(file, "spoiled");
    const { exitCode, stdout, stderr } = await commands.run("models", "verify", "mine", "--json");
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([1, [{ id: "mine", ok: false }]]);
    expect(stderr).toBe("transcribe: mine: damaged; repair: remove it and import it again\n");
    await commands.json(shownShape, "models", "remove", "mine");
    expect(existsSync(file)).toBe(false);
  });

  test("verify of a checkout's damaged built-in model advises scripts/setup", async () => {
    const checkout = join(directory.path, "checkout");
    const damaged = join(checkout, "build/models/campplus.onnx");
    for (const part of ["src", "models", "package.json"])
      cpSync(join(root, part), join(checkout, part), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"));
    mkdirSync(dirname(damaged), { recursive: true });
    await Bun.write(damaged, "spoiled");
    const command = [process.execPath, "src/main.ts", "models", "verify", "campplus", "--data-dir", data];
    expect(await resultOf(Bun.spawn(command, { cwd: checkout, stdout: "pipe", stderr: "pipe" }))).toEqual({
      exitCode: 1,
      stdout: expect.stringContaining("campplus: damaged"),
      stderr: "transcribe: campplus: damaged; repair: run scripts/setup\n",
    });
  });

  test("bundle writes an installed model that another machine imports", async () => {
    await commands.run("models", "import", loud);
    const bundle = join(directory.path, "bundle.tar");
    await commands.json(Type.Array(shownShape), "models", "bundle", "whisper-loud", "-o", bundle);
    const elsewhere = new Commands(join(directory.path, "elsewhere"));
    expect(await elsewhere.json(Type.Array(shownShape), "models", "import", bundle)).toMatchObject([
      { id: "whisper-loud", from: "bundle.tar" },
    ]);
  });

  test("pull uses the proxy of the environment, advises on machines without a network, and leaves nothing", async () => {
    const asked: string[] = [];
    using proxy = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => {
        asked.push(request.url);
        return new Response("no", { status: 403 });
      },
    });
    const pull = (environment: Record<string, string>, ...args: string[]) =>
      runCli(["models", "pull", "whisper-tiny", ...args, "--data-dir", data], {
        ...{ TRANSCRIBE_MODELS_MIRROR: "http://models.test/whisper", NO_PROXY: "", no_proxy: "" },
        ...environment,
      });
    const refused = await pull({ HTTP_PROXY: proxy.url.origin, http_proxy: proxy.url.origin });
    expect(asked).toEqual(["http://models.test/whisper/ggml-tiny.bin"]);
    expect([refused.exitCode, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toStartWith("transcribe: whisper-tiny: models.test answered 403. Behind a proxy");
    expect(refused.stderr).toContain("transcribe models bundle ID -o FILE");
    const away = await pull({}, "--mirror", "http://127.0.0.1:9/");
    expect([away.exitCode, away.stderr]).toEqual([1, expect.stringContaining("127.0.0.1 can't be reached")]);
    expect(readdirSync(join(data, "models/downloads")).filter((name) => !name.endsWith(".lock"))).toEqual([]);
  });

  test.each([
    [["use", "whisper-nope"], "there is no model whisper-nope; list them with: transcribe models list"],
    [["use", "whisper-small"], "whisper-small is not installed; install it with: transcribe models pull whisper-small"],
    [["use", "pyannote-segmentation"], "is not a speech model"],
    [["use", "/etc/passwd"], "/etc/passwd is not a valid model id"],
    [["use", "../../x"], "is not a valid model id"],
    [["remove", "whisper-base"], "is part of the program and can't be removed"],
    [["remove", "../.."], "is not a valid model id"],
    [["pull", "small"], "did you mean whisper-small?"],
    [["pull", "whisper-base"], "comes with the program; there is nothing to pull"],
    [["verify", "whisper-small"], "whisper-small is not installed"],
    [["import", "/no/such"], "there is no file or directory /no/such"],
    [
      ["import", "/etc/hostname"],
      "import accepts a Whisper or Parakeet model in ggml format (.bin), a faster-whisper directory, or a bundle",
    ],
    [["bundle", "whisper-base", "-o", "/tmp/never"], "is part of the program and needs no bundle"],
    [["bundle", "whisper-loud", "-o", "/no/such/folder/b"], "can't write /no/such/folder/b"],
  ])("models %p is refused with what to do", async (args, words) => {
    expect(await commands.refusal("models", ...args)).toContain(words);
  });

  test("import takes a Parakeet model, and list and licenses name its author as the licence requires", async () => {
    const path = join(directory.path, "ggml-parakeet-tiny.bin");
    writeRandomModel(path, tinyModel);
    expect((await commands.run("models", "import", path)).stdout).toContain("installed parakeet-tiny");
    const { stdout: listed } = await commands.run("models", "list");
    expect(listed).toMatch(/parakeet-tiny .* CC-BY-4\.0/);
    expect(listed).toContain("Parakeet TDT by NVIDIA");
    expect(listed).toContain("parakeet-tiny: its probabilities are not calibrated");
    const attribution = "Parakeet TDT by NVIDIA, converted to ggml's format; licensed under CC-BY-4.0";
    expect((await commands.run("licenses")).stdout).toContain(attribution);
    await commands.run("models", "remove", "parakeet-tiny");
    expect((await commands.run("models", "list")).stdout).not.toMatch(/NVIDIA|calibrated/);
  });

  test.each([
    ["parakeet-int8.onnx", "in ONNX form, 8-bit weights lose many words"],
    ["parakeet-tdt-0.6b-v3.nemo", "convert it to ggml"],
  ])("import refuses %s with the reason", async (name, reason) => {
    const path = join(directory.path, name);
    await Bun.write(path, "x");
    expect(await commands.refusal("models", "import", path)).toContain(reason);
    const folder = join(directory.path, `folder of ${name}`);
    await Bun.write(join(folder, name), "x");
    expect(await commands.refusal("models", "import", folder)).toContain(reason);
  });

  test("import refuses a model whose tensor table would overrun the loader, and leaves nothing", async () => {
    const { bytes, tensors } = smallWhisper();
    bytes.writeInt32LE(4096, tensors[0] ?? 0);
    const hostile = join(directory.path, "ggml-hostile.bin");
    await Bun.write(hostile, bytes);
    const refusal = await commands.refusal("models", "import", hostile);
    expect(refusal).toContain("the number of a tensor's dimensions is 4096, not 1 to 4 (at byte ");
    expect(refusal).toContain("import accepts a Whisper or Parakeet model in ggml format");
    expect(existsSync(join(data, "models/installed/whisper-hostile"))).toBe(false);
  });

  test("use refuses a model that is cut off inside its vocabulary, and the previous one stays in use", async () => {
    await commands.run("models", "import", loud, "--name", "cut");
    truncateSync(join(data, "models/installed/cut/model.bin"), 200_000);
    const refusal = await commands.refusal("models", "use", "cut");
    expect(refusal).toContain("cut can't be used on this machine; whisper-base stays in use: ");
    expect(refusal).toContain("is damaged or not a whisper model: ");
    expect(refusal).not.toContain("SIG");
    await commands.run("models", "remove", "cut");
  });

  test("use reports that the settings override it, and changes nothing", async () => {
    const { exitCode, stdout, stderr } = await runCli(["models", "use", "whisper-loud", "--data-dir", data], {
      TRANSCRIBE_ENGINE_WHISPER_MODEL: basePath,
    });
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`the setting engine.whisper_model is ${basePath} and overrides`);
    const rows = await commands.json(listShape, "models", "list");
    expect(rows.find(({ id }) => id === "whisper-base")?.in_use).toBe(true);
  });

  test("an invalid command line exits with 2", async () => {
    mkdirSync(data, { recursive: true });
    for (const args of [["bundle", "whisper-loud"], ["import"], ["use"], ["import", loud, "--name", "Ä/"]]) {
      expect((await commands.run("models", ...args)).exitCode).toBe(2);
    }
  });
});

test("the progress of a download fits on a line and has the remaining time", () => {
  const mib = 1024 * 1024;
  const at = { doing: "x: download", done: 98 * mib, total: 466 * mib, rate: 5.4 * mib };
  expect(transferText(at)).toBe("x: download [#####                   ]  21 %  98 of 466 MiB, 5.4 MiB/s, 69 s left");
  expect(transferText({ ...at, total: null, rate: 0 })).toBe("x: download  98 MiB");
  expect(transferText({ ...at, rate: 1000 })).toContain("h left");
});
