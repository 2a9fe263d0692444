//! Mutates the structure of a project. A block is a line, the following lines with deeper indentation, and the line
//! that closes it; this fits HCL, YAML and JSON in usual formatting.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// Maximum size of a file in bytes; smaller files cover the same constructs.
const LARGEST: u64 = 40_000;
/// Maximum number of changes per project.
const CHANGES: usize = 6;
/// Maximum number of bytes that repetitions of a token add.
const LONGEST: usize = 20_000;
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "30",
    "900",
    "43200",
    "43201",
    "1e3",
    "0x1F",
    "030",
    "1.5",
    "99999999999999999999",
    "1e400",
    "\"30\"",
    "null",
];
const TEXTS: [&str; 18] = [
    "",
    "${",
    "%{",
    "${var.x}",
    "${AWS::Region}",
    "{{resolve:ssm:x}}",
    "{% if %}",
    "\u{202e}\u{feff}",
    "\u{0}",
    "\u{fffd}",
    "é\u{301}",
    "'",
    "\"",
    "\\",
    "arn:aws:sqs:eu-west-1:111122223333:q",
    "arn:aws:lambda:::function:",
    ".fifo",
    "*",
];
const PIECES: [&str; 16] = [
    "<<: *a",
    "<<: [*a, *a]",
    "a: &a {b: *a}",
    "Fn::Transform: {Name: AWS::Include}",
    "Fn::If: [A, B, C]",
    "!If [IsProd, !Ref A, !Ref \"AWS::NoValue\"]",
    "count = var.none",
    "for_each = toset([])",
    "dynamic \"redrive_policy\" {",
    "}",
    "{",
    "]",
    "%YAML 9.9",
    "---",
    "# sqslint:ignore visibility-timeout-too-short -- because",
    "# sqslint:ignore-file",
];
const NAMES: [&str; 9] = [
    "main.tf",
    "override.tf",
    "main.tf.json",
    "terraform.tfvars",
    "template.yaml",
    "template.json",
    "serverless.yml",
    "samconfig.toml",
    "sqslint.toml",
];

/// Linear congruential generator, for the same numbers in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(20_261_122));
        random.below(2);
        random
    }

    /// Returns a number from 0 to `end`, exclusive; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Files of one directory.
pub(crate) struct Project {
    /// Path relative to the root of all projects.
    pub(crate) name: PathBuf,
    /// Names and contents.
    pub(crate) files: Vec<(PathBuf, Vec<u8>)>,
}

impl Project {
    /// Lists the directories below `root` that contain files, sorted.
    pub(crate) fn all(root: &Path) -> Vec<Project> {
        let (mut all, mut ahead) = (Vec::new(), vec![root.to_owned()]);
        while let Some(directory) = ahead.pop() {
            let entries = std::fs::read_dir(&directory).expect("it can be read").flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.sort();
            let mut files = Vec::new();
            for path in paths {
                let metadata = std::fs::metadata(&path).expect("it is there");
                if metadata.is_dir() {
                    ahead.push(path);
                } else if metadata.len() <= LARGEST {
                    let name = path.file_name().expect("it has one").into();
                    files.push((name, std::fs::read(&path).expect("it can be read")));
                }
            }
            if !files.is_empty() {
                let name = directory.strip_prefix(root).expect("it is below the root").to_owned();
                all.push(Project { name, files });
            }
        }
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }
}

/// Returns a project of `projects` with some changes, some of which copy from another project.
pub(crate) fn mutated(projects: &[Project], random: &mut Random) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = random.one_of(projects).files.clone();
    let other = random.one_of(projects);
    let (_, donor) = random.one_of(&other.files);
    let donor = lines(&String::from_utf8_lossy(donor));
    for _ in 0..=random.below(CHANGES) {
        let at = random.below(files.len());
        if random.below(12) == 0 {
            let bytes = files[at].1.clone();
            files.push((PathBuf::from(*random.one_of(&NAMES)), bytes));
            continue;
        }
        files[at].1 = one_change(&files[at].1, &donor, random);
    }
    files
}

/// Returns a text with some changes, some of which copy from `donor`.
pub(crate) fn changed(text: &[u8], donor: &[u8], random: &mut Random) -> Vec<u8> {
    let donor = lines(&String::from_utf8_lossy(donor));
    let mut text = text.to_vec();
    for _ in 0..=random.below(CHANGES) {
        text = one_change(&text, &donor, random);
    }
    text
}

fn one_change(text: &[u8], donor: &[String], random: &mut Random) -> Vec<u8> {
    let mut text = lines(&String::from_utf8_lossy(text));
    change(&mut text, donor, random);
    let ending = *random.one_of(&["\n", "\n", "\n", "\n", "\r\n", "\r"]);
    let start = *random.one_of(&["", "", "", "", "\u{feff}"]);
    format!("{start}{}{ending}", text.join(ending)).into_bytes()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn change(text: &mut Vec<String>, donor: &[String], random: &mut Random) {
    if text.is_empty() {
        text.push(String::new());
    }
    let block = block(text, random.below(text.len()));
    let place = random.below(text.len() + 1);
    match random.below(12) {
        0 => {
            let copy = text[block].to_vec();
            text.splice(place..place, copy);
        }
        1 => {
            let taken: Vec<String> = text.splice(block, []).collect();
            let place = place.min(text.len());
            text.splice(place..place, taken);
        }
        2 => nest(text, block, place),
        3 => drop(text.splice(block, [])),
        4 if !donor.is_empty() => {
            let start = random.below(donor.len());
            let others = donor[self::block(donor, start)].to_vec();
            text.splice(place..place, others);
        }
        5 => {
            let depth = text.get(place).map_or(0, |line| depth(line));
            text.insert(place, format!("{}{}", " ".repeat(depth), random.one_of(&PIECES)));
        }
        6 => anchor(text, block.start, place),
        7 => {
            let number = NUMBERS[random.below(NUMBERS.len())];
            replace(&mut text[block.start], number, |letter| letter.is_ascii_digit());
        }
        8 => {
            let odd = random
                .one_of(&TEXTS)
                .repeat(if random.below(9) == 0 { 5000 } else { 1 });
            replace(&mut text[block.start], &odd, |letter| letter.is_ascii_alphabetic());
        }
        9 => {
            let token = token(&text[block.start], random);
            let count = (1 << random.below(13)).min(LONGEST / token.len().max(1));
            let at = text[block.start].find(&token).unwrap_or_default();
            text[block.start].insert_str(at, &token.repeat(count));
        }
        10 => {
            let line = text[block.start].clone();
            let mut cut = random.below(line.len() + 1);
            while !line.is_char_boundary(cut) {
                cut -= 1;
            }
            text[block.start].truncate(cut);
        }
        _ => {
            let other = random.below(text.len());
            text.swap(block.start, other);
        }
    }
}

/// Returns one of the tokens of a line, a word or a character, or two of them; repeated, they show what is not linear.
fn token(line: &str, random: &mut Random) -> String {
    let word = line.split_inclusive(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let tokens: Vec<&str> = word.filter(|token| !token.trim().is_empty()).collect();
    let start = random.below(tokens.len());
    tokens.iter().skip(start).take(1 + random.below(2)).copied().collect()
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Returns the lines of the block at `start`: that line, deeper ones below it, and the closing bracket.
fn block(text: &[String], start: usize) -> Range<usize> {
    let outer = depth(&text[start]);
    let is_inner = |line: &&String| line.trim().is_empty() || depth(line) > outer;
    let inner = text[start + 1..].iter().take_while(is_inner).count();
    let end = start + 1 + inner;
    let closes = text
        .get(end)
        .is_some_and(|line| depth(line) == outer && line.trim_start().starts_with(['}', ']', ')']));
    start..end + usize::from(closes)
}

/// Moves a block to `place`, nested below the line there.
fn nest(text: &mut Vec<String>, block: Range<usize>, place: usize) {
    let deeper = text.get(place).map_or(0, |line| depth(line) + 2);
    let outer = depth(&text[block.start]);
    let moved = text[block].iter().map(|line| {
        let inner = depth(line).saturating_sub(outer);
        format!("{}{}", " ".repeat(deeper + inner), line.trim_start())
    });
    let moved: Vec<String> = moved.collect();
    let place = (place + 1).min(text.len());
    text.splice(place..place, moved);
}

/// Anchors the value after a colon, and uses the alias at `place`.
fn anchor(text: &mut [String], named: usize, place: usize) {
    if let Some(at) = text[named].find(':') {
        text[named].insert_str(at + 1, " &a");
    }
    if let Some(line) = text.get_mut(place)
        && let Some(at) = line.find(':')
    {
        line.truncate(at + 1);
        line.push_str(" *a");
    }
}

/// Replaces the first run of characters in a line that match `old`.
fn replace(line: &mut String, new: &str, old: impl Fn(char) -> bool) {
    let Some(start) = line.find(&old) else { return };
    let end = line[start..]
        .find(|letter| !old(letter))
        .map_or(line.len(), |length| start + length);
    line.replace_range(start..end, new);
}
