// Compares objects of KEDA and of the Prometheus Operator with the schemas of packages of npm: reads a list of objects, writes the fault of
// each or null.
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const objectSchema = Type.Object({ apiVersion: Type.String(), kind: Type.String() });

/** A package's class of an object. */
interface ResourceClass {
  new (object: unknown): { validate(): void };
  readonly apiVersion: string;
  readonly kind: string;
}

/** The packages' modules, each of which exports a class of its name. */
const modules = {
  ScaledObject: "@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject",
  ServiceMonitor: "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor",
  PrometheusRule: "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule",
};

// The packages are in a folder of the cache.
const [, , folder = ""] = process.argv;
const classes = await Promise.all(
  Object.entries(modules).map(async ([name, path]) => {
    const exported: Record<string, ResourceClass> = await import(Bun.resolveSync(path, folder));
    return exported[name];
  }),
);

const objects: unknown = await Bun.stdin.json();
if (!Value.Check(Type.Array(objectSchema), objects)) throw new Error("expected a list of objects of Kubernetes");
process.stdout.write(JSON.stringify(objects.map(faultOf)));

function faultOf(object: { readonly apiVersion: string; readonly kind: string }): string | null {
  const Known = classes.find((each) => each?.apiVersion === object.apiVersion && each.kind === object.kind);
  if (Known === undefined) return `no schema is known for ${object.kind} of ${object.apiVersion}`;
  try {
    new Known(object).validate();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
