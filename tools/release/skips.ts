/** A skip that a release accepts. */
export interface AcceptedSkip {
  /** Beginning of the notice after `SKIPPED: `. */
  readonly notice: string;
  /** Test files that may skip tests then. */
  readonly files: readonly string[];
  /** Steps in which it is accepted. */
  readonly steps: readonly string[];
  readonly reason: string;
}

/** @param skips the files by the notice */
function accepted(
  reason: string,
  steps: readonly string[],
  skips: Readonly<Record<string, readonly string[]>>,
): AcceptedSkip[] {
  return Object.entries(skips).map(([notice, files]) => ({ notice, files, steps, reason }));
}

export const acceptedSkips: readonly AcceptedSkip[] = [
  ...accepted("runs in the step service", ["tests"], {
    "the service under systemd itself": ["test/install/booted/booted.slow.test.ts"],
    "a standby under systemd itself": ["test/install/booted/standby.slow.test.ts"],
    "a worker under systemd itself": ["test/install/booted/worker.slow.test.ts"],
    "the Debian package; scripts/test-service": ["test/install/booted/package.slow.test.ts"],
    "the RPM package; scripts/test-service": ["test/install/booted/rpm-package.slow.test.ts"],
    "the first day of an operator; scripts/test-service": ["test/install/booted/newcomer.slow.test.ts"],
  }),
  ...accepted("runs in the step binary", ["tests"], {
    "the program in one file on bare Debian systems": ["test/binary/bare-roots.slow.test.ts"],
    "the image in podman; scripts/test --binary": ["test/binary/podman.slow.test.ts"],
  }),
  ...accepted("runs in the step upgrade", ["tests", "binary"], {
    "the upgrade from the previous release": ["test/binary/upgrade.slow.test.ts"],
  }),
  ...accepted("runs in the step tests; the compiled program has no fault injection", ["binary"], {
    "e2e tests of a recording that crashes workers": ["test/e2e/poison.model.test.ts"],
  }),
  ...accepted("the build machine has the loader installed, and the image gets that one", ["tests"], {
    "the Vulkan loader in a cache behind a link; it is installed": [],
  }),
  ...accepted("the processor of this machine can't run the operators", ["tests"], {
    "encoding in ": ["test/speech/recognizer/whisper/encoder.model.test.ts"],
    "on newer processors, ": [
      "test/speech/recognizer/parakeet/oracle.full.test.ts",
      "test/speech/recognizer/parakeet/oracle.model.test.ts",
      "test/speech/recognizer/parakeet/own-encoder.model.test.ts",
      "test/speech/recognizer/whisper/cpu-variants.model.test.ts",
    ],
  }),
  ...accepted("the build machine runs as root, who may read all files", ["tests", "binary"], {
    "a settings file that the user may not read": ["test/config/load.integration.test.ts"],
  }),
  ...accepted("the kernel of the build machine has no limit of threads for each user", ["tests", "binary"], {
    "the limit of threads is not active here": [],
  }),
];

/**
 * Finds the skips in the output of tests: notices, which begin with `SKIPPED: `, and skipped tests, `(skip) `. A skipped
 * test is accepted if its file is listed and has given its notice.
 * @returns the accepted skips, and the lines of all others
 */
export function findSkips(output: string, step: string, accepted: readonly AcceptedSkip[]) {
  const here = accepted.filter(({ steps }) => steps.includes(step));
  const given = new Set<AcceptedSkip>();
  const unexpected: string[] = [];
  const skippedTests: { readonly file: string; readonly line: string }[] = [];
  let file = "";
  let repeated = false;
  for (const line of output.split("\n")) {
    const next = /^(\S+\.test\.tsx?):$/.exec(line)?.[1];
    file = next ?? file;
    // After the last file, Bun lists all skipped tests again, without their files.
    repeated = next === undefined && (repeated || /^\d+ tests? skipped:$/.test(line));
    if (line.startsWith("(skip) ") && !repeated) skippedTests.push({ file, line });
    const notice = /(?:^|: )SKIPPED: (.*)$/.exec(line)?.[1];
    if (notice === undefined) continue;
    const known = here.find((each) => notice.startsWith(each.notice));
    if (known === undefined) unexpected.push(line.trim());
    else given.add(known);
  }
  for (const { file, line } of skippedTests) {
    if (![...given].some(({ files }) => files.includes(file))) unexpected.push(`${file}: ${line}`);
  }
  return { accepted: [...given], unexpected: [...new Set(unexpected)] };
}
