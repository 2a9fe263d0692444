//! MD5, for ids that tools derive with it; nothing secret hangs on it.
//! <https://www.rfc-editor.org/rfc/rfc1321>

const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The digest as hexadecimal digits in lower case.
pub(super) fn hex(text: &str) -> String {
    let mut message = text.as_bytes().to_vec();
    let bits = (message.len() as u64).wrapping_mul(8);
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend(bits.to_le_bytes());
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in message.chunks_exact(64) {
        let mut words = [0_u32; 16];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        }
        let mixed = mix(state, &words);
        for (sum, value) in state.iter_mut().zip(mixed) {
            *sum = sum.wrapping_add(value);
        }
    }
    let digits = state.iter().map(|word| format!("{:08x}", word.swap_bytes()));
    digits.collect()
}

fn mix([mut a, mut b, mut c, mut d]: [u32; 4], words: &[u32; 16]) -> [u32; 4] {
    for step in 0..64_u32 {
        let (round, at) = (step / 16, step % 16);
        let (mixed, word) = match round {
            0 => (b & c | !b & d, at),
            1 => (d & b | !d & c, (5 * at + 1) % 16),
            2 => (b ^ c ^ d, (3 * at + 5) % 16),
            _ => (c ^ (b | !d), (7 * at) % 16),
        };
        let sum = a
            .wrapping_add(mixed)
            .wrapping_add(constant(step))
            .wrapping_add(words[word as usize]);
        let turned = sum.rotate_left(SHIFTS[round as usize][(at % 4) as usize]);
        (a, d, c, b) = (d, c, b, b.wrapping_add(turned));
    }
    [a, b, c, d]
}

/// The whole part of 2³² × |sin(step + 1)|.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn constant(step: u32) -> u32 {
    (f64::from(step + 1).sin().abs() * 4_294_967_296.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        for (text, digest) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            assert_eq!(hex(text), digest);
        }
    }
}
