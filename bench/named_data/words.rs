// bench/named_objects.py: a map of vectors, boxes and strings.
use std::collections::{BTreeMap, HashMap};

struct Word {
    text: String,
    places: Vec<u32>,
}

fn next(state: &mut u32, below: u32) -> u32 {
    *state = state.wrapping_mul(1664525).wrapping_add(1013904223);
    (*state >> 8) % below
}

#[inline(never)]
fn read_words(count: u32) -> HashMap<u32, Box<Word>> {
    let mut words = HashMap::new();
    let mut state = 1;
    for place in 0..count {
        let key = next(&mut state, 5000);
        let word = words.entry(key).or_insert_with(|| {
            Box::new(Word { text: format!("a long enough word {}", key), places: Vec::new() })
        });
        word.places.push(place);
    }
    words
}

#[inline(never)]
fn sort_words(words: &HashMap<u32, Box<Word>>) -> BTreeMap<&str, usize> {
    words.values().map(|word| (word.text.as_str(), word.places.len())).collect()
}

fn main() {
    let words = read_words(60000);
    let sorted = sort_words(&words);
    let sum: u64 = words.values().flat_map(|w| w.places.iter()).map(|&p| p as u64).sum();
    println!("{} {} {}", sorted.len(), sum, sorted.iter().next().unwrap().0);
}
