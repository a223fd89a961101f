import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defaultConfigFile, defaultUser } from "../../../src/install/layout.ts";
import { root } from "../../shared/checkout.ts";
import {
  FFMPEG_NOTICE,
  licencesOfParts,
  type PackagedProgram,
  type PackageFacts,
  type PackageFile,
  readableFile,
} from "./facts.ts";
import { rpmMetadata } from "./rpm-control.ts";
import { fileFlags, type OwnedFile, writeRpm } from "./rpm-file.ts";
import { DOCUMENTS, sharedFiles } from "./shared-files.ts";

const LICENCES = "/usr/share/licenses/transcribe";
/** Types of files in stat(2). */
const [REGULAR_FILE, DIRECTORY] = [0o100000, 0o040000];

/** Writes the RPM package: the same program and facts always give the same bytes. */
export async function writeRpmPackage(target: string, facts: PackageFacts, program: PackagedProgram): Promise<void> {
  const files = [...sharedFiles(facts, program, "/usr/share/zsh/site-functions"), ...licenceFiles(program)];
  await writeRpm(target, rpmMetadata(facts, program.materials), [...ownDirectories(files), ...files.map(ownedFile)]);
}

function licenceFiles({ materials }: PackagedProgram): PackageFile[] {
  const parts = `${licencesOfParts(materials)}\n${FFMPEG_NOTICE}`;
  return [
    readableFile(`${LICENCES}/LICENSE`, readFileSync(join(root, "LICENSE")), "licence"),
    readableFile(`${LICENCES}/LICENSES-OF-PARTS`, parts, "licence"),
  ];
}

/** Attributes of the kinds of files. rpm replaces no settings file that was changed, and stores the new one next to it. */
const kindFlags = {
  plain: 0,
  settings: fileFlags.config | fileFlags.noReplace,
  documentation: fileFlags.documentation,
  licence: fileFlags.licence,
} as const satisfies Record<PackageFile["kind"], number>;

function ownedFile({ path, mode, kind, content }: PackageFile): OwnedFile {
  // The script before the installation creates the group.
  const group = kind === "settings" ? defaultUser : "root";
  return { path, mode: REGULAR_FILE | mode, content, flags: kindFlags[kind], group };
}

/** Returns the directories that only this package has. A removal deletes them if they are empty. */
function ownDirectories(files: readonly PackageFile[]): OwnedFile[] {
  const tops = [DOCUMENTS, LICENCES, dirname(defaultConfigFile)];
  const isOwn = (path: string) => tops.some((top) => path === top || path.startsWith(`${top}/`));
  const found = new Set(tops);
  for (const { path } of files) {
    for (let directory = dirname(path); isOwn(directory); directory = dirname(directory)) found.add(directory);
  }
  return [...found].map((path) => ({ path, mode: DIRECTORY | 0o755, content: null, flags: 0, group: "root" }));
}
