// The packages of PyPI and npm that tests run. As a program, installs them into the cache, so that no test waits for it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { SCHEMATHESIS } from "../conformance/check-conformance.ts";
import { root } from "../shared/checkout.ts";
import { installNpmPackages } from "../shared/npm.ts";
import { installPythonPackages, type PythonPackages } from "../shared/python.ts";

const compat = join(root, "test/http/compat");

/** Returns a program's packages that are exactly those of its constraints: it asks for many more, which it does not import. */
function allOf(name: string): PythonPackages {
  const constraints = join(compat, `${name}-constraints.txt`);
  const packages = readFileSync(constraints, "utf8").match(/^[\w-]+(?===)/gm) ?? [];
  return { name, packages, alone: true, constraints, timeoutMilliseconds: 300_000 };
}

/** The packages of Python programs that tests run, by what runs them. */
export const testPackages = {
  schemathesis: SCHEMATHESIS,
  openai: {
    name: "openai-sdk",
    packages: ["openai[realtime]"],
    constraints: join(compat, "openai-sdk-constraints.txt"),
    timeoutMilliseconds: 300_000,
  },
  langchain: allOf("langchain"),
  litellm: allOf("litellm"),
  standardwebhooks: {
    name: "standardwebhooks",
    packages: ["standardwebhooks"],
    constraints: join(root, "test/webhooks/constraints.txt"),
    timeoutMilliseconds: 300_000,
  },
  wyoming: {
    name: "wyoming",
    packages: ["wyoming", "wyoming-bench"],
    constraints: join(root, "test/wyoming/constraints.txt"),
    timeoutMilliseconds: 300_000,
  },
  moto: {
    name: "moto",
    packages: ["moto[s3]", "flask", "flask-cors"],
    constraints: join(root, "test/storage/moto-constraints.txt"),
    timeoutMilliseconds: 300_000,
  },
  typeCheckers: {
    name: "sdk-checkers",
    packages: ["mypy", "pyright"],
    constraints: join(import.meta.dir, "sdk/constraints.txt"),
    timeoutMilliseconds: 300_000,
  },
  websockets: {
    name: "sdk-websockets",
    packages: ["websockets"],
    constraints: join(import.meta.dir, "sdk/constraints.txt"),
    timeoutMilliseconds: 300_000,
  },
  oldestWebsockets: {
    name: "sdk-websockets",
    packages: ["websockets"],
    constraints: join(import.meta.dir, "sdk/oldest-constraints.txt"),
    timeoutMilliseconds: 300_000,
  },
  validators: {
    name: "validators",
    packages: ["check-jsonschema", "cyclonedx-python-lib[json-validation]", "kubernetes-validate"],
    constraints: join(root, "test/support/validators/constraints.txt"),
    timeoutMilliseconds: 300_000,
  },
  helm: {
    name: "helm",
    packages: ["helm-python-sdk"],
    constraints: join(root, "test/deploy/chart/constraints.txt"),
    timeoutMilliseconds: 300_000,
  },
  exportReaders: {
    name: "export-readers",
    packages: [
      ...["lrcparser", "praat-parselmouth", "praatio", "pyannote-database", "pympi-ling", "pypdfium2", "pysubs2"],
      ...["python-docx", "webvtt-py", "ttconv", "markdown-it-py", "pyyaml"],
    ],
    constraints: join(root, "test/exports/readers/constraints.txt"),
    timeoutMilliseconds: 300_000,
  },
} as const satisfies Record<string, PythonPackages>;

/** Folder of package.json and bun.lock with the clients for Node that tests run. */
export const npmClients = join(compat, "npm");

/** Folder of package.json and bun.lock with the schemas of the objects of KEDA and of the Prometheus Operator. */
export const customResourceSchemas = join(root, "test/deploy/custom-resources");

/** Installs all packages in another process until it is disposed of. A test that needs packages earlier waits for it. */
export function installTestPackages(): Disposable {
  const command = [process.execPath, "--no-env-file", import.meta.path];
  const child = Bun.spawn(command, { stdio: ["ignore", "ignore", "ignore"] });
  return { [Symbol.dispose]: () => child.kill() };
}

if (import.meta.main) {
  // The first error ends this: probably no registry can be reached. A test that lacks its packages says why.
  for (const packages of Object.values(testPackages)) await installPythonPackages(defaultCacheRoot(), packages);
  await installNpmPackages(defaultCacheRoot(), npmClients);
  await installNpmPackages(defaultCacheRoot(), customResourceSchemas);
}
