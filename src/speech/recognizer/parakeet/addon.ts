import type { GgmlAddon } from "../../../runtimes/index.ts";

/** The part of the native addon that is parakeet.cpp's. */
export interface ParakeetAddon extends GgmlAddon {
  ParakeetModel: new (path: string, options: { useGpu: boolean }) => NativeModel;
  ParakeetState: new (model: NativeModel) => NativeState;
}

export interface NativeModel {
  /** Frees the weights once the model's states are gone too. */
  dispose(): void;
}

export interface NativeState {
  /** Returns the encoder's output for a window: [frame of 80 ms][width]. */
  encode(samples: Float32Array, threads: number): Promise<Float32Array>;
  /** Transcribes one window of 0.1 s to the model's longest. */
  transcribe(samples: Float32Array, threads: number): Promise<NativeTranscript>;
  abort(): void;
  dispose(): void;
}

export interface NativeTranscript {
  /** Whether the call was ended by `abort`; there are no tokens then. */
  aborted: boolean;
  tokens: NativeToken[];
}

export interface NativeToken {
  /** Index of its piece in the vocabulary. */
  id: number;
  /** Frame of 80 ms in which it was recognized. */
  frame: number;
  /** Number of frames to the next decision; 0: the next token is in the same frame. */
  duration: number;
  /** 0 to 1. */
  probability: number;
}
