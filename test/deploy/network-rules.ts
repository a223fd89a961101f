import type { Policy } from "../support/manifests.ts";

/** A place from which or to which a connection leads: a pod of our namespace, one of another, or an address. */
export interface Place {
  readonly name: string;
  /** Labels of a pod in our namespace. */
  readonly pod?: Readonly<Record<string, string>>;
  /** Labels of the namespace of another pod. */
  readonly namespace?: Readonly<Record<string, string>>;
  /** Labels of that pod itself. */
  readonly namespacePod?: Readonly<Record<string, string>>;
  readonly address?: string;
}

type Rule = NonNullable<Policy["spec"]["egress"]>[number]["to"][number];
type Selector = Policy["spec"]["podSelector"];

/** Returns whether policies allow a connection, by the rules of Kubernetes. */
export function isAllowed(
  policies: readonly Policy[],
  from: Place,
  to: Place,
  protocol: string,
  port: number,
): boolean {
  const side = (place: Place, other: Place, type: "Egress" | "Ingress") => {
    const { pod } = place;
    if (pod === undefined) return true;
    const own = policies.filter(({ spec }) => spec.policyTypes.includes(type) && matches(spec.podSelector, pod));
    if (own.length === 0) return true;
    const rules = own.flatMap(({ spec: { egress = [], ingress = [] } }) =>
      type === "Egress"
        ? egress.map(({ to: peers, ports }) => ({ peers, ports }))
        : ingress.map(({ from: peers, ports }) => ({ peers, ports })),
    );
    return rules.some(
      ({ peers, ports }) =>
        ports.some((each) => each.port === port && each.protocol === protocol) &&
        peers.some((peer) => isPeer(peer, other)),
    );
  };
  return side(from, to, "Egress") && side(to, from, "Ingress");
}

function isPeer(
  { podSelector, namespaceSelector, ipBlock }: Rule,
  { pod, namespace, namespacePod = {}, address }: Place,
): boolean {
  if (ipBlock !== undefined) {
    const { cidr, except = [] } = ipBlock;
    return address !== undefined && isIn(address, cidr) && !except.some((network) => isIn(address, network));
  }
  if (namespaceSelector !== undefined) {
    const isThere = namespace !== undefined && matches(namespaceSelector, namespace);
    return isThere && (podSelector === undefined || matches(podSelector, namespacePod));
  }
  return pod !== undefined && podSelector !== undefined && matches(podSelector, pod);
}

function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Readonly<Record<string, string>>) {
  return (
    Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ""))
  );
}

/** Returns whether an IPv4 address is in a network; false for networks of IPv6. */
function isIn(address: string, network: string): boolean {
  const [base = "", bits = "32"] = network.split("/");
  if (base.includes(":")) return false;
  const numberOf = (text: string) => text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(bits));
  return Math.floor(numberOf(address) / size) === Math.floor(numberOf(base) / size);
}
