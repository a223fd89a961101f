import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { testPackages } from "../../tools/development/test-packages.ts";
import { askPython, installPythonPackages, pythonEnvironment } from "../../tools/shared/python.ts";
import { CommandError } from "../../tools/shared/run-command.ts";
import { TestWyoming } from "./test-wyoming.ts";

const packages = await installPythonPackages(defaultCacheRoot(), testPackages.wyoming).catch((error: unknown) => {
  if (!(error instanceof CommandError)) throw error;
  console.warn(`SKIPPED: tests with Wyoming's own client; it cannot be installed: ${error.message}`);
  return null;
});

const RATE = 16_000;
const words = ["Ask", "not", "what", "your", "country", "can", "do."];
const outcomesSchema = Type.Record(Type.String(), Type.Unknown());

/** Starts a server whose sessions recognize a word in each half second of sound. */
async function startWithWords(): Promise<TestWyoming> {
  const wyoming = await TestWyoming.start();
  wyoming.live.onOpen = (session) => {
    let spoken = 0;
    session.onWrite = () => {
      const due = Math.min(words.length, Math.floor(session.soundBytes / RATE));
      for (; spoken < due; spoken += 1) session.final(` ${words[spoken]}`);
    };
    session.onEnd = () => {
      for (; spoken < words.length; spoken += 1) session.final(` ${words[spoken]}`);
      session.turnCompleted("en");
      session.finish();
    };
  };
  return wyoming;
}

/** Returns a WAV file of 24 bits and two channels, which the server converts. */
function wavFile(seconds: number): Uint8Array {
  const [channels, width] = [2, 3];
  const dataBytes = seconds * RATE * channels * width;
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + dataBytes, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(RATE, 24);
  header.writeUInt32LE(RATE * channels * width, 28);
  header.writeUInt16LE(channels * width, 32);
  header.writeUInt16LE(8 * width, 34);
  header.write("data", 36);
  header.writeUInt32LE(dataBytes, 40);
  return Buffer.concat([header, Buffer.alloc(dataBytes, 1)]);
}

test.if(packages !== null)(
  "Wyoming's own client describes the server, gets its words while it sends sound, and reads its errors",
  async () => {
    using directory = temporaryDirectory();
    const recording = join(directory.path, "recording.wav");
    writeFileSync(recording, wavFile(4));
    await using wyoming = await startWithWords();
    const [host = "", port = ""] = wyoming.address.split(":");
    const question = { host, port: Number(port), recording };
    const script = join(import.meta.dir, "wyoming-client.py");
    expect(await askPython(script, packages ?? "", question, outcomesSchema)).toEqual({
      describe: {
        pong: "hello",
        program: "transcribe",
        streams: true,
        needs_vad: true,
        models: [["whisper-base", ["de", "en", "yue", "zh"], true]],
      },
      upload_then_read: [words.join(" "), "en"],
      stream: {
        types: ["transcript-start", "transcript-chunk", "transcript", "transcript-stop"],
        chunks: words.length,
        joins: true,
        text: words.join(" "),
        language: "en",
        context: { conversation: "7" },
      },
      refused: ["unknown_language", true],
    });
    const [first] = wyoming.live.opened;
    expect(first?.soundBytes).toBe(4 * RATE * 2);
    expect(wyoming.live.opened.map(({ options }) => options.prompt)).toEqual([null, "Americans"]);
  },
  60_000,
);

test.if(packages !== null)(
  "wyoming-bench measures the server in both modes, without an error in the words",
  async () => {
    using directory = temporaryDirectory();
    const corpus = join(directory.path, "corpus");
    mkdirSync(corpus);
    writeFileSync(join(corpus, "one.wav"), wavFile(4));
    writeFileSync(join(corpus, "one.txt"), words.join(" "));
    await using wyoming = await startWithWords();
    const program = "import sys; from wyoming_bench.cli import main; sys.exit(main())";
    const options = ["stt", wyoming.address, "--corpus", corpus, "--rounds", "2", "--warmup", "0"];
    const child = Bun.spawn(["python3", "-c", program, ...options], {
      env: { ...process.env, ...pythonEnvironment(packages ?? "") },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    expect({ exitCode: child.exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
    expect(output.match(/^\[\w+\] ok=\d+ fail=\d+$/gm)).toEqual([
      "[non_streaming] ok=2 fail=0",
      "[streaming] ok=2 fail=0",
    ]);
    expect(output.match(/WER=\S+/g)).toEqual(["WER=0.0%", "WER=0.0%"]);
  },
  60_000,
);
