"""Measures sqslint on sources of one to four tokens that are repeated up to 512 KiB, in six languages.

Usage: tokens.py SQSLINT [COUNT] [SEED]; prints each input above 0.3 seconds or 150 MB, then the highest values. The
program has to be a release build.
"""

import os
import random
import subprocess
import sys
import tempfile
import time

SIZE = 512 * 1024
COMMON = "( ) [ ] { } , ; : . = == + - * / % ! ? < > && || | & ^ ~ @ # $ \\ \" ' ` 0 1e9 a b _ é \n \t //  /* */".split(" ")
# Endings with their runtimes, handlers and further tokens.
LANGUAGES = {
    "py": ("python3.13", "app.handler", "def class lambda if else elif for in while with as try except: finally: yield await async return raise not "
           "import from f\"{ \"\"\" ''' \\N{ **  := -> match case _: \n\x20\x20\x20\x20 a[ a( x=1, [x for x in  handler"),
    "js": ("nodejs22.x", "app.handler", "function class => async await yield* for while do if else switch case try catch finally return throw new typeof void "
           "delete ... ?. ?? ${ `${ /a/ import export const let var a[ a( {a: <a> </a> exports.handler="),
    "ts": ("nodejs22.x", "app.handler", "interface type enum namespace declare abstract as satisfies infer keyof readonly <T> : any => async await ?. ! "
           "function class {a: a< @a import export const"),
    "go": ("provided.al2023", "bootstrap", "func package main import map[string]any chan go defer range := <- ... struct{} interface{} lambda.Start( `"),
    "java": ("java21", "app::handle", "class interface record enum void public static new List< > @Override throws -> :: instanceof \"\"\" import package"),
    "cs": ("dotnet8", "app::app.Function::Handle", "class record struct async await Task< > new() => => out ref in where get; set; $\"{ @\" namespace using"),
}

TEMPLATE = """Transform: AWS::Serverless-2016-10-31
Resources:
  Q: {{Type: AWS::SQS::Queue}}
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: src/
      Handler: {handler}
      Runtime: {runtime}
      Events: {{E: {{Type: SQS, Properties: {{Queue: !GetAtt Q.Arn}}}}}}
"""


def measure(program, directory):
    """Returns the seconds and megabytes that a run takes, and its exit code."""
    start = time.monotonic()
    child = subprocess.Popen([program, "check", "--isolated", directory], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return time.monotonic() - start, usage.ru_maxrss / 1024, child.returncode


def main(program, count=600, seed=1):
    chance = random.Random(int(seed))
    slowest = largest = 0
    wrong = False
    for number in range(int(count)):
        ending = list(LANGUAGES)[number % len(LANGUAGES)]
        runtime, handler, own = LANGUAGES[ending]
        tokens = COMMON + own.split(" ")
        few = [chance.choice(tokens) for _ in range(chance.randint(1, 4))]
        unit = chance.choice(["", " ", "\n"]).join(few) + chance.choice(["", " ", "\n"])
        text = (unit or "a") * (SIZE // max(len(unit.encode()), 1))
        with tempfile.TemporaryDirectory() as directory:
            os.mkdir(f"{directory}/src")
            for path, content in (("template.yaml", TEMPLATE.format(runtime=runtime, handler=handler)), (f"src/app.{ending}", text[:SIZE])):
                with open(f"{directory}/{path}", "w", encoding="utf-8", newline="") as file:
                    file.write(content)
            seconds, megabytes, code = measure(program, directory)
        slowest, largest = max(slowest, seconds), max(largest, megabytes)
        if seconds > 0.3 or megabytes > 150 or code not in (0, 1):
            wrong = True
            print(f"{ending} {unit!r}: {seconds:.2f} s, {megabytes:.0f} MB, exit code {code}")
    print(f"{count} inputs: at most {slowest:.2f} s and {largest:.0f} MB")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
