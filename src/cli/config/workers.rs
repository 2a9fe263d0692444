//! Writes a declaration for each worker that a run finds and no declaration covers, for `sqslint init --consumers`.

use sqslint::Options;
use sqslint::graph::Queue;
use sqslint::graph::declared::{DeclaredConsumer, Duration};
use sqslint::report::printable;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Returns a declaration for each queue with such workers. A queue in several units is declared once.
pub(super) fn stubs() -> Vec<String> {
    let outcome = sqslint::check(&Options {
        paths: vec![PathBuf::from(".")],
        ..Options::default()
    });
    let graph = &outcome.graph;
    let mut all: Vec<(String, String)> = Vec::new();
    for queue in graph.queues() {
        let name = name(queue);
        let workers = graph.worker_consumptions(queue).iter();
        let workers: Vec<_> = workers.filter(|worker| worker.is_permitted).collect();
        let is_known = graph.declared_workers(queue).next().is_some() || all.iter().any(|(known, _)| *known == name);
        if workers.is_empty() || is_known || graph.is_dead_letter_queue(queue) {
            continue;
        }
        let mut text = String::from("\n");
        for worker in workers {
            let file = outcome.sources.file(worker.span.file);
            let line = file.position(worker.span.start as usize).line;
            let place = format!("{}:{line}: {}", file.shown(), worker.evidence);
            let _ = writeln!(text, "# {}", printable(&place));
        }
        let _ = writeln!(text, "[[consumer]]\nqueue = {}", quoted(&name));
        text.push_str(&times(graph.timed(queue).find(|one| one.is_worker())));
        all.push((name, text));
    }
    all.into_iter().map(|(_, text)| text).collect()
}

/// Returns the name of `queue` in a declaration.
fn name(queue: &Queue) -> String {
    let known = queue.name.known().and_then(|name| name.as_deref());
    known.unwrap_or(&queue.resource.address).to_owned()
}

/// Returns the keys with the times that the worker's code states, and the others commented out.
fn times(stated: Option<&DeclaredConsumer>) -> String {
    let written = |time: Duration| match time.seconds() {
        Some(seconds) => format!("\"{seconds}s\""),
        None => format!("\"{}ms\"", time.milliseconds),
    };
    let processing = match stated.and_then(|one| one.max) {
        Some(max) => format!(
            "processing = {{ max = {} }} # the limit in the code of the worker\n",
            written(max)
        ),
        None => "# processing = { p99 = \"\", max = \"\" } # how long a message takes\n".to_owned(),
    };
    let heartbeat = match stated.and_then(|one| one.heartbeat) {
        Some(one) => format!(
            "heartbeat = {{ every = {}, extend-to = {} }}\n",
            written(one.every),
            written(one.extend_to)
        ),
        None => "# heartbeat = { every = \"\", extend-to = \"\" } # if it renews the visibility timeout\n".to_owned(),
    };
    processing + &heartbeat
}

/// Returns `text` as a string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            character if character.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(character));
            }
            character => quoted.push(character),
        }
    }
    quoted + "\""
}
