//! Compares the queue of the simulation model with that of moto, a Python package that mocks AWS in tests. Both receive
//! the same random lists of calls, and must give the same answers: which messages are received, how often, and which
//! move to the dead-letter queue, and when.
//!
//! If AWS does not specify the behavior, the two may differ, and the lists avoid such calls: a delete with an outdated
//! receipt handle deletes the message in moto and does nothing in the model. Neither returns an error.

use needs::MOTO;
use serde_json::{Value, json};
use sqs_model::{DeleteResult, Queue, QueueSettings, Random, Receipt, RedriveTarget};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const S: u64 = 1_000;
const VISIBILITY: u64 = 30;

/// Calls to both queues, and the answers of the model.
struct QueueRun {
    asked: Value,
    answers: Vec<Value>,
}

fn play(python: &Path, runs: &[QueueRun]) -> Vec<Vec<Value>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sqs_server.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let asked: Vec<&Value> = runs.iter().map(|run| &run.asked).collect();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&serde_json::to_vec(&asked).unwrap()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn settings(fifo: bool, receives: Option<u32>) -> QueueSettings {
    QueueSettings {
        visibility: VISIBILITY * S,
        retention: 14 * 86_400 * S,
        delay: 0,
        fifo,
        dead_letter: receives.map(|max_receives| RedriveTarget {
            max_receives,
            retention: 14 * 86_400 * S,
        }),
    }
}

fn attributes(fifo: bool) -> Value {
    let visibility = VISIBILITY.to_string();
    if fifo {
        json!({ "VisibilityTimeout": visibility, "MessageRetentionPeriod": "1209600", "FifoQueue": "true" })
    } else {
        json!({ "VisibilityTimeout": visibility, "MessageRetentionPeriod": "1209600" })
    }
}

/// Generates random calls and the answers of the model.
fn random(seed: u64) -> QueueRun {
    let mut random = Random::new(seed);
    let fifo = random.below(2) == 1;
    let limit = (random.below(3) > 0).then(|| 1 + u32::try_from(random.below(3)).unwrap());
    let mut queue = Queue::new(settings(fifo, limit));
    let mut aside = Vec::new();
    let mut held: Vec<Receipt> = Vec::new();
    let (mut now, mut steps, mut answers) = (0, Vec::new(), Vec::new());
    for _ in 0..40 {
        // The step avoids the exact end of a visibility timeout, where moto waits for the next millisecond.
        let after = 1 + random.below(12) * 1_003;
        now += after;
        queue.advance(now);
        held.retain(|receipt| queue.holds(*receipt));
        let (mut step, answer) = match random.below(8) {
            0 | 1 => {
                let group = u32::try_from(random.below(3)).unwrap();
                queue.send(now, group);
                (json!({ "do": "send", "group": group }), json!("ok"))
            }
            2 | 3 if !held.is_empty() => {
                let at = usize::try_from(random.below(held.len() as u64)).unwrap();
                let receipt = held[at];
                let named = json!([receipt.message, receipt.receive]);
                if random.below(2) == 0 {
                    assert_eq!(queue.delete(now, receipt), DeleteResult::Gone);
                    (json!({ "do": "delete", "receipt": named }), json!("ok"))
                } else {
                    let timeout = random.below(60);
                    assert_eq!(queue.change_visibility(now, receipt, timeout * S), Ok(()));
                    (
                        json!({ "do": "change", "receipt": named, "timeout": timeout }),
                        json!("ok"),
                    )
                }
            }
            _ => {
                let most = if fifo { 1 } else { 10 };
                let taken = queue.receive(now, most, &mut aside);
                held.extend(&taken);
                let mut told: Vec<(u64, u32)> = taken.iter().map(|one| (one.message, one.receive)).collect();
                told.sort_unstable();
                (json!({ "do": "receive", "most": most }), json!(told))
            }
        };
        step["after"] = json!(after);
        steps.push(step);
        answers.push(answer);
    }
    if limit.is_some() && !fifo {
        steps.push(json!({ "do": "aside", "after": 1 }));
        let mut moved: Vec<u64> = aside.iter().map(|moved| moved.message).collect();
        moved.sort_unstable();
        answers.push(json!(moved));
    }
    let asked = json!({ "queue": attributes(fifo), "dead_letter": limit, "steps": steps });
    QueueRun { asked, answers }
}

/// Returns only the messages that arrived in the dead-letter queue: moto continues to count receives there, which AWS
/// need not do.
fn messages(answer: &Value) -> Value {
    let messages = answer.as_array().into_iter().flatten();
    messages.map(|one| one[0].clone()).collect()
}

#[test]
fn random_calls_get_the_same_answers() {
    let Some(python) = MOTO.found() else { return };
    let runs: Vec<QueueRun> = (0..60).map(random).collect();
    let answers = play(&python, &runs);
    let mut moves = 0;
    for (seed, (run, answers)) in runs.iter().zip(&answers).enumerate() {
        let steps = run.asked["steps"].as_array().unwrap();
        for (at, (step, (ours, theirs))) in steps.iter().zip(run.answers.iter().zip(answers)).enumerate() {
            let theirs = if step["do"] == "aside" {
                moves += theirs.as_array().map_or(0, Vec::len);
                messages(theirs)
            } else {
                theirs.clone()
            };
            assert_eq!(*ours, theirs, "run {seed}, step {at}: {step}\n{steps:#?}");
        }
    }
    assert!(moves > 20, "only {moves} messages moved");
}

#[test]
fn outdated_receipt_handle_is_not_an_error() {
    let Some(python) = MOTO.found() else { return };
    let steps = json!([
        { "do": "send" },
        { "do": "receive", "most": 1 },
        { "do": "receive", "most": 1, "after": 31_000 },
        { "do": "delete", "receipt": [0, 1] },
    ]);
    let run = QueueRun {
        asked: json!({ "queue": attributes(false), "steps": steps }),
        answers: Vec::new(),
    };
    let answers = play(&python, &[run]);
    assert_eq!(json!(answers), json!([["ok", [[0, 1]], [[0, 2]], "ok"]]));
    let mut queue = Queue::new(settings(false, None));
    queue.send(0, 0);
    let first = queue.receive(0, 1, &mut Vec::new())[0];
    assert_eq!(queue.receive(31 * S, 1, &mut Vec::new()).len(), 1);
    assert_eq!(queue.delete(31 * S, first), DeleteResult::Ignored);
}
