import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { available, root, samplePath } from "../../harness/checkout.ts";
import { buildTimeout, builtProgram } from "../../harness/compiled-program.ts";
import { run } from "../../harness/processes.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { ffmpegSources } from "../../native/build-ffmpeg.ts";
import { buildLauncher } from "../../native/build-launcher.ts";
import { builtInModels, digestFile, programVersion } from "../../src/program/index.ts";
import { partSources } from "../../tools/build/parts.ts";
import { extractInner } from "../../tools/build/program-file.ts";
import { checkBom } from "../../tools/build/sbom/document.ts";

const sample = samplePath("sample.wav");
const ready = available("the program in one file", sample);
const canMount = Bun.spawnSync(["unshare", "--mount", "true"]).exitCode === 0;
if (!canMount) console.warn("SKIPPED: the program in one file on a noexec disk; mounting needs privileges");

describe.if(ready)("the program in one file", () => {
  const scope = temporaryDirectory();
  const empty = join(scope.path, "empty");
  const home = join(scope.path, "home");
  const runtime = join(scope.path, "runtime");
  const env = { HOME: home, TRANSCRIBE_STORAGE_RUNTIME_DIR: runtime };
  let program = "";
  const transcribe = (...args: string[]) => run([program, ...args], { cwd: empty, env });

  beforeAll(async () => {
    for (const directory of [empty, home]) mkdirSync(directory);
    program = await builtProgram();
  }, buildTimeout);
  afterAll(() => scope[Symbol.dispose]());

  test("has its SHA-256 in a file next to it", async () => {
    const sums = readFileSync(join(dirname(program), "SHA256SUMS"), "utf8");
    expect(sums).toContain(`${await digestFile(program, "sha256")}  ${basename(program)}\n`);
  });

  test("contains no path of the machine that built it, so that builds are reproducible", async () => {
    const inner = join(scope.path, "transcribe");
    await extractInner(program, inner);
    for (const file of [program, inner]) {
      const bytes = Buffer.from(await Bun.file(file).arrayBuffer());
      for (const path of [root, realpathSync(join(root, "node_modules")), defaultCacheRoot()]) {
        expect([path, bytes.indexOf(path)]).toEqual([path, -1]);
      }
    }
  });

  test("prints its version and its parts", async () => {
    const { stdout } = await transcribe("version", "--json");
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(JSON.parse(stdout)).toEqual({
      version: programVersion,
      commit: expect.stringMatching(/^[0-9a-f]{40}(-changed)?$|^unknown$/),
      target: `${process.platform}-${process.arch}`,
      bun: Bun.version,
      whisperCpp: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      onnxRuntime: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      ffmpeg: expect.not.stringMatching(/^(unknown)?$/),
      models: Object.values(builtInModels).map(({ file }) => ({ file, sha256: digest })),
    });
  });

  const notice = Type.Object({ name: Type.String(), licence: Type.String(), text: Type.String({ minLength: 200 }) });

  test("contains the notice of every part and the source of ffmpeg", async () => {
    const list: unknown = JSON.parse((await transcribe("licenses", "--json")).stdout);
    if (!Value.Check(Type.Array(notice), list)) throw new Error("a notice has no name, licence or text");
    const names = list.map(({ name }) => name);
    // The program that confines ffmpeg and the launcher are linked statically with the C library.
    const parts = ["Bun", "ONNX Runtime", "ffmpeg", "GNU C Library", "Zstandard", "whisper.cpp and ggml", "elysia"];
    expect(names).toEqual(expect.arrayContaining(parts));
    const ffmpeg = list.find(({ name }) => name === "ffmpeg");
    expect(ffmpeg?.text).toMatch(/configuration: .*ffmpeg_[0-9.]+\.orig\.tar\.xz.*GNU LESSER GENERAL PUBLIC LICENSE/s);
    const source = `${program}.ffmpeg-source.tar`;
    const listed = Bun.spawnSync(["tar", "--list", "--file", source]).stdout.toString().split("\n");
    const needed = Object.values(ffmpegSources).map(({ path }) => `./${basename(path)}`);
    expect(listed).toEqual(
      expect.arrayContaining([...needed, "./native/build-ffmpeg.ts", "./native/ffmpeg/pkg-config"]),
    );
    const { stdout } = await transcribe("licenses");
    for (const text of ["SIL OPEN FONT LICENSE", "GNU LIBRARY GENERAL PUBLIC LICENSE", "elysia"])
      expect(stdout).toContain(text);
  });

  test("prints the bill of materials that lies next to it", async () => {
    const { stdout } = await transcribe("licenses", "--sbom");
    expect(stdout).toBe(readFileSync(`${program}.cdx.json`, "utf8"));
    const files = checkBom(JSON.parse(stdout)).components.flatMap(({ components = [] }) => components);
    const parts = await Promise.all(
      (await partSources(process.arch)).map(async ({ path, source }) => [path, await digestFile(source, "sha256")]),
    );
    const listed = new Map(files.map(({ name, hashes }) => [name, hashes?.[0]?.content]));
    expect(parts.map(([path = ""]) => [path, listed.get(path)])).toEqual(parts);
  });

  test("begins with the launcher of its bill of materials", async () => {
    const bom = checkBom(await Bun.file(`${program}.cdx.json`).json());
    const launcher = Bun.file(await buildLauncher({ cacheRoot: defaultCacheRoot(), log: () => {} }));
    const start = await Bun.file(program).slice(0, launcher.size).bytes();
    const sha256 = new Bun.CryptoHasher("sha256").update(start).digest("hex");
    const { hashes } = bom.components.find(({ name }) => name === "launcher") ?? {};
    expect(hashes).toEqual([{ alg: "SHA-256", content: sha256 }]);
  });

  test("ignores code and settings of Bun in its directory and environment", async () => {
    const hostile = join(scope.path, "hostile");
    mkdirSync(hostile);
    const evil = join(hostile, "evil.ts");
    writeFileSync(evil, 'console.log("EVIL");\n');
    writeFileSync(join(hostile, ".env"), "TRANSCRIBE_NO_SUCH_SETTING=1\nHOME=/nowhere\n");
    writeFileSync(join(hostile, "bunfig.toml"), 'preload = ["./evil.ts"]\n');
    writeFileSync(join(hostile, "tsconfig.json"), "{ not JSON");
    writeFileSync(join(hostile, "package.json"), "{ not JSON");
    const plain = await transcribe("accounts", "list", "--data-dir", join(scope.path, "data-hostile"));
    expect(plain).toMatchObject({ exitCode: 0, stderr: "" });
    for (const variables of [
      {},
      { BUN_BE_BUN: "1" },
      { BUN_OPTIONS: `--preload ${evil}` },
      { BUN_OPTIONS: "--version", BUN_BE_BUN: "1" },
      { NODE_OPTIONS: `--require ${evil}` },
      { BUN_INSPECT_PRELOAD: evil },
    ]) {
      const result = await run([program, "accounts", "list", "--data-dir", join(scope.path, "data-hostile")], {
        cwd: hostile,
        env: { ...env, ...variables },
      });
      expect(result).toEqual(plain);
    }
  });

  test("writes a PDF and a DOCX with its own fonts, the same bytes as from source", async () => {
    const input = join(scope.path, "export.jsonl");
    const text = "Hello. こんにちは。 مرحبا";
    const head = {
      id: "call",
      title: null,
      name: "call",
      createdAt: 0,
      durationSeconds: 2,
      language: "en",
      speakers: [],
    };
    const segment = { startMilliseconds: 0, endMilliseconds: 2000, speaker: 0, text, words: [] };
    writeFileSync(input, `${JSON.stringify(head)}\n${JSON.stringify(segment)}\n`);
    for (const [format, magic] of [
      ["pdf", "%PDF-"],
      ["docx", "PK\u0003\u0004"],
    ] as const) {
      const output = join(scope.path, `export.${format}`);
      expect(await transcribe("__export", format, input, output)).toEqual({ exitCode: 0, stdout: "", stderr: "" });
      const bytes = readFileSync(output, "latin1");
      expect(bytes).toStartWith(magic);
      const source = [process.execPath, "--no-env-file", join(root, "src/main.ts")];
      await run([...source, "__export", format, input, `${output}-source`], { cwd: root, env });
      expect(readFileSync(`${output}-source`, "latin1") === bytes).toBe(true);
    }
  });

  test("unpacks the parts of the checkout once, even if two start at once", async () => {
    const serve = async (data: string) => {
      const command = [program, "serve", "--port", "0", "--data-dir", join(scope.path, data)];
      const server = Bun.spawn(command, { cwd: empty, env, stdin: "ignore", stdout: "pipe", stderr: "ignore" });
      let output = "";
      for await (const piece of server.stdout) {
        output += new TextDecoder().decode(piece);
        break;
      }
      const origin = /^transcribe serves (http:\/\/[^/]+)/.exec(output)?.[1];
      const metrics = await (await fetch(`${origin}/metrics`)).text();
      server.kill("SIGKILL");
      await server.exited;
      return Number(/^process_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1]);
    };
    const resident = await Promise.all([serve("data-1"), serve("data-2")]);
    for (const bytes of resident) {
      // The unpacked bytes are not kept in memory: they are more than twice as many.
      expect(bytes).toBeGreaterThan(2e7);
      expect(bytes).toBeLessThan(1.5e8);
    }
    const isUnpackedPart = (name: string) => existsSync(join(runtime, name, "parts.json"));
    const names = readdirSync(runtime).filter(isUnpackedPart);
    expect(names).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    const directory = join(runtime, names[0] ?? "");
    const found = readdirSync(directory, { recursive: true, encoding: "utf8" });
    const files = found.filter((name) => statSync(join(directory, name)).isFile() && name !== "parts.json");
    const sources = await partSources(process.arch);
    expect(files.sort()).toEqual(sources.map(({ path }) => path).sort());
    const wrong = [];
    for (const { path, source } of sources) {
      if ((await digestFile(join(directory, path), "sha256")) !== (await digestFile(source, "sha256")))
        wrong.push(path);
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  test("reports a data directory that can't be created, not the parts in it", async () => {
    const ran = await run([program, "serve", "--data-dir", "/proc/none"], { cwd: empty, env: { HOME: home } });
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringMatching(/^transcribe: .*--data-dir.*\n$/)]);
    expect(ran.stderr).not.toContain("runtime");
  });

  test.skipIf(!canMount)(
    "reports in doctor that its parts are on a file system without execution, and not a CPU problem",
    async () => {
      const data = join(scope.path, "noexec");
      mkdirSync(data, { mode: 0o700 });
      const command = `mount -t tmpfs -o size=900m,mode=700,noexec none '${data}'
"$1" serve --data-dir '${data}' && exit 9
exec "$1" doctor --json --data-dir '${data}'`;
      const ran = await run(["unshare", "--mount", "sh", "-uc", command, "sh", program], {
        cwd: empty,
        env: { HOME: home, PATH: process.env.PATH ?? "" },
      });
      expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining("programs can't be run from")]);
      expect(ran.stdout).toContain("programs can't be run from");
      expect(ran.stdout).not.toMatch(/failed to map|may be faulty/);
    },
    60_000,
  );
});
