import { values } from "../database/index.ts";
import { machineTrouble } from "../disk/index.ts";
import { codeOf } from "../text/index.ts";
import { MovedError } from "./open-directory.ts";

/** Why the server takes no file of a folder, or writes no results, at the moment. No file fails for it. */
export type Hindrance = (typeof values.hindrances)[number];

/** All hindrances. */
export const hindranceKinds: readonly Hindrance[] = values.hindrances;

/** Meaning of each hindrance, and advice. A limit has no advice: it ends by itself. */
export const hindranceTexts: Readonly<Record<Hindrance, { readonly meaning: string; readonly advice: string | null }>> =
  {
    places: { meaning: "waits for recordings of the account that are in progress", advice: null },
    creates: { meaning: "waits until the account may create more recordings", advice: null },
    audio: { meaning: "waits for tomorrow (UTC): the account has used its minutes of audio", advice: null },
    account: {
      meaning: "the account may not create recordings",
      advice: "Change its standing or its subscription: transcribe accounts set.",
    },
    language: {
      meaning: "the speech model does not know the folder's language",
      advice: "Choose another model (transcribe models use) or another language (transcribe folders add).",
    },
    translation: {
      meaning: "the speech model does not translate",
      advice:
        "Choose another model (transcribe models use), or no translation (transcribe folders add PATH --no-translate).",
    },
    standby: {
      meaning: "waits for the standby, which is away or has no complete copy (standby.wait)",
      advice: "Start the standby, or set standby.wait to false and reload the settings; see docs/standby.md.",
    },
    server_full: {
      meaning: "the server lacks disk space",
      advice: "Free disk space for the data directory; see transcribe doctor.",
    },
    server_busy: {
      meaning: "the server can't store or examine files now",
      advice: "If this lasts, see transcribe doctor.",
    },
    closed: {
      meaning: "the folder, or the directory for its results, belongs to the operating system or to this program",
      advice:
        "Nothing is read or moved there. Remove it (transcribe folders remove), move back what is in its done and failed, and add another directory.",
    },
    missing: { meaning: "the folder is not there", advice: "Mount it, or create it again." },
    unmarked: {
      meaning: "the folder lacks its marker .transcribe-folder, as an unmounted folder does",
      advice: "Mount it. If the marker was deleted, add the folder again: transcribe folders add.",
    },
    moved: {
      meaning: "the folder's path leads through a link",
      advice: "Remove the folder and add the path without links: transcribe folders add.",
    },
    denied: {
      meaning: "the server may not read or write there",
      advice:
        "Give the server's user the right to read, write and move files there, and see docs/folders.md for systemd.",
    },
    unmovable: {
      meaning: "the server may not move files to done or failed",
      advice:
        "Give the server's user the right to move the files of others there: remove the sticky bit (chmod -t), see docs/folders.md.",
    },
    read_only: {
      meaning: "the folder is read-only for the server",
      advice: "Mount it writable; with systemd, list it in ReadWritePaths= (docs/folders.md).",
    },
    full: { meaning: "the folder's disk is full", advice: "Free space there. Nothing is lost meanwhile." },
    faulty: {
      meaning: "the folder's file system reports errors",
      advice: "Check the connection to the file server, and the log of the kernel.",
    },
    locked: { meaning: "another program has locked a file", advice: "Close the programs that use the file." },
    linked_folder: {
      meaning: "done or failed is a link, a file or on another file system",
      advice: "Remove it; the server creates the directory itself.",
    },
    silent: { meaning: "the file system does not answer", advice: "Check the connection to the file server." },
    target_missing: { meaning: "the directory for results is not there", advice: "Mount it, or create it again." },
    target_denied: {
      meaning: "the server may not write to the directory for results",
      advice: "Give the server's user the right to write there, and see docs/folders.md for systemd.",
    },
    target_full: { meaning: "the disk for results is full", advice: "Free space there. Nothing is lost meanwhile." },
    unexpected: { meaning: "an unexpected error", advice: "The log has it under the event folder.hindered." },
  };

/** Returns whether a hindrance is a limit, which ends by itself, rather than trouble that somebody must end. */
export function isLimit(hindrance: Hindrance): boolean {
  return hindranceTexts[hindrance].advice === null;
}

/** Returns whether other files of the folder may not meet a hindrance. */
export function mayConcernOneFile(hindrance: Hindrance): boolean {
  return ["denied", "unmovable", "locked", "faulty", "unexpected"].includes(hindrance);
}

/** A hindrance met by work on a folder. */
export class HindranceError extends Error {
  override readonly name = "HindranceError";

  constructor(
    readonly hindrance: Hindrance,
    options?: ErrorOptions,
  ) {
    super(hindranceTexts[hindrance].meaning, options);
  }
}

/** Hindrances by the code of the file system's error. */
const hindrancesByCode: Readonly<Record<string, Hindrance>> = {
  ENOENT: "missing",
  ENOTDIR: "missing",
  ELOOP: "moved",
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "read_only",
  ENOSPC: "full",
  EDQUOT: "full",
  EXDEV: "linked_folder",
  EBUSY: "locked",
  ETXTBSY: "locked",
};
const faultCodes = /^(?:EIO|ESTALE|EREMOTEIO|ENOTCONN|EHOSTDOWN|EHOSTUNREACH|ECONNRESET|ECONNABORTED|ETIMEDOUT)$/;

/** Returns the hindrance behind an error of work in a folder. */
function hindranceInFolder(error: unknown): Hindrance {
  if (error instanceof MovedError) return "moved";
  const code = codeOf(error);
  if (faultCodes.test(code)) return "faulty";
  return hindrancesByCode[code] ?? hindranceOf(error);
}

/** Returns the hindrance behind an error of the server's own work. */
export function hindranceOf(error: unknown): Hindrance {
  if (error instanceof HindranceError) return error.hindrance;
  const trouble = machineTrouble(error);
  if (trouble === null) return "unexpected";
  return trouble.kind === "no_room" || trouble.kind === "disk_full" ? "server_full" : "server_busy";
}

const forTarget: Readonly<Partial<Record<Hindrance, Hindrance>>> = {
  missing: "target_missing",
  moved: "target_missing",
  denied: "target_denied",
  read_only: "target_denied",
  full: "target_full",
};

/** Runs work in one place. @throws {HindranceError} for any error, in the words of that place */
export async function workingIn<T>(
  place: "folder" | "target" | "server" | "subfolder",
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HindranceError) throw error;
    throw new HindranceError(place === "server" ? hindranceOf(error) : inPlace(hindranceInFolder(error), place), {
      cause: error,
    });
  }
}

function inPlace(hindrance: Hindrance, place: "folder" | "target" | "subfolder"): Hindrance {
  if (place === "target") return forTarget[hindrance] ?? hindrance;
  if (place !== "subfolder") return hindrance;
  if (hindrance === "denied") return "unmovable";
  // The folder itself is open, so a link or a file is in the place of the subfolder.
  return hindrance === "missing" || hindrance === "moved" ? "linked_folder" : hindrance;
}
