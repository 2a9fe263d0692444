//! Encodes and decodes base64.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes base64 with padding.
pub fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let sextet = (group >> (18 - 6 * place)) & 63;
            let letter = ALPHABET.get(sextet as usize).copied().unwrap_or(b'=');
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// Decodes base64; returns `None` if it is malformed. Line breaks are skipped.
pub fn decoded(text: &str) -> Option<Vec<u8>> {
    let text: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let mut decoded = Vec::with_capacity(text.len() / 4 * 3);
    let groups = text.len() / 4;
    for (at, chunk) in text.chunks(4).enumerate() {
        let letters = chunk.iter().take_while(|byte| **byte != b'=').count();
        let padded = chunk.iter().skip(letters).all(|byte| *byte == b'=');
        if letters < 2 || !padded || (letters < 4 && at + 1 < groups) {
            return None;
        }
        let mut group: u32 = 0;
        for letter in chunk.iter().take(letters) {
            let sextet = ALPHABET.iter().position(|known| known == letter)?;
            group = group << 6 | u32::try_from(sextet).ok()?;
        }
        group <<= 6 * (4 - letters);
        let bytes = group.to_be_bytes();
        decoded.extend(bytes.iter().skip(1).take(letters - 1));
    }
    Some(decoded)
}
