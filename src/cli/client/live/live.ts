import { Command, InvalidArgumentError, Option } from "commander";
import type {
  LiveEncoding,
  LiveEnded,
  LiveEndReason,
  LiveParameters,
  LiveSession,
} from "../../../../sdk/typescript/src/index.ts";
import { liveMessages } from "../../../api-contract/index.ts";
import { basename, extname } from "../../byte-names.ts";
import { CommandError, exitCodes, type FailureCode, UsageError } from "../../command-error.ts";
import { InterruptedError, interruptible } from "../../interrupts.ts";
import { languageCode, positiveNumber, someText } from "../../parse-option.ts";
import { escapedJson, printable } from "../../printable.ts";
import { fileArgument, recordingOf, STANDARD_INPUT } from "../../recording-input.ts";
import { hintsOf } from "../../recording-options.ts";
import { failureTexts } from "../../recording-texts.ts";
import { settingsForAll } from "../../settings-options.ts";
import { ApiClient } from "../api-client.ts";
import { addServerOptions, connectionOf } from "../connection.ts";
import { fileSound } from "./file-sound.ts";
import { inputSound } from "./input-sound.ts";
import { LiveScreen } from "./live-screen.ts";
import { microphoneSound } from "./microphone.ts";
import { aheadOf, HeardPosition, inRealTime, type Sound } from "./sound.ts";

interface LiveOptions {
  readonly device?: string | true;
  readonly fast?: boolean;
  readonly sampleRate?: number;
  readonly encoding?: LiveEncoding;
  readonly language?: string;
  readonly prompt?: string;
  readonly name?: string;
  readonly keep: boolean;
  readonly json?: boolean;
}

/** Time for which a server may fail before the session is open. */
const OUTAGE_SECONDS = 30;
const MAX_NAME_CHARACTERS = 255;

/** transcribe live [FILE|-] */
export function liveCommand(): Command {
  const command = new Command("live")
    .description("Show the words while people speak, from a microphone, a recording or standard input.")
    .addArgument(
      fileArgument("[recording]", "an audio or video file, or - for sound from standard input; else a microphone"),
    )
    .option(
      "--device [name]",
      "the microphone, as pw-record, parec or arecord names it (default: the system's)",
      someText,
    )
    .option("--fast", "send a recording as fast as the server takes it, not as fast as it plays")
    .option("--language <code>", "ISO code of the spoken language (default: detected)", languageCode)
    .option("--prompt <text>", "names and terms that occur, separated by commas")
    .option("--name <name>", "name of the recording on the server", sessionName)
    .option("--no-keep", "keep no recording on the server")
    .option("--sample-rate <hertz>", "samples per second of raw sound from standard input (default: 16000)", sampleRate)
    .addOption(
      new Option("--encoding <encoding>", "encoding of raw sound from standard input (default: pcm16)").choices(
        liveMessages.encodings,
      ),
    )
    .option("--json", "print the events of the session as JSON, one a line");
  return addServerOptions(command).action((recording: string | undefined, options: LiveOptions) => {
    checkTogether(recording, options);
    return interruptible((signal) => live(command, recording, options, signal));
  });
}

function sampleRate(text: string): number {
  const rate = positiveNumber(text);
  if (rate >= 8000 && rate <= 48_000) return rate;
  throw new InvalidArgumentError("It takes a number from 8000 to 48000.");
}

function sessionName(text: string): string {
  if (text.trim() !== "" && text.length <= MAX_NAME_CHARACTERS && !/\p{Cc}/u.test(text)) return text;
  throw new InvalidArgumentError(`It takes a name of at most ${MAX_NAME_CHARACTERS} characters.`);
}

/** @throws {UsageError} for options that have no effect together */
function checkTogether(recording: string | undefined, options: LiveOptions): void {
  const { prompt, device, fast, sampleRate, encoding } = options;
  hintsOf({ ...(prompt === undefined ? {} : { prompt }) });
  if (recording !== undefined && device !== undefined) throw new UsageError("name a recording or a --device, not both");
  if (recording === undefined && fast === true) throw new UsageError("--fast is for a recording, not for a microphone");
  if (recording !== STANDARD_INPUT && (sampleRate !== undefined || encoding !== undefined)) {
    throw new UsageError("--sample-rate and --encoding are for raw sound from standard input, -");
  }
}

async function live(
  command: Command,
  recording: string | undefined,
  options: LiveOptions,
  signal: AbortSignal,
): Promise<void> {
  const input = recording === undefined ? null : recordingOf(recording);
  const connection = await connectionOf(command);
  const client = new ApiClient(connection, { signal, outageSeconds: OUTAGE_SECONDS });
  // Reports a wrong address or key before a recording is decoded.
  await client.checkKey();
  const isFile = input !== null && input.input !== STANDARD_INPUT;
  await using sound =
    input === null
      ? await microphoneSound(typeof options.device === "string" ? options.device : null, signal)
      : isFile
        ? await fileSound(input, settingsForAll(command), signal)
        : await inputSound(options, signal);
  const ownName = isFile ? basename(input.name, extname(input.name)).toWellFormed() : undefined;
  const session = await client.live({
    ...{ sample_rate: sound.sampleRate, encoding: sound.encoding, language: options.language, prompt: options.prompt },
    ...{ keep: options.keep, name: options.name ?? ownName?.slice(0, MAX_NAME_CHARACTERS) },
  } satisfies LiveParameters);
  const ended = await follow(client, session, sound, options, signal);
  report(ended, options, isFile, signal);
}

/** Sends the sound and shows the events, until the session has ended. After an interruption, it ends the session. */
async function follow(
  client: ApiClient,
  session: LiveSession,
  sound: Sound,
  { json, fast }: LiveOptions,
  signal: AbortSignal,
): Promise<LiveEnded> {
  using screen = json === true ? null : new LiveScreen();
  const over = new AbortController();
  const stopped = AbortSignal.any([signal, over.signal]);
  const heard = new HeardPosition();
  const reading = client.liveEvents(session, (event) => {
    heard.note(event);
    if (screen === null) process.stdout.write(`${escapedJson(event, 0)}\n`);
    else screen.show(event);
    if (event.type === "disconnected") screen?.note("The connection was lost. Resuming …");
    if (event.type === "session") screen?.note("");
    if (event.type === "error") process.stderr.write(`transcribe: ${printable(event.message)}\n`);
  });
  signal.addEventListener("abort", () => screen?.note("Waiting for the last words …"), { once: true });
  const pieces = sound.pieces(stopped);
  const paced = fast === true ? aheadOf(heard, sound, pieces, stopped) : inRealTime(sound, pieces, stopped);
  const sending = send(session, paced, stopped);
  try {
    const ended = await reading;
    over.abort();
    const fault = await sending;
    if (fault !== null) throw fault;
    return ended;
  } finally {
    over.abort();
    session.close();
  }
}

/**
 * Sends sound until its end, or until the signal aborts, and ends the session.
 * @returns the error of the sound; null for none. The session's own errors end its events.
 */
async function send(session: LiveSession, pieces: AsyncIterable<Uint8Array<ArrayBuffer>>, stopped: AbortSignal) {
  let fault: unknown = null;
  try {
    for await (const piece of pieces) await session.send(piece);
  } catch (error) {
    if (!stopped.aborted) fault = error;
  }
  await session.end().catch(() => {});
  return fault;
}

const endTexts: Readonly<Record<Exclude<LiveEndReason, "client">, readonly [text: string, exitCode: FailureCode]>> = {
  disconnected: ["the connection was lost for too long", exitCodes.unreachable],
  idle: ["no sound arrived for too long", exitCodes.failed],
  too_long: ["it has the maximum length of a recording", exitCodes.failed],
  audio_used_up: [failureTexts.quota_exceeded, exitCodes.failed],
  access: ["the key may no longer use the server", exitCodes.refused],
  disk_full: ["the server's disk is full", exitCodes.failed],
  engine: ["the server could not recognize the sound; its log has the reason", exitCodes.recordingFailed],
  stopping: ["the server stops", exitCodes.unreachable],
};

/** Prints the id of the recording. @throws {CommandError} {InterruptedError} unless all sound was sent */
function report(
  { reason, recording_id: id }: LiveEnded,
  { json }: LiveOptions,
  isFile: boolean,
  signal: AbortSignal,
): void {
  if (json !== true && id !== null) process.stdout.write(`recording ${printable(id)}\n`);
  if (reason !== "client") {
    const [text, exitCode] = endTexts[reason] ?? [
      `the server ended the session (${printable(reason)})`,
      exitCodes.failed,
    ];
    throw new CommandError(`the session has ended: ${text}`, exitCode, reason);
  }
  // A microphone has no other end.
  if (isFile && signal.reason instanceof InterruptedError) {
    throw new InterruptedError("interrupted; the rest of the recording was not sent", signal.reason.signal);
  }
}
