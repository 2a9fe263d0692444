"""Runs the SAM transform over templates. Prints one line of JSON for each path on standard input:

    {"path": "...", "template": {...}, "source": {...}}   the transformed template, and its input if it was changed
    {"path": "...", "refused": "why"}

As `sam package` would, local code is replaced by a location in S3. Resources that the transform rejects and a graph of
queues does not need (an API that it cannot extend) are removed from both templates, and listed in `left_out`.
"""

import copy
import json
import logging
import os
import re
import sys

os.environ["AWS_DEFAULT_REGION"] = "us-east-1"

from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

CODE = "s3://bucket/code"
LOCAL = {
    "AWS::Serverless::Function": "CodeUri",
    "AWS::Serverless::LayerVersion": "ContentUri",
    "AWS::Serverless::Api": "DefinitionUri",
    "AWS::Serverless::HttpApi": "DefinitionUri",
    "AWS::Serverless::StateMachine": "DefinitionUri",
}


def is_local(value):
    return isinstance(value, str) and not value.startswith("s3://")


def packaged(template):
    """Returns the template with code in S3, and with properties that the transform requires."""
    common = (template.get("Globals") or {}).get("Function") or {}
    if is_local(common.get("CodeUri")):
        common["CodeUri"] = CODE
    for resource in template["Resources"].values():
        if not isinstance(resource, dict):
            continue
        kind, properties = resource.get("Type"), resource.get("Properties") or {}
        if kind in LOCAL and isinstance(properties, dict):
            if is_local(properties.get(LOCAL[kind])):
                properties[LOCAL[kind]] = CODE
            if kind == "AWS::Serverless::Function":
                complete(properties, common)
            resource["Properties"] = properties
    return template


def complete(function, common):
    if "Image" in (function.get("PackageType"), common.get("PackageType")):
        function.setdefault("ImageUri", "123456789012.dkr.ecr.us-east-1.amazonaws.com/x:1")
        return
    if not {"CodeUri", "InlineCode"} & (set(function) | set(common)):
        function["CodeUri"] = CODE
    for key, value in (("Runtime", "python3.12"), ("Handler", "index.handler")):
        if key not in common:
            function.setdefault(key, value)


def translated(template):
    return Translator({}, Parser()).translate(copy.deepcopy(template), {})


def leave_out(template, refusal):
    """Removes the rejected APIs and applications, and the events that need them."""
    texts = "\n".join(cause.message for cause in refusal.causes)
    kinds = r"AWS::Serverless::(Api|HttpApi|WebSocketApi|GraphQLApi|SimpleTable|LayerVersion|Application)"
    resources = template["Resources"]
    named = {name for name in re.findall(r"Resource with id \[(\w+)\]", texts) if name in resources}
    gone = {name for name in named if re.fullmatch(kinds, str(resources[name].get("Type")))}
    if not gone and "Swagger" in texts:
        gone = {name for name, resource in resources.items() if str(resource.get("Type")).endswith("Api")}
    for name in gone:
        del resources[name]
    for resource in resources.values():
        events = (resource.get("Properties") or {}).get("Events") if isinstance(resource, dict) else None
        for name, event in list(events.items()) if isinstance(events, dict) else ():
            if any(f'"{lid}"' in json.dumps(event, default=str) for lid in gone):
                del events[name]
    return sorted(gone)


def run(path):
    with open(path, encoding="utf-8-sig") as file:
        template = yaml_parse(file.read())
    if not isinstance(template, dict) or not isinstance(template.get("Resources"), dict):
        return {"refused": "no template"}
    # Dates become strings, as in JSON.
    template = json.loads(json.dumps(template, default=lambda value: value.isoformat()))
    template = packaged(template)
    left_out = []
    while True:
        try:
            result = translated(template)
            parameters = template.get("Parameters") or {}
            result["Parameters"] = {**result.get("Parameters", {}), **parameters}
            return {"template": result, "source": template if left_out else None, "left_out": left_out}
        except InvalidDocumentException as refusal:
            gone = leave_out(template, refusal)
            if not gone:
                return {"refused": "; ".join(cause.message for cause in refusal.causes)}
            left_out += gone


def main():
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        path = line.rstrip("\n")
        try:
            answer = run(path)
        except Exception as error:  # failures of the transform itself are results too
            answer = {"refused": f"{type(error).__name__}: {error}"}
        print(json.dumps({"path": path, **answer}), flush=True)


main()
