//! Digests: MD5, SHA-1 and SHA-2, because resource names are built from them.

use super::FunctionResult;
use crate::eval::{Evaluator, Scope};
use crate::limits;
use crate::value::Value;
use knowledge::Cause;
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha256, Sha512};

/// A digest algorithm.
pub(crate) type Algorithm = fn(&[u8]) -> Vec<u8>;

/// Evaluates `md5`, `sha1` and similar functions; `encode` formats the digest.
pub(crate) fn of_text(
    eval: &mut Evaluator,
    text: &Value,
    algorithm: Algorithm,
    encode: fn(&[u8]) -> String,
) -> FunctionResult {
    Some(digest(eval, text.to_text()?.as_bytes(), algorithm, encode))
}

/// Evaluates `filemd5` and similar functions.
pub(crate) fn of_file(
    (eval, scope): (&mut Evaluator, &Scope),
    path: &Value,
    algorithm: Algorithm,
    encode: fn(&[u8]) -> String,
) -> FunctionResult {
    let path = path.to_text()?;
    // The digest of a whole directory only serves as a version. If it is unknown, nothing else is affected.
    let too_many = || Value::unknown(Cause::NotRead.because("the files that are hashed have more than 16 megabytes"));
    if eval.hashed > limits::MAX_HASHED_BYTES {
        return Some(too_many());
    }
    Some(match eval.contents(&path, scope.module) {
        Ok(bytes) => {
            eval.hashed += bytes.len();
            if eval.hashed > limits::MAX_HASHED_BYTES {
                too_many()
            } else {
                Value::text(encode(&algorithm(&bytes)))
            }
        }
        Err(refused) => refused,
    })
}

fn digest(eval: &mut Evaluator, bytes: &[u8], algorithm: Algorithm, encode: fn(&[u8]) -> String) -> Value {
    if !eval.spend(bytes.len() / 8) {
        return Value::beyond(super::super::eval::TOO_MANY_STEPS);
    }
    Value::text(encode(&algorithm(bytes)))
}

pub(crate) fn md5(bytes: &[u8]) -> Vec<u8> {
    Md5::digest(bytes).to_vec()
}

pub(crate) fn sha1(bytes: &[u8]) -> Vec<u8> {
    Sha1::digest(bytes).to_vec()
}

pub(crate) fn sha256(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

pub(crate) fn sha512(bytes: &[u8]) -> Vec<u8> {
    Sha512::digest(bytes).to_vec()
}

/// Formats bytes as `md5` does.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Evaluates `uuidv5`.
pub(crate) fn uuid(namespace: &Value, name: &Value) -> FunctionResult {
    let (namespace, name) = (namespace.to_text()?, name.to_text()?);
    let namespace = match &*namespace {
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
    fn digests_are_hexadecimal_with_leading_zeros() {
        assert_eq!(hexadecimal(&Md5::digest("abc")), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(hexadecimal(&[0, 15]), "000f");
    }
}
