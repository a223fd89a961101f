import type { ReadableSubprocess } from "bun";
import { orAborted } from "../../../text/index.ts";
import { CommandError } from "../../command-error.ts";
import { printable } from "../../printable.ts";
import type { Sound } from "./sound.ts";

const SAMPLE_RATE = 16_000;
/** Length of a recorder's last words that a message repeats. */
const MAX_MESSAGE_CHARACTERS = 200;

/** A program that records raw sound to standard output. */
interface Recorder {
  readonly name: string;
  /** Arguments for one channel of 16-bit samples. @param device null for the default one */
  readonly arguments: (device: string | null) => readonly string[];
  /** An option that only later versions have, and need for raw sound. */
  readonly newOption?: string;
}

/** The recorders of PipeWire, PulseAudio and ALSA. */
const RECORDERS: readonly Recorder[] = [
  {
    name: "pw-record",
    newOption: "--raw",
    arguments: (device) => [
      ...["--rate", String(SAMPLE_RATE), "--channels", "1", "--format", "s16"],
      ...(device === null ? [] : ["--target", device]),
      "-",
    ],
  },
  {
    name: "parec",
    arguments: (device) => [
      ...["--raw", `--rate=${SAMPLE_RATE}`, "--channels=1", "--format=s16le", "--latency-msec=50"],
      ...(device === null ? [] : [`--device=${device}`]),
    ],
  },
  {
    name: "arecord",
    arguments: (device) => [
      ...["-q", "-t", "raw", "-f", "S16_LE", "-r", String(SAMPLE_RATE), "-c", "1"],
      ...(device === null ? [] : ["-D", device]),
    ],
  },
];

/**
 * Records from a microphone with the first installed recorder that gives sound.
 * @param device its name, as the recorder takes it; null for the default one
 * @throws {CommandError} when no recorder is installed, or none gives sound @throws the signal's reason
 */
export async function microphoneSound(device: string | null, signal: AbortSignal): Promise<Sound> {
  const installed = RECORDERS.flatMap((recorder) => {
    const path = Bun.which(recorder.name);
    return path === null ? [] : [{ ...recorder, path }];
  });
  if (installed.length === 0) {
    const names = RECORDERS.map(({ name }) => name).join(", ");
    throw new CommandError(`a microphone needs one of these programs, and none is installed: ${names}`);
  }
  const failures: string[] = [];
  for (const recorder of installed) {
    const started = await start(recorder, device, signal);
    if (typeof started !== "string") return started;
    failures.push(`${recorder.name}: ${started}`);
  }
  throw new CommandError(`no sound from the microphone; ${failures.join("; ")}`);
}

/** Starts a recorder and waits for its first sound. @returns why there is none */
async function start(
  recorder: Recorder & { readonly path: string },
  device: string | null,
  signal: AbortSignal,
): Promise<Sound | string> {
  const option = recorder.newOption !== undefined && has(recorder.path, recorder.newOption) ? [recorder.newOption] : [];
  const child = Bun.spawn([recorder.path, ...option, ...recorder.arguments(device)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const reader = child.stdout.getReader();
  const said = lastWords(child);
  const stop = async () => {
    child.kill();
    await child.exited;
  };
  try {
    const { done, value } = await orAborted(reader.read(), signal);
    if (done) {
      await stop();
      return (await said) || `it gives none (exit code ${child.exitCode})`;
    }
    return {
      encoding: "pcm16",
      sampleRate: SAMPLE_RATE,
      async *pieces(signal) {
        for (let piece = value; ; ) {
          yield piece;
          const next = await orAborted(reader.read(), signal);
          if (next.done) break;
          piece = next.value;
        }
        if ((await child.exited) !== 0) throw new CommandError(`${recorder.name} stopped: ${await said}`);
      },
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function has(path: string, option: string): boolean {
  const { stdout } = Bun.spawnSync([path, "--help"], { stdin: "ignore", stdout: "pipe", stderr: "ignore" });
  return stdout.includes(option);
}

async function lastWords({ stderr }: ReadableSubprocess): Promise<string> {
  let text = "";
  for await (const bytes of stderr) text = (text + new TextDecoder().decode(bytes)).slice(-MAX_MESSAGE_CHARACTERS);
  return printable(text.trim().split("\n").at(-1) ?? "");
}
