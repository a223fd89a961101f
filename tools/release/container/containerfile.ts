/** The contents of a Containerfile in the form of an image's configuration. */
export interface ImagePlan {
  /** The archives that become the layers, the lowest first. */
  readonly archives: readonly string[];
  /** `config` of the OCI image specification, and Docker's Healthcheck. */
  readonly config: Config;
}

type Config = Readonly<Record<string, unknown>>;

const NANOSECONDS = 1e9;

/** Returns the settings of each instruction, from its arguments and the settings before it. */
const INSTRUCTIONS: Readonly<Record<string, (rest: string, before: Config) => Config>> = {
  LABEL: (rest, { Labels }) => ({ Labels: { ...(Labels as object), ...Object.fromEntries(assignments(rest)) } }),
  ENV: (rest, { Env }) => ({ Env: [...((Env as string[]) ?? []), ...assignments(rest).map((each) => each.join("="))] }),
  USER: (rest) => ({ User: rest }),
  WORKDIR: (rest) => ({ WorkingDir: rest }),
  VOLUME: (rest) => ({ Volumes: Object.fromEntries(list(rest).map((path) => [path, {}])) }),
  EXPOSE: (rest) => ({ ExposedPorts: { [`${rest}/tcp`]: {} } }),
  STOPSIGNAL: (rest) => ({ StopSignal: rest }),
  HEALTHCHECK: (rest) => ({ Healthcheck: healthcheck(rest) }),
  ENTRYPOINT: (rest) => ({ Entrypoint: list(rest) }),
  CMD: (rest) => ({ Cmd: list(rest) }),
};

/**
 * Reads the instructions that the files deploy/Containerfile* use, in the forms that they use. So engines and
 * scripts/build-container build from the same files.
 * @param base the image from which this one is made; null for one from scratch
 * @throws {Error} for any other instruction
 */
export function readContainerfile(text: string, base: ImagePlan | null = null): ImagePlan {
  let config: Config = { ...base?.config };
  let archive = "";
  for (const line of text.split("\n").filter((each) => each !== "" && !each.startsWith("#"))) {
    const [, name = "", rest = ""] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    const read = INSTRUCTIONS[name];
    if (read !== undefined) config = { ...config, ...read(rest, config) };
    else if (name === "ADD" && archive === "" && rest.endsWith(".tar /")) archive = rest.slice(0, -2);
    else if (line !== `FROM ${base === null ? "scratch" : "transcribe"}`) {
      throw new Error(`deploy/Containerfile: unsupported instruction ${line}`);
    }
  }
  return { archives: [...(base?.archives ?? []), archive], config };
}

function list(text: string): string[] {
  const parsed: unknown = JSON.parse(text);
  if (!Array.isArray(parsed)) throw new Error(`deploy/Containerfile: ${text} is not a list`);
  return parsed.map(String);
}

/** `NAME=value NAME="a value"` */
function assignments(text: string): [name: string, value: string][] {
  const found = text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g);
  return [...found].map(([, name = "", quoted, bare = ""]) => [name, quoted ?? bare]);
}

function healthcheck(text: string): Config {
  const duration = (option: string) => Number(new RegExp(`--${option}=(\\d+)s `).exec(text)?.[1]) * NANOSECONDS;
  const [Interval, Timeout, StartPeriod] = ["interval", "timeout", "start-period"].map(duration);
  return { Test: ["CMD", ...list(text.slice(text.indexOf("CMD ") + 4))], Interval, Timeout, StartPeriod };
}
