/**
 * Runs in the browser's audio thread: collects the sound of its input to frames, and sends them to the page. The bundle
 * has it as a file of its own, because a worklet is loaded by its address.
 */
import { Frames } from "./frames.ts";

declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

class Capture extends AudioWorkletProcessor {
  readonly #frames = new Frames(sampleRate);

  /** @returns true, so that the browser also calls it while no source is connected */
  process([channels = []]: readonly (readonly Float32Array[])[]): boolean {
    for (const frame of this.#frames.add(channels)) this.port.postMessage(frame, [frame.buffer]);
    return true;
  }
}

registerProcessor("capture", Capture);
