//! Makes one vector of each sentence: the mean of the vectors of its words. Finds the nearest other words.

use gather::{Bags, Options, Pool, Tensor, gather_bags};

const WORDS: [&str; 9] = [
    "king", "queen", "prince", "dog", "cat", "puppy", "bread", "cheese", "the",
];
const VECTORS: [[f32; 3]; 9] = [
    [9.0, 0.0, 1.0],
    [8.0, 0.0, 2.0],
    [9.0, 1.0, 1.0],
    [0.0, 9.0, 1.0],
    [1.0, 8.0, 0.0],
    [1.0, 9.0, 1.0],
    [0.0, 1.0, 9.0],
    [1.0, 0.0, 8.0],
    [1.0, 1.0, 1.0],
];

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns the two nearest words that are not in the sentence, by the cosine.
fn nearest(vector: &[f32], sentence: &[i64]) -> [&'static str; 2] {
    let cosine = |word: usize| dot(vector, &VECTORS[word]) / dot(&VECTORS[word], &VECTORS[word]).sqrt();
    let mut others: Vec<usize> = (0..9).filter(|word| !sentence.contains(&(*word as i64))).collect();
    others.sort_by(|a, b| cosine(*b).total_cmp(&cosine(*a)));
    [WORDS[others[0]], WORDS[others[1]]]
}

fn main() -> Result<(), gather::Error> {
    let sentences: [&[i64]; 2] = [&[8, 0, 8, 1], &[8, 3]];
    let ids = sentences.concat();
    let lengths = sentences.map(|sentence| sentence.len() as i64);
    let means = gather_bags(
        &Tensor::new(VECTORS.as_flattened(), &[9, 3]),
        &Tensor::new(&ids, &[ids.len()]),
        &Bags::lengths(&Tensor::new(&lengths, &[2])),
        &Options::new().pool(Pool::Mean),
    )?;
    for (sentence, mean) in sentences.iter().zip(means.as_slice::<f32>()?.chunks_exact(3)) {
        let text = sentence.iter().map(|id| WORDS[*id as usize]).collect::<Vec<_>>();
        let [first, second] = nearest(mean, sentence);
        println!(
            "{}: {:.2} {:.2} {:.2}, near {first}, {second}",
            text.join(" "),
            mean[0],
            mean[1],
            mean[2]
        );
    }
    Ok(())
}
