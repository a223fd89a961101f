import { describeCheckout } from "./describe-checkout.ts";
import { embedded } from "./embedded.ts";

/** What a program is made of. */
export interface BuildInfo {
  readonly version: string;
  /** Of git, with `-changed` after it where files differ from it; `unknown` outside of a checkout. */
  readonly commit: string;
  /** e.g. `linux-x64` */
  readonly target: string;
  readonly bun: string;
  readonly whisperCpp: string;
  readonly onnxRuntime: string;
  readonly ffmpeg: string;
  readonly models: readonly { readonly file: string; readonly sha256: string }[];
}

/** What this program is made of: a compiled one knows, from source the checkout is asked. */
export async function buildInfo(): Promise<BuildInfo> {
  return embedded?.build ?? (await describeCheckout());
}
