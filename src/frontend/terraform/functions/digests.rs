//! Digests: MD5, SHA-1 and SHA-2, because names are made with them. None of them protects anything here, so
//! they are written for brevity: their constants are computed as their definitions say.

use super::super::eval::{Evaluator, Scope};
use super::super::value::Value;
use super::Answer;
use super::encoding::base64;
use num_bigint::BigUint;
use std::sync::LazyLock;

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
        "md5" => md5(&bytes),
        "sha1" => sha1(&bytes),
        "sha256" => sha256(&bytes),
        _ => sha512(&bytes),
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
    let digest: [u8; 16] = sha1(&bytes).get(..16)?.try_into().ok()?;
    let number = u128::from_be_bytes(digest) & !(0xf << 76) & !(0x3 << 62) | 0x5 << 76 | 0x2 << 62;
    let digits = format!("{number:032x}");
    let part = |range: std::ops::Range<usize>| digits.get(range).unwrap_or("");
    let parts = [part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)];
    Some(Value::text(parts.join("-")))
}

/// Filled up to whole blocks with a one, zeros and the length in bits.
fn padded(bytes: &[u8], block: usize, big_endian: bool) -> Vec<u8> {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % block != block - block / 8 {
        padded.push(0);
    }
    let bits = u128::try_from(bytes.len()).unwrap_or(0) * 8;
    let (big, little) = (bits.to_be_bytes(), bits.to_le_bytes());
    let length = block / 8;
    if big_endian {
        padded.extend(big.iter().skip(16 - length));
    } else {
        padded.extend(little.iter().take(length));
    }
    padded
}

/// The words of a block of 64 bytes.
fn words(block: &[u8], read: fn([u8; 4]) -> u32) -> Vec<u32> {
    block
        .chunks_exact(4)
        .filter_map(|word| word.try_into().ok().map(read))
        .collect()
}

fn md5(bytes: &[u8]) -> Vec<u8> {
    const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded(bytes, 64, false).chunks_exact(64) {
        let words = words(block, u32::from_le_bytes);
        let [mut a, mut b, mut c, mut d] = state;
        for at in 0..64_usize {
            let (mixed, word) = match at / 16 {
                0 => ((b & c) | (!b & d), at),
                1 => ((d & b) | (!d & c), 5 * at + 1),
                2 => (b ^ c ^ d, 3 * at + 5),
                _ => (c ^ (b | !d), 7 * at),
            };
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "the definition: the first 32 bits of a sine"
            )]
            let constant = (((at + 1) as f64).sin().abs() * 4_294_967_296.0) as u32;
            let sum = a
                .wrapping_add(mixed)
                .wrapping_add(constant)
                .wrapping_add(words.get(word % 16).copied().unwrap_or(0));
            let shift = SHIFTS[at / 16][at % 4];
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(shift));
        }
        for (sum, part) in state.iter_mut().zip([a, b, c, d]) {
            *sum = sum.wrapping_add(part);
        }
    }
    state.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn sha1(bytes: &[u8]) -> Vec<u8> {
    let mut state: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    for block in padded(bytes, 64, true).chunks_exact(64) {
        let mut words = words(block, u32::from_be_bytes);
        for at in 16..80 {
            words.push((words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16]).rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (at, word) in words.into_iter().enumerate() {
            let (mixed, constant) = match at / 20 {
                0 => ((b & c) | (!b & d), 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6),
            };
            let next = a
                .rotate_left(5)
                .wrapping_add(mixed)
                .wrapping_add(e)
                .wrapping_add(constant)
                .wrapping_add(word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        }
        for (sum, part) in state.iter_mut().zip([a, b, c, d, e]) {
            *sum = sum.wrapping_add(part);
        }
    }
    state.into_iter().flat_map(u32::to_be_bytes).collect()
}

/// The first 64 bits of the fractions of the roots of the first primes: square roots of eight, cube roots of eighty.
static ROOTS: LazyLock<([u64; 8], [u64; 80])> = LazyLock::new(|| {
    let primes: Vec<u32> = (2..410).filter(|n| (2..*n).all(|divisor| n % divisor != 0)).collect();
    let fraction = |root: &BigUint| root.iter_u64_digits().next().unwrap_or(0);
    let prime = |at: usize| -> BigUint { primes.get(at).copied().unwrap_or(0).into() };
    (
        std::array::from_fn(|at| fraction(&(prime(at) << 128_u32).sqrt())),
        std::array::from_fn(|at| fraction(&(prime(at) << 192_u32).cbrt())),
    )
});

/// SHA-256 takes the first halves of SHA-512's constants.
fn half(constant: u64) -> u32 {
    u32::try_from(constant >> 32).unwrap_or(0)
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    let (start, constants) = &*ROOTS;
    let mut state = start.map(half);
    for block in padded(bytes, 64, true).chunks_exact(64) {
        let mut words = words(block, u32::from_be_bytes);
        for at in 16..64 {
            let (x, y) = (words[at - 15], words[at - 2]);
            let x = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
            let y = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
            words.push(
                words[at - 16]
                    .wrapping_add(x)
                    .wrapping_add(words[at - 7])
                    .wrapping_add(y),
            );
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (word, constant) in words.into_iter().zip(constants) {
            let x = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let first = h
                .wrapping_add(x)
                .wrapping_add((e & f) ^ (!e & g))
                .wrapping_add(half(*constant))
                .wrapping_add(word);
            let y = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let second = y.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
        }
        for (sum, part) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = sum.wrapping_add(part);
        }
    }
    state.into_iter().flat_map(u32::to_be_bytes).collect()
}

fn sha512(bytes: &[u8]) -> Vec<u8> {
    let (start, constants) = &*ROOTS;
    let mut state = *start;
    for block in padded(bytes, 128, true).chunks_exact(128) {
        let read = |word: &[u8]| word.try_into().ok().map(u64::from_be_bytes);
        let mut words: Vec<u64> = block.chunks_exact(8).filter_map(read).collect();
        for at in 16..80 {
            let (x, y) = (words[at - 15], words[at - 2]);
            let x = x.rotate_right(1) ^ x.rotate_right(8) ^ (x >> 7);
            let y = y.rotate_right(19) ^ y.rotate_right(61) ^ (y >> 6);
            words.push(
                words[at - 16]
                    .wrapping_add(x)
                    .wrapping_add(words[at - 7])
                    .wrapping_add(y),
            );
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (word, constant) in words.into_iter().zip(constants) {
            let x = e.rotate_right(14) ^ e.rotate_right(18) ^ e.rotate_right(41);
            let first = h
                .wrapping_add(x)
                .wrapping_add((e & f) ^ (!e & g))
                .wrapping_add(*constant)
                .wrapping_add(word);
            let y = a.rotate_right(28) ^ a.rotate_right(34) ^ a.rotate_right(39);
            let second = y.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
        }
        for (sum, part) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = sum.wrapping_add(part);
        }
    }
    state.into_iter().flat_map(u64::to_be_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_their_definitions() {
        let long = "abc".repeat(50);
        let table = [
            (md5 as fn(&[u8]) -> Vec<u8>, "abc", "900150983cd24fb0d6963f7d28e17f72"),
            (sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                sha256,
                "abc",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                sha256,
                "",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ),
        ];
        for (digest, text, expected) in table {
            assert_eq!(hexadecimal(&digest(text.as_bytes())), expected);
        }
        assert!(hexadecimal(&sha512(b"abc")).starts_with("ddaf35a193617abacc417349ae204131"));
        assert_eq!(md5(long.as_bytes()).len(), 16);
    }
}
