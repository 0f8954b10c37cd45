//! The gradients of gathers: new tensors, and into the caller's memory.

use crate::abi;
use crate::context::{self, Context};
use crate::error::{Error, Operand, call};
use crate::handle::Handle;
use crate::numbers::rank_to_c;
use crate::operation::{GATHER_ELEMENTS_GRADIENT, GATHER_GRADIENT, GATHER_ND_GRADIENT, GradientOperation};
use crate::options::Options;
use crate::tensor::Tensor;
use crate::tensor_mut::TensorMut;

impl Context {
    /// [`gather_gradient`] in this context.
    pub fn gather_gradient(
        &self,
        gradient: &Tensor<'_>,
        indices: &Tensor<'_>,
        shape: &[usize],
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        self.gradient_new(&GATHER_GRADIENT, gradient, indices, shape, options)
    }

    /// [`gather_nd_gradient`] in this context.
    pub fn gather_nd_gradient(
        &self,
        gradient: &Tensor<'_>,
        indices: &Tensor<'_>,
        shape: &[usize],
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        self.gradient_new(&GATHER_ND_GRADIENT, gradient, indices, shape, options)
    }

    /// [`gather_elements_gradient`] in this context.
    pub fn gather_elements_gradient(
        &self,
        gradient: &Tensor<'_>,
        indices: &Tensor<'_>,
        shape: &[usize],
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        self.gradient_new(&GATHER_ELEMENTS_GRADIENT, gradient, indices, shape, options)
    }

    /// [`gather_gradient_into`] in this context.
    pub fn gather_gradient_into(
        &self,
        gradient: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
        out: &mut TensorMut<'_>,
    ) -> Result<(), Error> {
        self.gradient_into(&GATHER_GRADIENT, gradient, indices, options, out)
    }

    /// [`gather_nd_gradient_into`] in this context.
    pub fn gather_nd_gradient_into(
        &self,
        gradient: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
        out: &mut TensorMut<'_>,
    ) -> Result<(), Error> {
        self.gradient_into(&GATHER_ND_GRADIENT, gradient, indices, options, out)
    }

    /// [`gather_elements_gradient_into`] in this context.
    pub fn gather_elements_gradient_into(
        &self,
        gradient: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
        out: &mut TensorMut<'_>,
    ) -> Result<(), Error> {
        self.gradient_into(&GATHER_ELEMENTS_GRADIENT, gradient, indices, options, out)
    }

    fn gradient_new(
        &self,
        operation: &GradientOperation,
        gradient: &Tensor<'_>,
        indices: &Tensor<'_>,
        shape: &[usize],
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        abi::ensure()?;
        options.check_fill(&gradient.desc)?;
        let gradient = gradient.handle(Operand::Updates)?;
        let indices = indices.handle(Operand::Indices)?;
        Tensor::from_handle(Handle::make(|out, err| {
            let (gradient, indices) = (gradient.as_ptr(), indices.as_ptr());
            let (ndim, shape) = (rank_to_c(shape.len()), shape.as_ptr().cast());
            // SAFETY: the handles are live, their memory is borrowed for the call, and the shape has ndim extents.
            unsafe { (operation.make)(self.raw(), gradient, indices, ndim, shape, &options.raw, out, err) }
        })?)
    }

    fn gradient_into(
        &self,
        operation: &GradientOperation,
        gradient: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
        out: &mut TensorMut<'_>,
    ) -> Result<(), Error> {
        abi::ensure()?;
        options.check_fill(&gradient.desc)?;
        let (gradient, indices, out) = (&gradient.desc, &indices.desc, &out.desc);
        // SAFETY: the descriptions name no more memory than is borrowed, and that of the output exclusively; it is zeroed
        // before it is read.
        call(|err| unsafe { (operation.write)(self.raw(), gradient, indices, &options.raw, out, err) })
    }
}

/// What a [`gather`](crate::gather()) hands back to its params, which have this shape: zeros, to which each slice of the
/// gradient of its output is added where it has read it. The options are those of the gather: rows that it has filled or
/// skipped get nothing back. The result is the same for every number of threads.
///
/// Errors: as [`scatter`](crate::scatter()), with [`Operand::Target`] for what is made and [`Operand::Updates`] for
/// `gradient`.
///
/// ```
/// use gather::{Options, Tensor, gather_gradient};
///
/// let gradient = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]; // of the rows 2, 0 and 2 of 3
/// let (gradient, ids) = (Tensor::new(&gradient, &[3, 2]), Tensor::new(&[2i64, 0, 2], &[3]));
/// let table = gather_gradient(&gradient, &ids, &[3, 2], &Options::new())?;
/// assert_eq!(table.as_slice::<f32>()?, [3.0, 4.0, 0.0, 0.0, 6.0, 8.0]);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn gather_gradient(
    gradient: &Tensor<'_>,
    indices: &Tensor<'_>,
    shape: &[usize],
    options: &Options,
) -> Result<Tensor<'static>, Error> {
    context::DEFAULT.gather_gradient(gradient, indices, shape, options)
}

/// What a [`gather_nd`](crate::gather_nd) hands back to its params. As [`gather_gradient`].
pub fn gather_nd_gradient(
    gradient: &Tensor<'_>,
    indices: &Tensor<'_>,
    shape: &[usize],
    options: &Options,
) -> Result<Tensor<'static>, Error> {
    context::DEFAULT.gather_nd_gradient(gradient, indices, shape, options)
}

/// What a [`gather_elements`](crate::gather_elements) hands back to its params. As [`gather_gradient`].
pub fn gather_elements_gradient(
    gradient: &Tensor<'_>,
    indices: &Tensor<'_>,
    shape: &[usize],
    options: &Options,
) -> Result<Tensor<'static>, Error> {
    context::DEFAULT.gather_elements_gradient(gradient, indices, shape, options)
}

/// [`gather_gradient`] into the caller's memory, which has the shape of the params and is all written.
///
/// Errors: as [`gather_gradient`], [`Error::ReadOnly`] and [`Error::Alias`].
pub fn gather_gradient_into(
    gradient: &Tensor<'_>,
    indices: &Tensor<'_>,
    options: &Options,
    out: &mut TensorMut<'_>,
) -> Result<(), Error> {
    context::DEFAULT.gather_gradient_into(gradient, indices, options, out)
}

/// [`gather_nd_gradient`] into the caller's memory. As [`gather_gradient_into`].
pub fn gather_nd_gradient_into(
    gradient: &Tensor<'_>,
    indices: &Tensor<'_>,
    options: &Options,
    out: &mut TensorMut<'_>,
) -> Result<(), Error> {
    context::DEFAULT.gather_nd_gradient_into(gradient, indices, options, out)
}

/// [`gather_elements_gradient`] into the caller's memory. As [`gather_gradient_into`].
pub fn gather_elements_gradient_into(
    gradient: &Tensor<'_>,
    indices: &Tensor<'_>,
    options: &Options,
    out: &mut TensorMut<'_>,
) -> Result<(), Error> {
    context::DEFAULT.gather_elements_gradient_into(gradient, indices, options, out)
}
