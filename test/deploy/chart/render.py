"""Renders a chart with Helm's own library: reads releases, writes the manifests or the fault of each, and the findings of lint."""

import json
import sys

import helm_python as helm


def render(chart, release):
    try:
        return {"manifests": chart.render(release["values"], name=release["name"], namespace=release["namespace"])}
    except helm.HelmError as error:
        return {"fault": str(error)}


question = json.load(sys.stdin)
with helm.Chart.load(question["chart"]) as chart:
    answers = [render(chart, release) for release in question["releases"]]
findings = []
for release in question["releases"] if question["lint"] else []:
    for kubernetes in question["versions"]:
        report = helm.lint(question["chart"], release["values"], strict=True, kube_version=f"v{kubernetes}.0")
        # 1 is information, 2 a warning, 3 an error.
        findings += [f"{each['path']}: {each['error']}" for each in report["messages"] if each["severity"] > 1]
        findings += report["errors"]
json.dump({"releases": answers, "findings": findings}, sys.stdout)
