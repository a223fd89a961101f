import { describeCheckout } from "./describe-checkout.ts";
import { embedded } from "./embedded.ts";

/** Components of a program with their versions. */
export interface BuildInfo {
  readonly version: string;
  /** Git commit, with `-changed` appended when files differ from it; `unknown` outside of a checkout. */
  readonly commit: string;
  /** e.g. `linux-x64` */
  readonly target: string;
  readonly bun: string;
  readonly whisperCpp: string;
  readonly onnxRuntime: string;
  readonly ffmpeg: string;
  readonly models: readonly { readonly file: string; readonly sha256: string }[];
}

/** Returns the components of this program: embedded when it is compiled, else read from the checkout. */
export async function buildInfo(): Promise<BuildInfo> {
  return embedded?.build ?? (await describeCheckout());
}
