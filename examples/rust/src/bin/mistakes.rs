//! Makes each mistake in Rust and prints a line with the fields of its error.

use gather::{
    Bounds, Error, Layout, Negative, OPEN, Operand, Options, Plan, Tensor, TensorMut, gather, gather_into, gather_nd,
    scatter_into,
};

const TABLE: [f32; 8] = [0., 1., 10., 11., 20., 21., 30., 31.];

fn line<T>(mistake: &str, result: Result<T, Error>) {
    let Err(error) = result else {
        println!("{mistake}\tGTH_OK");
        return;
    };
    let cause = error.cause().expect("an error of the library has details");
    let operand = match cause.operand {
        Operand::None => 0,
        Operand::Params => 1,
        Operand::Indices => 2,
        Operand::Out => 3,
        Operand::Options => 4,
        Operand::Context => 5,
        Operand::Plan => 6,
        Operand::Target => 8,
        Operand::Updates => 9,
        _ => 7,
    };
    let component = cause.component.map_or(-1, i64::from);
    let position = cause
        .position
        .map_or(-1, |position| i64::try_from(position).expect("small"));
    println!(
        "{mistake}\t{}\t{operand}\t{component}\t{position}\t{}\t{}",
        cause.status, cause.value, cause.limit
    );
}

fn ids(mistake: &str, ids: &[i64], options: Options) {
    line(
        mistake,
        gather(&Tensor::new(&TABLE, &[4, 2]), &Tensor::new(ids, &[ids.len()]), &options),
    );
}

fn from(mistake: &str, params: Result<Tensor<'_>, Error>) {
    let mut rows = [0.0f32; 2];
    let mut out = TensorMut::new(&mut rows, &[1, 2]);
    line(
        mistake,
        params.and_then(|params| gather_into(&params, &Tensor::new(&[0i64], &[1]), &Options::new(), &mut out)),
    );
}

fn to(mistake: &str, mut out: TensorMut<'_>) {
    let indices = Tensor::new(&[0i64, 1, 2], &[3]);
    line(
        mistake,
        gather_into(&Tensor::new(&TABLE, &[4, 2]), &indices, &Options::new(), &mut out),
    );
}

fn scatter(mistake: &str, indices: &Tensor<'_>, updates: &Tensor<'_>, options: &Options) {
    let mut table = TABLE;
    let mut target = TensorMut::new(&mut table, &[4, 2]);
    line(mistake, scatter_into(&mut target, indices, updates, options));
}

fn main() {
    ids("an index above the range", &[0, 4, -1], Options::new());
    ids("a negative index", &[0, -1], Options::new());
    ids(
        "an index below -size with negative = wrap",
        &[-5],
        Options::new().negative(Negative::Wrap),
    );
    ids("an axis outside the rank", &[0, 1], Options::new().axis(2));
    ids(
        "batch_dims above the rank of indices",
        &[0, 1],
        Options::new().batch_dims(2),
    );
    ids("a fill value of another dtype", &[0, 9], Options::new().fill_value(1i8));

    let params = Tensor::new(&TABLE, &[4, 2]);
    let tuple = Tensor::new(&[0i64, 0, 0], &[1, 3]);
    line(
        "tuples with more components than dims",
        gather_nd(&params, &tuple, &Options::new()),
    );
    let floats = Tensor::new(&[0.0f32], &[1]);
    line("indices of float32", gather(&params, &floats, &Options::new()));

    from(
        "memory that is too small for its shape",
        Ok(Tensor::new(&TABLE, &[5, 2])),
    );
    from(
        "memory that is larger than its shape needs",
        Ok(Tensor::new(&TABLE, &[3, 2])),
    );
    from(
        "strides whose count is not the rank",
        Tensor::new(&TABLE, &[4, 2]).with_strides(&[8]),
    );
    from(
        "strides that leave the memory",
        Tensor::new(&TABLE, &[4, 2]).with_strides(&[16, 4]),
    );

    let (mut rows, mut whole) = ([0.0f32; 8], [0i32; 6]);
    to("an output of another shape", TensorMut::new(&mut rows, &[2, 2]));
    to("an output of another rank", TensorMut::new(&mut rows, &[6]));
    to("an output of another dtype", TensorMut::new(&mut whole, &[3, 2]));
    let mut read_only = Tensor::new(&TABLE, &[3, 2]);
    to("a read-only output", read_only.as_mut());

    let plan = Plan::gather(
        &Layout::new::<f32>(&[4, 2]),
        &Layout::new::<i64>(&[OPEN]),
        &Options::new(),
    )
    .expect("a plan");
    let good = [0i64, 1];
    line(
        "a run without a value for its open extent",
        plan.run(&TABLE, &good, &mut rows),
    );
    line(
        "a run with memory that is too small",
        plan.run_open(2, &TABLE[..7], &good, &mut rows),
    );

    let target = || Tensor::new(&TABLE, &[4, 2]);
    let (at, updates) = (Tensor::new(&good, &[2]), Tensor::new(&TABLE[..4], &[2, 2]));
    let options = Options::new();
    scatter(
        "a scatter with an index above the range",
        &Tensor::new(&[0i64, 4], &[2]),
        &updates,
        &options,
    );
    scatter(
        "a scatter with bounds = fill",
        &at,
        &updates,
        &options.bounds(Bounds::Fill),
    );
    scatter("updates of another shape", &at, &Tensor::new(&TABLE, &[3, 2]), &options);
    scatter(
        "updates of another dtype",
        &at,
        &Tensor::new(&[0i32; 4], &[2, 2]),
        &options,
    );
    line(
        "a read-only target",
        scatter_into(&mut target().as_mut(), &at, &updates, &options),
    );
}
