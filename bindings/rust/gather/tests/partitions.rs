//! The tests compare the partition of ids with simple loops.

use gather::{
    Bounds, Context, Error, Negative, Operand, Options, Parts, PartsOnce, Shards, Tensor, TensorMut, gather, partition,
    partition_once, scatter_into,
};

/// A generator of pseudo-random numbers. The numbers are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 3) as usize % bound
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Blocks,
    Modulo,
    Borders,
}

#[derive(Debug)]
struct Case {
    kind: Kind,
    rows: usize,
    count: usize,
    borders: Vec<usize>,
}

impl Case {
    fn new(random: &mut Random, kind: Kind, rows: usize, count: usize) -> Self {
        let mut borders: Vec<usize> = (0..=count).map(|_| random.below(rows + 1)).collect();
        borders.sort();
        (borders[0], borders[count]) = (0, rows);
        Case {
            kind,
            rows,
            count,
            borders,
        }
    }

    fn shards(&self) -> Shards<'_> {
        match self.kind {
            Kind::Blocks => Shards::blocks(self.rows, self.count),
            Kind::Modulo => Shards::modulo(self.rows, self.count),
            Kind::Borders => Shards::borders(&self.borders),
        }
    }

    /// Returns the shard of a row, and the number of the row in its shard.
    fn find(&self, row: usize) -> (usize, i64) {
        let (shard, local) = match self.kind {
            Kind::Blocks => {
                let block = self.rows.div_ceil(self.count);
                (row / block, row % block)
            }
            Kind::Modulo => (row % self.count, row / self.count),
            Kind::Borders => {
                let shard = (0..self.count).find(|&s| row < self.borders[s + 1]).unwrap();
                (shard, row - self.borders[shard])
            }
        };
        (shard, local as i64)
    }

    fn find_in(&self, shard: usize, row: usize) -> Option<i64> {
        let (found, at) = self.find(row);
        (found == shard).then_some(at)
    }

    /// Returns the expected parts. `named` has the row of each id, or `None` if the id is out of bounds.
    fn parts(&self, named: &[Option<usize>]) -> Parts {
        let (mut counts, mut local, mut order) = (vec![], vec![], vec![]);
        for shard in 0..self.count {
            let before = local.len();
            for (i, row) in named.iter().enumerate() {
                if let Some(at) = row.and_then(|row| self.find_in(shard, row)) {
                    local.push(at);
                    order.push(i as i64);
                }
            }
            counts.push(local.len() - before);
        }
        Parts { counts, local, order }
    }

    fn parts_once(&self, named: &[Option<usize>]) -> PartsOnce {
        let (mut counts, mut local) = (vec![], vec![]);
        let mut place = vec![-1; named.len()];
        for shard in 0..self.count {
            let before = local.len();
            for (i, row) in named.iter().enumerate() {
                if let Some(at) = row.and_then(|row| self.find_in(shard, row)) {
                    let known = local[before..].iter().position(|&other| other == at);
                    place[i] = (before + known.unwrap_or(local.len() - before)) as i64;
                    if known.is_none() {
                        local.push(at);
                    }
                }
            }
            counts.push(local.len() - before);
        }
        PartsOnce { counts, local, place }
    }
}

#[test]
fn partition_matches_loops() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let context = Context::builder().threads(2).build().unwrap();
    for rows in [1usize, 7, 1000, 1 << 60] {
        for count in [1, 2, 5, 40] {
            for kind in [Kind::Blocks, Kind::Modulo, Kind::Borders] {
                for n in [0, 1, 30, 1000] {
                    let case = Case::new(&mut random, kind, rows, count);
                    let mut named = vec![];
                    let ids: Vec<i64> = (0..n)
                        .map(|_| {
                            let row = random.below(rows.min(60)) * (rows / 60).max(1);
                            let chance = random.below(6);
                            named.push((chance != 0).then_some(row));
                            match chance {
                                0 => (rows + random.below(3)) as i64,
                                1 => row as i64 - rows as i64,
                                _ => row as i64,
                            }
                        })
                        .collect();
                    let (shape, shards) = ([n], case.shards());
                    let ids = Tensor::new(&ids, &shape);
                    for bounds in [Bounds::Skip, Bounds::Fill] {
                        let options = Options::new().negative(Negative::Wrap).bounds(bounds);
                        let parts = partition(&ids, &shards, &options).unwrap();
                        assert_eq!(parts, case.parts(&named), "{case:?}");
                        assert_eq!(context.partition(&ids, &shards, &options).unwrap(), parts);
                        let once = partition_once(&ids, &shards, &options).unwrap();
                        assert_eq!(once, case.parts_once(&named), "{case:?}");
                        assert_eq!(context.partition_once(&ids, &shards, &options).unwrap(), once);
                    }
                }
            }
        }
    }
}

#[test]
fn ids_of_any_type_and_strides() {
    let shards = Shards::blocks(6, 2);
    let memory = [0u8, 99, 2, 99, 5, 99, 1, 99];
    let ids = Tensor::new(&memory, &[2, 2]).with_strides(&[2, 4]).unwrap(); // The ids are 0, 5, 2 and 1.
    let parts = partition(&ids, &shards, &Options::new()).unwrap();
    assert_eq!(parts.counts, [3, 1]);
    assert_eq!(parts.local, [0, 2, 1, 2]);
    assert_eq!(parts.order, [0, 2, 3, 1]);
    let one = partition(&Tensor::new(&[4i16], &[]), &shards, &Options::new()).unwrap();
    assert_eq!((one.counts, one.local, one.order), (vec![0, 1], vec![1], vec![0]));
}

#[test]
fn rows_of_shards_equal_rows_of_the_table() {
    let table: Vec<f64> = (0..20).map(f64::from).collect(); // 10 rows of 2. Row r is in shard r % 3.
    let (ids, options) = ([7u16, 0, 7, 9, 3, 3, 3, 8], Options::new());
    let whole = gather(&Tensor::new(&table, &[10, 2]), &Tensor::new(&ids, &[8]), &options).unwrap();
    let send = |counts: &[usize], local: &[i64]| -> Vec<f64> {
        let owners = counts.iter().enumerate().flat_map(|(s, &count)| vec![s; count]);
        owners
            .zip(local)
            .flat_map(|(s, &at)| {
                let row = at as usize * 3 + s;
                table[2 * row..2 * row + 2].to_vec()
            })
            .collect()
    };
    let parts = partition(&Tensor::new(&ids, &[8]), &Shards::modulo(10, 3), &options).unwrap();
    let (sent, mut back) = (send(&parts.counts, &parts.local), [0.0; 16]);
    let mut out = TensorMut::new(&mut back, &[8, 2]);
    let sent = Tensor::new(&sent, &[8, 2]);
    scatter_into(&mut out, &Tensor::new(&parts.order, &[8]), &sent, &options).unwrap();
    assert_eq!(back, whole.as_slice::<f64>().unwrap());

    let once = partition_once(&Tensor::new(&ids, &[8]), &Shards::modulo(10, 3), &options).unwrap();
    assert_eq!(once.local.len(), 5);
    let sent = send(&once.counts, &once.local);
    let placed = gather(&Tensor::new(&sent, &[5, 2]), &Tensor::new(&once.place, &[8]), &options).unwrap();
    assert_eq!(placed.as_slice::<f64>().unwrap(), whole.as_slice::<f64>().unwrap());
}

#[test]
fn error_has_the_position_of_the_first_invalid_id() {
    for bad in [100, -1, i64::MIN] {
        let mut ids: Vec<i64> = (0..500).map(|i| i * 7 % 100).collect();
        (ids[321], ids[400]) = (bad, 1000);
        let (ids, shards) = (Tensor::new(&ids, &[500]), Shards::modulo(100, 4));
        for result in [
            partition(&ids, &shards, &Options::new()).map(|_| ()),
            partition_once(&ids, &shards, &Options::new()).map(|_| ()),
        ] {
            let Err(Error::Index(cause)) = result else {
                panic!("{result:?}")
            };
            assert_eq!(cause.operand, Operand::Indices);
            assert_eq!((cause.position, cause.value, cause.limit), (Some(321), bad.into(), 100));
            assert!(cause.message.contains("321"), "{cause}");
        }
    }
}

#[test]
fn invalid_arguments_return_errors() {
    let ids = Tensor::new(&[0u8, 1], &[2]);
    let many = Tensor::new(&[0u8], &[1 << 60]).with_strides(&[0]).unwrap();
    let reject = |ids: &Tensor<'_>, shards: &Shards<'_>, options: &Options| {
        let error = partition(ids, shards, options).unwrap_err();
        assert_eq!(partition_once(ids, shards, options).unwrap_err(), error);
        error
    };
    let options = Options::new();
    for (shards, message) in [
        (Shards::blocks(2, 0), "count is 0"),
        (Shards::modulo(2, usize::MAX), "count is -1"),
        (Shards::blocks(usize::MAX, 2), "rows is -1"),
        (Shards::borders(&[]), "count is 0"),
        (Shards::borders(&[2]), "count is 0"),
        (Shards::borders(&[1, 2]), "border 0 is 1"),
        (Shards::borders(&[0, 3, 2]), "border 1 is 3"),
    ] {
        let error = reject(&ids, &shards, &options);
        assert!(
            matches!(error, Error::Shape(_)) && error.to_string().contains(message),
            "{error}"
        );
    }
    let Error::Index(cause) = reject(&ids, &Shards::blocks(0, 2), &options) else {
        panic!()
    };
    assert_eq!((cause.position, cause.limit), (Some(0), 0));
    let floats = Tensor::new(&[0.0f32], &[1]);
    assert!(matches!(
        reject(&floats, &Shards::blocks(2, 2), &options),
        Error::DType(_)
    ));
    let short = Tensor::new(&[0u8, 1], &[3]);
    assert!(matches!(
        reject(&short, &Shards::blocks(2, 2), &options),
        Error::Stride(_)
    ));
    assert!(matches!(
        reject(&ids, &Shards::blocks(2, 2), &options.axis(1)),
        Error::Axis(_)
    ));
    // If the memory cannot be allocated, the call returns an error and does not abort.
    assert!(matches!(
        partition(&many, &Shards::blocks(2, 2), &options),
        Err(Error::OutOfMemory(_))
    ));
    let Err(Error::OutOfMemory(cause)) = partition(&ids, &Shards::blocks(2, 1 << 56), &options) else {
        panic!()
    };
    assert_eq!(
        (cause.operand, cause.value, cause.limit),
        (Operand::Indices, 1 << 59, 0)
    );
}
