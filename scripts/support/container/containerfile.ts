/** The contents of a Containerfile in the form of an image's configuration. */
export interface ImagePlan {
  /** The archive that becomes the only layer. */
  readonly archive: string;
  /** `config` of the OCI image specification, and Docker's Healthcheck. */
  readonly config: Readonly<Record<string, unknown>>;
}

const nanoseconds = 1e9;

/**
 * Reads the instructions that deploy/Containerfile uses, in the forms that it uses. So engines and
 * scripts/build-container build from the same file.
 * @throws {Error} for any other instruction
 */
export function readContainerfile(text: string): ImagePlan {
  const config: Record<string, unknown> = {};
  let archive = "";
  for (const line of text.split("\n").filter((each) => each !== "" && !each.startsWith("#"))) {
    const space = line.indexOf(" ");
    const [instruction, rest] = [line.slice(0, space), line.slice(space + 1)];
    const wrong = () => new Error(`deploy/Containerfile: unsupported instruction ${line}`);
    switch (instruction) {
      case "FROM":
        if (rest !== "scratch") throw wrong();
        break;
      case "ADD":
        if (archive !== "" || !rest.endsWith(".tar /")) throw wrong();
        archive = rest.slice(0, -2);
        break;
      case "LABEL":
        config.Labels = Object.fromEntries(assignments(rest));
        break;
      case "ENV":
        config.Env = assignments(rest).map(([name, value]) => `${name}=${value}`);
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
  return { archive, config };
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
