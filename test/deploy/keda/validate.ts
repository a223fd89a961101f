// Compares objects of KEDA with the schemas of a package of npm: reads a list of objects, writes the fault of each or null.
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const objectSchema = Type.Object({ apiVersion: Type.String(), kind: Type.String() });

/** The package's class of an object. */
interface ScaledObjectClass {
  new (object: unknown): { validate(): void };
  readonly apiVersion: string;
  readonly kind: string;
}

// The packages are in a folder of the cache.
const [, , folder = ""] = process.argv;
const path = Bun.resolveSync("@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject", folder);
const { ScaledObject }: { ScaledObject: ScaledObjectClass } = await import(path);

const objects: unknown = await Bun.stdin.json();
if (!Value.Check(Type.Array(objectSchema), objects)) throw new Error("expected a list of objects of Kubernetes");
process.stdout.write(JSON.stringify(objects.map(faultOf)));

function faultOf(object: { readonly apiVersion: string; readonly kind: string }): string | null {
  if (object.apiVersion !== ScaledObject.apiVersion || object.kind !== ScaledObject.kind) return "no ScaledObject";
  try {
    new ScaledObject(object).validate();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
