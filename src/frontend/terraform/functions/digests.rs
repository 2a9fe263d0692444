//! Digests: MD5, SHA-1 and SHA-2, because names are made with them.

use super::super::eval::{Evaluator, Scope};
use super::super::value::Value;
use super::Answer;
use super::encoding::base64;
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha256, Sha512};

/// What [`apply`] knows.
pub(super) const NAMES: &[&str] = &[
    "base64sha256",
    "base64sha512",
    "filebase64sha256",
    "filebase64sha512",
    "filemd5",
    "filesha1",
    "filesha256",
    "filesha512",
    "md5",
    "sha1",
    "sha256",
    "sha512",
    "uuidv5",
];

pub(super) fn apply(eval: &mut Evaluator, name: &str, values: &[Value], scope: &Scope) -> Answer {
    if name == "uuidv5" {
        let [namespace, name] = values else {
            return None;
        };
        return uuid(&namespace.to_text()?, &name.to_text()?);
    }
    let [value] = values else {
        return None;
    };
    let text = value.to_text()?;
    let (bytes, name) = match name.strip_prefix("file") {
        Some(name) => match eval.contents(&text, scope.module) {
            Ok(bytes) => (bytes, name),
            Err(refused) => return Some(refused),
        },
        None => (text.as_bytes().to_vec(), name),
    };
    let (encode, name): (fn(&[u8]) -> String, &str) = match name.strip_prefix("base64") {
        Some(name) => (base64, name),
        None => (hexadecimal, name),
    };
    if !eval.spend(bytes.len() / 8) {
        return Some(Value::unknown(super::super::eval::TOO_MANY_STEPS));
    }
    let digest = match name {
        "md5" => Md5::digest(&bytes).to_vec(),
        "sha1" => Sha1::digest(&bytes).to_vec(),
        "sha256" => Sha256::digest(&bytes).to_vec(),
        _ => Sha512::digest(&bytes).to_vec(),
    };
    Some(Value::text(encode(&digest)))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn uuid(namespace: &str, name: &str) -> Answer {
    let namespace = match namespace {
        "dns" => "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "url" => "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
        "oid" => "6ba7b812-9dad-11d1-80b4-00c04fd430c8",
        "x500" => "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
        other => other,
    };
    let digits: String = namespace.chars().filter(|c| *c != '-').collect();
    if namespace.len() != 36 || digits.len() != 32 {
        return None;
    }
    let mut bytes = u128::from_str_radix(&digits, 16).ok()?.to_be_bytes().to_vec();
    bytes.extend(name.bytes());
    let digest: [u8; 16] = Sha1::digest(&bytes).get(..16)?.try_into().ok()?;
    let number = u128::from_be_bytes(digest) & !(0xf << 76) & !(0x3 << 62) | 0x5 << 76 | 0x2 << 62;
    let digits = format!("{number:032x}");
    let part = |range: std::ops::Range<usize>| digits.get(range).unwrap_or("");
    let parts = [part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)];
    Some(Value::text(parts.join("-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_hexadecimal_and_whole() {
        assert_eq!(hexadecimal(&Md5::digest("abc")), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(hexadecimal(&[0, 15]), "000f");
    }
}
