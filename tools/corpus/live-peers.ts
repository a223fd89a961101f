import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { installPythonPackages, pythonEnvironment, requirementsOf } from "../shared/python.ts";

const constraints = join(import.meta.dir, "live-peers-constraints.txt");
const pinned = requirementsOf(readFileSync(constraints, "utf8")).split("\n");

/** Returns the pinned version of a package. */
const versionOf = (name: string) => pinned.find((line) => line.startsWith(`${name}==`))?.slice(name.length + 2) ?? "";

/** Programs for live transcription, with their names in a table. */
export const livePeers = {
  "whisper-live": `WhisperLive ${versionOf("whisper-live")}`,
  alignatt: `WhisperLiveKit ${versionOf("whisperlivekit")}, AlignAtt`,
  localagreement: `WhisperLiveKit ${versionOf("whisperlivekit")}, LocalAgreement`,
} as const;
export type LivePeer = keyof typeof livePeers;

interface LivePeerSettings {
  readonly program: LivePeer;
  readonly port: number;
  /** ISO code; null to detect the language. */
  readonly language: string | null;
  /** Path of our default model, in ggml's format. */
  readonly model: string;
  /** Path of an empty folder for the weights in other forms. */
  readonly folder: string;
  /** Path of a recording with which the program warms up. */
  readonly sample: string;
}

/**
 * Installs the programs in an environment of their own, in about 2 GB. Only what their servers import is installed: their
 * packages also ask for CUDA, OpenVINO and microphones. PyTorch comes without CUDA where pip finds such a build.
 * @returns a function that returns the command line of a server, and its environment
 * @throws {CommandError} when Python, pip or the packages are unavailable
 */
export async function installLivePeers() {
  const packages = await installPythonPackages(defaultCacheRoot(), {
    name: "live-peers",
    packages: pinned.map((line) => line.replace(/==.*$/, "")),
    alone: true,
    constraints,
    timeoutMilliseconds: 1_800_000,
  });
  const script = join(import.meta.dir, "live_peer.py");
  return (settings: LivePeerSettings) => ({
    command: ["python3", script, JSON.stringify(settings)],
    environment: { ...pythonEnvironment(packages), HF_HUB_OFFLINE: "1" },
  });
}
