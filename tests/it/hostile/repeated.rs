//! Tests that input of one to four tokens, repeated thousands of times, takes bounded time and memory: in the source of
//! a function, in a variable of a service, and in a number of `simulate`. The operating system enforces the bounds.
//!
//! The cases are the same in every run. `SQSLINT_REPETITIONS` sets their number, `SQSLINT_REPETITION_SEED` the first
//! one.

use super::mutated::{number, run_within};
use crate::fuzz::mutate::Random;
use sqslint::testing::TemporaryDirectory;

/// Number of cases.
const CASES: u64 = 60;
/// Size of a source in bytes.
const SIZE: usize = 512 << 10;
/// Repetitions of tokens in variables and numbers, and in some of the sources: the nesting limit accepts them.
const TIMES: usize = 4_000;
const FEW: usize = 120;
/// Bounds: processor time in seconds, three times what a release build needs, and memory in bytes.
const BOUNDS: [&str; 4] = ["prlimit", "--cpu=6", "--data=268435456", "--stack=524288"];

/// Tokens that are used with all languages.
const COMMON: &str = "( ) [ ] { } < > , ; : . = + - * / % & | ^ ! ~ ? @ # \\ \" ' ` $ a b.c 1 0x 1e .5 => -> == << >> ... \
                      ** // /* */ && || ?. ?? += a, a: a( a[ a< a{ (a) {} () [] é \u{feff} \u{a0} \u{2028} \\n \\t";

/// File, runtime, handler and additional tokens of each language.
const LANGUAGES: [(&str, &str, &str, &str); 6] = [
    (
        "app.py",
        "python3.13",
        "app.handler",
        "if else elif for in while def class lambda with as try except finally return yield await async not and is import \
         from global match case print exec f\" f\"{ \"\"\" r' del pass raise type \\n\\t",
    ),
    (
        "app.js",
        "nodejs22.x",
        "app.handler",
        "if else for of in while function class extends let const var new return yield await async typeof try catch \
         finally switch case default do import export from get set static ${ /a/ <!-- //",
    ),
    (
        "app.ts",
        "nodejs22.x",
        "app.handler",
        "type interface enum as is keyof infer abstract declare namespace readonly satisfies asserts unique ${ </ /> <a> \
         switch case default new function class extends",
    ),
    (
        "App.java",
        "java21",
        "App::handle",
        "class interface enum record new if else for while do try catch finally switch case default return throw instanceof \
         extends int void public static import package this super yield var \"\"\" @A sealed permits -> :: a<b>",
    ),
    (
        "App.cs",
        "dotnet8",
        "A::App::Handle",
        "class struct record new if else for foreach in while do try catch when switch case default return throw is as using \
         namespace async await var int void public get set where from select let join on equals into orderby group by ref \
         out checked stackalloc sizeof typeof nameof $\" @\" ${ #if #region delegate event operator with and or not (a)a a?",
    ),
    (
        "main.go",
        "provided.al2023",
        "bootstrap",
        "func type struct interface map chan go defer if else for range switch case default select return var const import \
         package break goto := <- map[ a{} chan<-",
    ),
];

/// Tokens of variables of the Serverless Framework.
const VARIABLES: &str = "${ } ${self: ${self:custom.a ${self:custom.a} ${opt:stage} ${opt:stage, ${env:A} ${file(a.yml) \
                         ${file(./a.yml):b} ${sls:stage} ${aws:region} ${param:a, ${ssm:/a} custom.a , : . ' a ( ) $ ~ \
                         #{AWS::Region} ${self:}";
/// Tokens of times, rates and shares.
const NUMBERS: &str = "0 1 9 25 . - + e E s m h d ms / /week /second % _ , 0x 1s 1e9";
/// Flags of `simulate` with such values.
const FLAGS: [&str; 12] = [
    "--visibility",
    "--timeout",
    "--retention",
    "--delay",
    "--window",
    "--p50",
    "--max",
    "--rate",
    "--failing",
    "--heartbeat",
    "--max-receives",
    "--weeks",
];

/// Returns one to four of `tokens`, repeated `times` times.
fn repeated(tokens: &[&str], times: usize, random: &mut Random) -> String {
    let count = 1 + random.below(4);
    let separator = ["", " ", "\n"][random.below(3)];
    let chosen = (0..count).map(|_| {
        tokens[random.below(tokens.len())]
            .replace("\\n", "\n")
            .replace("\\t", "\t")
    });
    let chosen: String = chosen.map(|token| token + separator).collect();
    chosen.repeat(times)
}

fn function(random: &mut Random) -> (TemporaryDirectory, Vec<String>) {
    let (file, runtime, handler, tokens) = LANGUAGES[random.below(LANGUAGES.len())];
    // Tokens of the language are as likely as common ones.
    let own: Vec<&str> = tokens.split(' ').filter(|token| !token.is_empty()).collect();
    let common: Vec<&str> = COMMON.split(' ').filter(|token| !token.is_empty()).collect();
    let all: Vec<&str> = own.iter().chain(&own).chain(&common).copied().collect();
    let once = repeated(&all, 1, random);
    let times = if random.below(3) == 0 {
        FEW
    } else {
        (SIZE - 64) / once.len()
    };
    let source = once.repeat(times);
    let template = format!(
        "Transform: AWS::Serverless-2016-10-31\nResources:\n  Q: {{Type: AWS::SQS::Queue}}\n  F:\n    \
         Type: AWS::Serverless::Function\n    Properties:\n      CodeUri: src/\n      Handler: {handler}\n      \
         Runtime: {runtime}\n      Events: {{E: {{Type: SQS, Properties: {{Queue: !GetAtt Q.Arn}}}}}}\n"
    );
    let directory = TemporaryDirectory::with_files([("template.yaml", &*template)]);
    std::fs::create_dir(directory.path().join("src")).expect("the directory can be created");
    std::fs::write(directory.path().join("src").join(file), source).expect("the file can be written");
    (directory, words("check --pedantic --verbose --format json ."))
}

fn service(random: &mut Random) -> (TemporaryDirectory, Vec<String>) {
    let tokens: Vec<&str> = VARIABLES.split(' ').filter(|token| !token.is_empty()).collect();
    let text = repeated(&tokens, TIMES, random).replace(['\n', '"'], "");
    let service = format!(
        "service: s\nprovider: {{name: aws}}\ncustom:\n  a: \"{text}\"\nresources:\n  Resources:\n    Q:\n      \
         Type: AWS::SQS::Queue\n      Properties:\n        VisibilityTimeout: \"{text}\"\n        \
         QueueName: ${{self:custom.a}}\n"
    );
    let directory = TemporaryDirectory::with_files([("serverless.yml", &*service)]);
    (directory, words("check --pedantic --verbose --format json ."))
}

fn simulated(random: &mut Random) -> (TemporaryDirectory, Vec<String>) {
    let tokens: Vec<&str> = NUMBERS.split(' ').collect();
    // A value of a few tokens may be valid, and is then simulated.
    let times = [TIMES, 1, 2, 4][random.below(4)];
    let value = repeated(&tokens, times, random);
    let flag = FLAGS[random.below(FLAGS.len())];
    let mut arguments = words("simulate --format json --visibility=30 --timeout=30");
    arguments.retain(|argument| !argument.starts_with(flag));
    if flag == "--visibility" {
        arguments.push("--queue=q".to_owned());
    }
    arguments.push(format!("{flag}={}", value.trim_end()));
    (TemporaryDirectory::with_files([]), arguments)
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn repeated_tokens_take_bounded_time_and_memory() {
    let first = number("SQSLINT_REPETITION_SEED", 0);
    for seed in first..first + number("SQSLINT_REPETITIONS", CASES) {
        let mut random = Random::new(seed);
        let (directory, arguments) = match seed % 6 {
            0 => service(&mut random),
            1 => simulated(&mut random),
            _ => function(&mut random),
        };
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if let Err(why) = run_within(&BOUNDS, directory.path(), &arguments) {
            let why: String = why.chars().take(2_000).collect();
            panic!("SQSLINT_REPETITION_SEED={seed} SQSLINT_REPETITIONS=1: {why}");
        }
    }
}
