import { levelOf } from "./frames.ts";

/** Name of the worklet's file next to the script; the bundle replaces it. */
declare const CAPTURE_WORKLET: string;

/** A microphone, the sound of a tab or of the computer, or both together. */
export type SourceKind = "microphone" | "tab" | "both";

export interface SourceChoice {
  readonly kind: SourceKind;
  /** Id of the microphone; empty: the one that the browser prefers. */
  readonly microphone: string;
}

/** Why there is no sound. */
export type CaptureFault =
  /** The page is not loaded by HTTPS, nor from this computer. */
  | "insecure"
  /** The browser can't record sound. */
  | "unsupported"
  /** The user or the browser's settings refused the microphone. */
  | "denied"
  /** The user shared nothing. */
  | "not_shared"
  /** The user shared a tab or a screen without its sound. */
  | "no_shared_sound"
  | "no_microphone"
  /** The operating system or another program keeps the microphone. */
  | "busy";

/** An error that keeps the page from recording. */
export class CaptureError extends Error {
  override readonly name = "CaptureError";

  constructor(readonly fault: CaptureFault) {
    super(fault);
  }
}

export interface CaptureListener {
  /** Receives 100 ms of sound. @param level 0 to 1 */
  frame(frame: Int16Array<ArrayBuffer>, level: number): void;
  /** The source gives no more sound: it was unplugged, or the user stopped sharing it. */
  lost(): void;
}

/** Highest rate that the server takes. */
const MAX_SAMPLE_RATE = 48_000;

/** Returns whether the browser can share the sound of a tab. Phones can't. */
export const canShare = () => navigator.mediaDevices?.getDisplayMedia !== undefined;

/** Returns the microphones whose names the browser reveals, which it does once it was allowed to record. */
export async function microphones(): Promise<{ readonly id: string; readonly name: string }[]> {
  const devices = (await navigator.mediaDevices?.enumerateDevices().catch(() => [])) ?? [];
  return devices
    .filter(({ kind, label, deviceId }) => kind === "audioinput" && label !== "" && deviceId !== "default")
    .map(({ deviceId, label }) => ({ id: deviceId, name: label }));
}

/** Sound of the user's computer, mixed to one channel. */
export class Capture {
  readonly #context: AudioContext;
  readonly #choice: SourceChoice;
  readonly #listener: CaptureListener;
  #node: AudioWorkletNode | null = null;
  #tracks: readonly MediaStreamTrack[] = [];
  #isPaused = false;

  private constructor(context: AudioContext, choice: SourceChoice, listener: CaptureListener) {
    this.#context = context;
    this.#choice = choice;
    this.#listener = listener;
  }

  /**
   * Begins to record. Must be called by a click of the user, before anything else is awaited.
   * @param sampleRate rate of a session that continues; null for the rate of the sound device
   * @throws {CaptureError}
   */
  static async open(choice: SourceChoice, sampleRate: number | null, listener: CaptureListener): Promise<Capture> {
    if (!isSecureContext) throw new CaptureError("insecure");
    if (navigator.mediaDevices?.getUserMedia === undefined || !("AudioWorkletNode" in globalThis))
      throw new CaptureError("unsupported");
    const capture = new Capture(newContext(sampleRate), choice, listener);
    try {
      await capture.#connect();
      return capture;
    } catch (error) {
      capture.stop();
      throw error;
    }
  }

  /** Samples per second of the frames. */
  get sampleRate(): number {
    return this.#context.sampleRate;
  }

  pause(): void {
    this.#isPaused = true;
    for (const track of this.#tracks) track.enabled = false;
    void this.#context.suspend();
  }

  /** Records again, from a new source if the old one was lost. @throws {CaptureError} */
  async resume(): Promise<void> {
    if (this.#tracks.some(({ readyState }) => readyState === "ended")) await this.#connect();
    for (const track of this.#tracks) track.enabled = true;
    this.#isPaused = false;
    await this.#context.resume();
  }

  /** Continues after the browser has interrupted the sound, as phones do for a call. */
  wake(): void {
    if (!this.#isPaused && this.#context.state !== "closed") void this.#context.resume();
  }

  stop(): void {
    this.#release();
    if (this.#context.state !== "closed") void this.#context.close();
  }

  async #connect(): Promise<void> {
    const streams = await streamsOf(this.#choice);
    this.#release();
    this.#tracks = streams.flatMap((stream) => stream.getTracks());
    const node = this.#node ?? (await this.#createNode());
    for (const stream of streams) this.#context.createMediaStreamSource(stream).connect(node);
    for (const track of this.#tracks) track.onended = () => this.#listener.lost();
    await this.#context.resume();
  }

  async #createNode(): Promise<AudioWorkletNode> {
    await this.#context.audioWorklet.addModule(new URL(CAPTURE_WORKLET, import.meta.url));
    const node = new AudioWorkletNode(this.#context, "capture", { numberOfOutputs: 0 });
    node.port.onmessage = ({ data }: MessageEvent<Int16Array<ArrayBuffer>>) => {
      if (!this.#isPaused) this.#listener.frame(data, levelOf(data));
    };
    this.#node = node;
    return node;
  }

  #release(): void {
    for (const track of this.#tracks) {
      track.onended = null;
      track.stop();
    }
    this.#tracks = [];
  }
}

function newContext(sampleRate: number | null): AudioContext {
  if (sampleRate !== null) return new AudioContext({ sampleRate });
  const context = new AudioContext();
  if (context.sampleRate <= MAX_SAMPLE_RATE) return context;
  void context.close();
  return new AudioContext({ sampleRate: MAX_SAMPLE_RATE });
}

/** Asks the user for the sound. The choice of a tab comes first: browsers demand the user's click just before it. */
async function streamsOf({ kind, microphone }: SourceChoice): Promise<MediaStream[]> {
  const shared = kind === "microphone" ? null : await share();
  if (kind === "tab" && shared !== null) return [shared];
  const constraints = {
    ...(microphone === "" ? {} : { deviceId: { exact: microphone } }),
    autoGainControl: true,
    // The suppression of noise removes people who sit far from the microphone.
    noiseSuppression: false,
    // Together with a tab, the microphone would record the tab's sound a second time.
    echoCancellation: kind === "both",
  };
  try {
    const recorded = await navigator.mediaDevices?.getUserMedia({ audio: constraints });
    return shared === null ? [recorded] : [shared, recorded];
  } catch (error) {
    for (const track of shared?.getTracks() ?? []) track.stop();
    throw faultOf(error, "denied");
  }
}

async function share(): Promise<MediaStream> {
  const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  let stream: MediaStream;
  try {
    // Browsers share no sound without a picture.
    stream = await navigator.mediaDevices?.getDisplayMedia({ video: true, audio, ...{ systemAudio: "include" } });
  } catch (error) {
    throw faultOf(error, "not_shared");
  }
  for (const track of stream.getVideoTracks()) {
    track.stop();
    stream.removeTrack(track);
  }
  if (stream.getAudioTracks().length === 0) throw new CaptureError("no_shared_sound");
  return stream;
}

/** Returns the error for one of the browser (Media Capture and Streams, 10.2). */
function faultOf(error: unknown, refused: CaptureFault): unknown {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError" || name === "SecurityError") return new CaptureError(refused);
  if (name === "NotFoundError" || name === "OverconstrainedError") return new CaptureError("no_microphone");
  if (name === "NotReadableError" || name === "AbortError") return new CaptureError("busy");
  return name === "NotSupportedError" ? new CaptureError("unsupported") : error;
}
