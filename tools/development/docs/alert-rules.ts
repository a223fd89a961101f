import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../shared/checkout.ts";

/** Places of the alerts for the Prometheus Operator: in the Helm chart, which reads no file outside of it, and for Kustomize. */
export const chartAlerts = "deploy/helm/transcribe/prometheus-alerts.yml";
export const kustomizeAlerts = "deploy/kubernetes/monitoring/prometheus-rule.yaml";

const origin = "# Made by scripts/docs from deploy/prometheus-alerts.yml.\n";

/** Returns the rules of deploy/prometheus-alerts.yml, without the comment about a Prometheus that reads this file itself. */
export function alertRules(): string {
  const text = readFileSync(join(root, "deploy/prometheus-alerts.yml"), "utf8");
  return `${origin}${text.slice(text.indexOf("groups:"))}`;
}

/** Returns the same rules as an object of the Prometheus Operator. */
export function prometheusRule(): string {
  const rules = alertRules().slice(origin.length);
  return `${origin}apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: transcribe
  # Your Prometheus may select rules by a label of its own, for example release: prometheus.
  labels: { app.kubernetes.io/name: transcribe, app.kubernetes.io/component: server }
spec:
${rules.replace(/^(?=.)/gm, "  ")}`;
}
