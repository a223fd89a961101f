"""Validates documents with the packages of constraints.txt: reads a format and documents, writes the faults of each."""

import json
import sys

# Each function imports its own packages, because all of them together take seconds.


def kubernetes(text):
    """Compares objects with the strict schemas of three versions of Kubernetes."""
    import yaml
    from kubernetes_validate import utils

    for document in yaml.safe_load_all(text):
        # The oldest one that the manifests allow, one between, and the newest one of the package.
        for version in ("1.27", "1.32", utils.latest_version()):
            try:
                utils.validate(document, version, strict=True)
            except utils.ValidationError as error:
                yield f"{document['kind']}, Kubernetes {version}: {error.json_path}: {error.message}"
            except utils.SchemaNotFoundError as error:
                yield error.message


def compose(text):
    from importlib import resources

    import jsonschema
    import yaml

    path = resources.files("check_jsonschema") / "builtin_schemas/vendor/compose-spec.json"
    schema = json.loads(path.read_text())
    for error in jsonschema.validators.validator_for(schema)(schema).iter_errors(yaml.safe_load(text)):
        yield f"{error.json_path}: {error.message}"


def cyclonedx(text):
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    for error in JsonStrictValidator(SchemaVersion.V1_6).validate_str(text, all_errors=True) or ():
        yield str(error)[:500]


def licence(text):
    """Parses an SPDX expression and compares its names with the list of SPDX."""
    from license_expression import ExpressionError, get_spdx_licensing

    try:
        get_spdx_licensing().parse(text, validate=True, strict=True)
    except ExpressionError as error:
        yield str(error)


question = json.load(sys.stdin)
if question["format"] != "cyclonedx":
    # The import of this package takes two seconds. Only the schema of CycloneDX has formats that need it.
    sys.modules["rfc3987_syntax"] = None
validate = {"kubernetes": kubernetes, "compose": compose, "cyclonedx": cyclonedx, "licence": licence}[question["format"]]
json.dump([list(validate(document)) for document in question["documents"]], sys.stdout)
