#!/usr/bin/env python3
"""Measures two builds of sqslint on the same inputs, and prints a Markdown table: `tests/cost.py BEFORE AFTER`.

The figures are user plus system time, which other work on the machine affects less than elapsed time. The builds run
alternately, and the lowest of several rounds counts. All inputs are generated except for `--corpus DIR`, a folder of
projects. Only Linux reports the time of a running server, which is read from `/proc`.
"""

import argparse
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from statistics import median
from urllib.parse import unquote

# Inputs: each function returns files by name.

SERVICE = """variable "env" { default = "none" }
variable "timeout" { default = 20 }
resource "aws_sqs_queue" "dlq" {
  name = "NAME-${var.env}-dlq"
  message_retention_seconds = 1209600
}
resource "aws_sqs_queue" "q" {
  name = "NAME-${var.env}"
  visibility_timeout_seconds = 60
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dlq.arn, maxReceiveCount = 3 })
}
resource "aws_lambda_function" "f" { timeout = var.timeout }
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = aws_lambda_function.f.arn
}
resource "aws_cloudwatch_metric_alarm" "a" { dimensions = { QueueName = aws_sqs_queue.dlq.name } }
"""
GRANT = """variable "role" {}
resource "aws_iam_role_policy" "p" {
  role = var.role
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "sqs:SendMessage", Resource = "*" }] })
}
"""
QUEUE = {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": 30}}
ALLOW = {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "*"}


def template(resources, **sections):
    return {"template.json": json.dumps({**sections, "Resources": resources}, indent=1)}


def services(count, environments):
    files = {"platform/main.tf": GRANT}
    for at in range(count):
        files[f"svc{at}/main.tf"] = SERVICE.replace("NAME", f"svc{at}")
        for one in range(environments):
            files[f"svc{at}/env/e{one}.tfvars"] = f'env = "e{one}"\ntimeout = {10 + 3 * one}\n'
    return files


def templates_next_to_environments(templates, environments):
    files = {"tf/main.tf": SERVICE.replace("NAME", "tf"), ".git/HEAD": ""}
    files |= {f"tf/e{at}.tfvars": f"timeout = {at + 1}\n" for at in range(environments)}
    queues = template({f"Q{at}": QUEUE for at in range(50)})["template.json"]
    return files | {f"t{at}/template.json": queues for at in range(templates)}


def one_of_many(count):
    endings = ["py", "ts", "md", "json", "yaml"]
    files = {f"d{at % 100}/e{at % 1000 // 100}/f{at}.{endings[at % 5]}": '{"a": 1}\n' for at in range(count)}
    return files | {"service/template.json": template({"Q": QUEUE})["template.json"], ".git/HEAD": ""}


def policies(count, queues):
    require = "queue.retention >= duration('{0}s')"
    policy = f'[[policy]]\nid = "p{{0}}"\nfor = "queue"\nrequire = "{require}"\nmessage = "m"\n'
    config = "".join(map(policy.format, range(count)))
    return template({f"Q{at}": QUEUE for at in range(queues)}) | {"sqslint.toml": config, ".git/HEAD": ""}


def statements(count):
    sources = (f"arn:aws:sns:eu-west-1:111122223333:t{at}" for at in range(count))
    allow = {**ALLOW, "Principal": {"Service": "sns.amazonaws.com"}}
    statements = [{**allow, "Condition": {"ArnEquals": {"aws:SourceArn": source}}} for source in sources]
    properties = {"Queues": [{"Ref": "Q"}], "PolicyDocument": {"Statement": statements}}
    return template({"Q": QUEUE, "P": {"Type": "AWS::SQS::QueuePolicy", "Properties": properties}})


def roles(count):
    policies = [{"PolicyName": "p", "PolicyDocument": {"Statement": [ALLOW]}}]
    resources = {}
    for at in range(count):
        arn = lambda name: {"Fn::GetAtt": [f"{name}{at}", "Arn"]}
        mapping = {"EventSourceArn": arn("Q"), "FunctionName": {"Ref": f"F{at}"}}
        resources |= {
            f"R{at}": {"Type": "AWS::IAM::Role", "Properties": {"Policies": policies}},
            f"Q{at}": QUEUE,
            f"F{at}": {"Type": "AWS::Lambda::Function", "Properties": {"Role": arn("R"), "Timeout": 5}},
            f"M{at}": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": mapping},
        }
    return template(resources)


def functions(count):
    function = "  f{0}: {{handler: a.f{0}, events: [{{sqs: {{arn: !GetAtt Q{0}.Arn}}}}]}}\n".format
    queue = "    Q{}: {{Type: AWS::SQS::Queue}}\n".format
    functions, queues = ("".join(map(each, range(count))) for each in (function, queue))
    service = "service: s\nprovider: {name: aws}\nfunctions:\n"
    return {"serverless.yml": f"{service}{functions}resources:\n  Resources:\n{queues}"}


def consumers(count, queues):
    each = '[[consumer]]\nqueue = "*-{}"\nprocessing = {{ max = "90s" }}\n'
    named = {f"Q{at}": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": f"q-{at}"}} for at in range(queues)}
    return template(named) | {"sqslint.toml": "".join(map(each.format, range(count))), ".git/HEAD": ""}


def conditions(count):
    conditions = {"C0": {"Fn::Equals": [{"Ref": "P0"}, "a"]}}
    for at in range(1, count):
        last, own = {"Condition": f"C{at - 1}"}, {"Fn::Equals": [{"Ref": f"P{at}"}, "a"]}
        conditions[f"C{at}"] = {"Fn::Or": [last, own]}
    queues = {f"Q{at}": {**QUEUE, "Condition": f"C{at}"} for at in range(count)}
    return template(queues, Parameters={f"P{at}": {"Type": "String"} for at in range(count)}, Conditions=conditions)


PLANNED = [
    ("aws_sqs_queue", {"visibility_timeout_seconds": 30}, {"arn": True, "url": True, "redrive_policy": True}),
    ("aws_lambda_function", {"timeout": 60, "runtime": "nodejs22.x", "memory_size": 512}, {"arn": True}),
    ("aws_lambda_event_source_mapping", {"enabled": True}, {"event_source_arn": True, "function_name": True}),
]


def plan(size):
    """Returns a plan of queues, functions and mappings with findings, of about `size` bytes."""
    resources, changes, blocks, length, at = [], [], [], 0, 0
    while length < size:
        link = lambda kind: {"references": [f"{kind}.r{at}.arn", f"{kind}.r{at}"]}
        links = {"event_source_arn": link("aws_sqs_queue"), "function_name": link("aws_lambda_function")}
        for kind, values, unknown in PLANNED:
            common = {"address": f"{kind}.r{at}", "mode": "managed", "type": kind, "name": f"r{at}"}
            values = {**values, "tags": {"Service": f"service-{at}", "Team": "orders"}}
            change = {"actions": ["create"], "before": None, "after": values, "after_unknown": unknown}
            resources.append(json.dumps({**common, "schema_version": 0, "values": values}))
            changes.append(json.dumps({**common, "change": change}))
            blocks.append(json.dumps({**common, "expressions": links if kind.endswith("mapping") else {}}))
            length += len(resources[-1]) + len(changes[-1]) + len(blocks[-1])
        at += 1
    planned, configured = ('{"root_module":{"resources":[%s]}}' % ",".join(all) for all in (resources, blocks))
    text = '{"format_version":"1.2","terraform_version":"1.11.4","planned_values":%s,"resource_changes":[%s],"configuration":%s}'
    return {"plan.json": text % (planned, ",".join(changes), configured)}


def commits(folder):
    """Makes `folder` a repository with uncommitted changes to one of its services."""
    git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "gc.auto=0"]
    for command in ["init --quiet --initial-branch main", "add .", "commit --message m"]:
        subprocess.run([*git, *command.split()], check=True, stdout=subprocess.DEVNULL)
    changed = folder / "svc3/main.tf"
    changed.write_text(changed.read_text().replace("= 60", "= 12"))


ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("SQSLINT")}


# Runs a command and prints what it took. The peak memory of a program includes that of its parent, so that this is a
# small process of its own.
MEASURE = """
import os, resource, sys
code = os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:])
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, file=sys.stderr)
"""


class Run:
    """A batch run, with its processor time in ms, its peak memory in MB, and its findings."""

    def __init__(self, binary, folder, *arguments):
        command = [binary, "check", "--exit-zero", "--format", "json-lines", *arguments]
        measured = [sys.executable, "-c", MEASURE, *command]
        with tempfile.TemporaryFile() as output:
            child = subprocess.run(measured, cwd=folder, env=ENVIRONMENT, stdout=output, stderr=subprocess.PIPE, text=True)
            output.seek(0)
            records = [json.loads(line) for line in output]
        code, seconds, kilobytes = child.stderr.splitlines()[-1].split()
        if code != "0":
            raise SystemExit(f"{' '.join(map(str, command))} in {folder}: exit code {code}")
        self.time = float(seconds) * 1e3
        self.memory = int(kilobytes) * 1024 / 1e6
        found = (one for one in records if one["type"] == "finding")
        self.findings = {(one["file"], one["line"], one["rule"], one["message"]) for one in found}


class Editor:
    """A language server with one open folder."""

    def __init__(self, binary, folder):
        self.folder, self.messages, self.found = folder, queue.Queue(), {}
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(
            [binary, "server"], cwd=folder, env=ENVIRONMENT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
        )
        threading.Thread(target=self.listen, daemon=True).start()
        self.send("initialize", {"capabilities": {}, "rootUri": folder.as_uri()}, id=0)
        self.wait(lambda message: message.get("id") == 0)
        self.send("initialized", {})
        self.barrier()

    def close(self):
        self.child.kill()
        self.child.wait()

    def listen(self):
        while header := self.child.stdout.readline():
            length = int(header.split(b":")[1])
            while self.child.stdout.readline().strip():
                pass
            self.messages.put(json.loads(self.child.stdout.read(length)))

    def send(self, method, params, **id):
        text = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **id}).encode()
        self.child.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.child.stdin.flush()

    def wait(self, is_last):
        while True:
            message = self.messages.get(timeout=300)
            if message.get("method") == "textDocument/publishDiagnostics":
                self.found[message["params"]["uri"]] = message["params"]["diagnostics"]
            if is_last(message):
                return

    def barrier(self):
        """Waits until the server has processed everything."""
        params = {"textDocument": {"uri": (self.folder / "none.tf").as_uri()}}
        self.send("textDocument/diagnostic", params, id=1)
        self.wait(lambda message: message.get("id") == 1)
        self.settle()

    def settle(self):
        """Waits until the server is idle, and returns its processor time in ms."""
        before = None
        while (now := self.time()) != before:
            before = now
            time.sleep(0.03)
        return now

    def time(self):
        # The time of threads is exact, that of a process is in steps of 10 ms.
        threads = Path(f"/proc/{self.child.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e6

    def change(self, uri, version, text):
        """Replaces the text of a file, and returns the processor time that this takes."""
        before = self.time()
        document = {"uri": uri, "version": version}
        self.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        published = lambda params: (params.get("uri"), params.get("version")) == (uri, version)
        self.wait(lambda message: published(message.get("params") or {}))
        return self.settle() - before

    def findings(self):
        while not self.messages.empty():
            self.wait(lambda _: self.messages.empty())
        shown = lambda uri: unquote(uri.removeprefix(self.folder.as_uri() + "/"))
        return {
            (shown(uri), one["range"]["start"]["line"] + 1, one["code"], one["message"].split("\n")[0])
            for uri, all in self.found.items()
            for one in all
        }


NUMBER = re.compile(r'((?:imeout|econds|size|count|imit)\w*"?\s*[=:]\s*"?)(\d+)', re.IGNORECASE)


def edited_files(folder, most):
    """Returns files that state a time or size, spread over the folder."""
    endings = {".tf", ".yaml", ".yml", ".json"}
    files = sorted(path for path in folder.rglob("*") if path.suffix in endings and path.is_file())
    files = [path for path in files if NUMBER.search(path.read_text(errors="replace"))]
    return files[:: max(1, -(-len(files) // most))]


def typing(binary, folder, options):
    """Opens a folder, edits one number in each of several files, and undoes each edit."""
    run = Run(binary, folder)
    with closing(Editor(binary, folder)) as editor:
        load = editor.settle()
        is_same = editor.findings() == run.findings
        figures = {"first load": load, "first load, × a run": load / run.time}
        for path in edited_files(folder, options.edits):
            text, uri = path.read_bytes().decode(errors="replace"), path.as_uri()
            document = {"uri": uri, "languageId": "terraform", "version": 0, "text": text}
            editor.send("textDocument/didOpen", {"textDocument": document})
            editor.barrier()
            changed = NUMBER.sub(lambda found: f"{found[1]}{int(found[2]) + 1}", text, count=1)
            figures[f"keystroke in {path}"] = editor.change(uri, 1, changed)
            editor.change(uri, 2, text)
            editor.send("textDocument/didClose", {"textDocument": {"uri": uri}})
        editor.barrier()
        figures["has the findings of a run"] = is_same and editor.findings() == run.findings
    return figures


def together(binary, folder, _):
    """Compares a run of all projects with one run for each."""
    run = Run(binary, folder)
    apart = {path.name: Run(binary, path) for path in folder.iterdir() if path.is_dir()}
    found = {(f"{name}/{file}", *rest) for name, one in apart.items() for file, *rest in one.findings}
    ratio = run.time / sum(one.time for one in apart.values())
    return {"one run, × one run per project": ratio, "findings of only one of these": len(found ^ run.findings)}


def batch(*arguments):
    return lambda binary, folder, _: {"": Run(binary, folder, *arguments).time}


def memory(binary, folder, _):
    run = Run(binary, folder, "plan.json")
    size = (folder / "plan.json").stat().st_size / 1e6
    return {"": run.time, "peak memory, MB": run.memory, "peak memory, × its size": run.memory / size}


TYPING_BOUNDS = {"keystroke, median": "50", "keystroke, worst": "150", "first load, × a run": "1.5"}

# Inputs with their files, the measurement, and the bounds of its figures.
CASES = [
    ("80 modules, 12 environments each", lambda: services(80, 12), typing, TYPING_BOUNDS),
    ("43 templates next to 30 variable files", lambda: templates_next_to_environments(43, 30), batch(), {}),
    ("`--since` in a repository of 8 services", lambda: services(8, 3), batch("--since", "HEAD"), {}),
    ("one template among 1,700 files", lambda: one_of_many(1700), batch("service/template.json"), {"": "8"}),
    ("one template among 10,000 files", lambda: one_of_many(10_000), batch("service/template.json"), {"": "25"}),
    ("200 policies, 1,000 queues", lambda: policies(200, 1000), batch(), {}),
    ("a queue policy of 4,000 statements", lambda: statements(4000), batch(), {}),
    ("1,000 roles in a template", lambda: roles(1000), batch(), {}),
    ("a service of 1,600 functions", lambda: functions(1600), batch(), {}),
    ("1,600 declared consumers, 500 queues", lambda: consumers(1600, 500), batch(), {}),
    ("160 nested conditions", lambda: conditions(160), batch(), {}),
    ("a plan of 39 MB", lambda: plan(39_000_000), memory, {"peak memory, × its size": "4"}),
]


def summary(rounds):
    """Combines the figures of several rounds: the lowest of each, and statistics of the keystrokes."""
    figures = {name: min(one[name] for one in rounds) for name in rounds[0]}
    typed = [figures.pop(name) for name in list(figures) if name.startswith("keystroke in")]
    if typed:
        figures |= {"keystroke, median": median(typed), "keystroke, worst": max(typed)}
    return figures


def shown(value):
    if isinstance(value, float) and value < 100:
        return f"{value:.1f}"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value:,.0f}"


def compare(what, folder, measure, bounds, options):
    rounds = [[measure(binary, folder, options) for binary in options.binaries] for _ in range(options.rounds)]
    before, after = map(summary, zip(*rounds))
    for name in before:
        unit = f": {name}" if name else ""
        print(f"| {what}{unit} | {shown(before[name])} | {shown(after[name])} | {bounds.get(name, '')} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", nargs=2, type=lambda path: Path(path).resolve(), metavar="BINARY")
    parser.add_argument("--corpus", type=lambda path: Path(path).resolve(), help="also measure this folder of projects")
    parser.add_argument("--only", default="", metavar="TEXT", help="measure only inputs whose name contains this text")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--edits", type=int, default=150, help="maximum number of edited files of an input")
    options = parser.parse_args()
    print("| input, in ms of processor time | before | after | bound |\n| --- | --- | --- | --- |")
    for what, files, measure, bounds in CASES:
        if options.only not in what:
            continue
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place).resolve()
            for name, text in files().items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text)
            if "--since" in what:
                commits(folder)
            compare(what, folder, measure, bounds, options)
    if options.corpus and options.only in "the corpus":
        compare("the corpus", options.corpus, together, {}, options)
        compare("the corpus", options.corpus, typing, TYPING_BOUNDS, options)


if __name__ == "__main__":
    main()
