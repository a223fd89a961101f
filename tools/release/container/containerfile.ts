/** The contents of a Containerfile in the form of an image's configuration. */
export interface ImagePlan {
  /** The archives that become the layers, the lowest first. */
  readonly archives: readonly string[];
  /** `config` of the OCI image specification, and Docker's Healthcheck. */
  readonly config: Readonly<Record<string, unknown>>;
}

const nanoseconds = 1e9;

/**
 * Reads the instructions that the files deploy/Containerfile* use, in the forms that they use. So engines and
 * scripts/build-container build from the same files.
 * @param base the image from which this one is made; null for one from scratch
 * @throws {Error} for any other instruction
 */
export function readContainerfile(text: string, base: ImagePlan | null = null): ImagePlan {
  const config: Record<string, unknown> = { ...base?.config };
  let archive = "";
  for (const line of text.split("\n").filter((each) => each !== "" && !each.startsWith("#"))) {
    const space = line.indexOf(" ");
    const [instruction, rest] = [line.slice(0, space), line.slice(space + 1)];
    const wrong = () => new Error(`deploy/Containerfile: unsupported instruction ${line}`);
    switch (instruction) {
      case "FROM":
        if (rest !== (base === null ? "scratch" : "transcribe")) throw wrong();
        break;
      case "ADD":
        if (archive !== "" || !rest.endsWith(".tar /")) throw wrong();
        archive = rest.slice(0, -2);
        break;
      case "LABEL":
        config.Labels = { ...(config.Labels as object), ...Object.fromEntries(assignments(rest)) };
        break;
      case "ENV":
        config.Env = [...((config.Env as string[]) ?? []), ...assignments(rest).map((each) => each.join("="))];
        break;
      case "USER":
        config.User = rest;
        break;
      case "WORKDIR":
        config.WorkingDir = rest;
        break;
      case "VOLUME":
        config.Volumes = Object.fromEntries(list(rest).map((path) => [path, {}]));
        break;
      case "EXPOSE":
        config.ExposedPorts = { [`${rest}/tcp`]: {} };
        break;
      case "STOPSIGNAL":
        config.StopSignal = rest;
        break;
      case "HEALTHCHECK":
        config.Healthcheck = healthcheck(rest);
        break;
      case "ENTRYPOINT":
        config.Entrypoint = list(rest);
        break;
      case "CMD":
        config.Cmd = list(rest);
        break;
      default:
        throw wrong();
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
function assignments(text: string): [string, string][] {
  return [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g)].map(([, name = "", quoted, bare]) => [
    name,
    quoted ?? bare ?? "",
  ]);
}

function healthcheck(text: string): Record<string, unknown> {
  const seconds = (option: string) => Number(new RegExp(`--${option}=(\\d+)s `).exec(text)?.[1]) * nanoseconds;
  return {
    Test: ["CMD", ...list(text.slice(text.indexOf("CMD ") + 4))],
    Interval: seconds("interval"),
    Timeout: seconds("timeout"),
    StartPeriod: seconds("start-period"),
  };
}
