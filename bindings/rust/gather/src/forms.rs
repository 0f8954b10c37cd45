//! The forms of an operation. These are the public functions that each entry of the table of operations defines, and
//! the code that they share.

use crate::abi::call;
use crate::context::Context;
use crate::description::Description;
use crate::error::Error;
use crate::handle::Handle;
use crate::layout::Layout;
use crate::numbers::{count, extent_from_c, struct_size};
use crate::options::Options;
use crate::tensor::Tensor;
use gather_sys as sys;

/// Returns a request with the operands of another one, in which only they are set.
pub(crate) fn request(op: i32, operands: sys::gth_request, options: &Options) -> sys::gth_request {
    sys::gth_request {
        size: struct_size::<sys::gth_request>(),
        op,
        options: &options.raw,
        ..operands
    }
}

impl Context {
    /// Runs an operation on existing memory.
    ///
    /// # Safety
    ///
    /// The operands must describe only memory that is borrowed for the call. The operand that the operation writes must
    /// be borrowed exclusively, and the memory of a scatter's target must be initialised.
    #[inline]
    pub(crate) unsafe fn write(
        &self,
        op: i32,
        table: &Description,
        indices: &Description,
        rows: &Description,
        options: &Options,
    ) -> Result<(), Error> {
        let are_settled = table.is_settled() & indices.is_settled() & rows.is_settled();
        if !are_settled {
            // SAFETY: the caller guarantees it.
            return unsafe { self.write_moved(op, table, indices, rows, options) };
        }
        // SAFETY: the caller guarantees it.
        unsafe { self.run_described(op, [table.head(), indices.head(), rows.head()], options) }
    }

    /// Runs an operation as `write`. The first call with descriptions that have moved copies them, because their next
    /// call may never come. It is not inlined, so that `write` keeps its arguments in registers.
    ///
    /// # Safety
    ///
    /// The operands must be those of [`Context::write`].
    #[inline(never)]
    unsafe fn write_moved(
        &self,
        op: i32,
        table: &Description,
        indices: &Description,
        rows: &Description,
        options: &Options,
    ) -> Result<(), Error> {
        if table.may_copy() & indices.may_copy() & rows.may_copy() {
            let (table, indices, rows) = (table.copied(), indices.copied(), rows.copied());
            // SAFETY: the caller guarantees it.
            return unsafe { self.run_described(op, [&table, &indices, &rows], options) };
        }
        // SAFETY: the caller guarantees it.
        unsafe { self.run_described(op, [table.raw(), indices.raw(), rows.raw()], options) }
    }

    /// Calls the library.
    ///
    /// # Safety
    ///
    /// The descriptions must be those of the operands of [`Context::write`].
    #[inline]
    unsafe fn run_described(
        &self,
        op: i32,
        [table, indices, rows]: [*const sys::gth_tensor_desc; 3],
        options: &Options,
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        call(|err| unsafe { sys::gth_run(self.raw(), op, table, indices, rows, &options.raw, err) })
    }

    /// Runs an operation and creates its result.
    ///
    /// # Safety
    ///
    /// The operands must be NULL or valid descriptions, and the table must not be NULL. They must be handles that have
    /// not been released, or describe only memory that is borrowed for the call.
    pub(crate) unsafe fn make(
        &self,
        op: i32,
        operands: sys::gth_request,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        // SAFETY: the caller guarantees it.
        unsafe { self.make_requested(&request(op, operands, options)) }
    }

    /// Runs a request and creates its result.
    ///
    /// # Safety
    ///
    /// The operands of the request must be those of [`Context::make`].
    pub(crate) unsafe fn make_requested(&self, request: &sys::gth_request) -> Result<Tensor<'static>, Error> {
        // SAFETY: the caller guarantees it.
        Tensor::from_handle(Handle::make(|out, err| unsafe {
            sys::gth_make(self.raw(), request, out, err)
        })?)
    }
}

/// Infers the shape of the rows of an operation.
pub(crate) fn infer(op: i32, table: &Layout, indices: &Layout, options: &Options) -> Result<Vec<usize>, Error> {
    let operands = sys::gth_request {
        table: table.desc.raw(),
        indices: indices.desc.raw(),
        ..Default::default()
    };
    let request = request(op, operands, options);
    read_shape(|rows, capacity, shape, err| {
        // SAFETY: the layouts own their shapes, and `shape` has room for `capacity` extents.
        unsafe { sys::gth_infer(&request, rows, capacity, shape, err) }
    })
}

/// Calls a function of the library that describes rows and writes their shape.
pub(crate) fn read_shape(
    f: impl FnOnce(*mut sys::gth_tensor_desc, i32, *mut i64, *mut sys::gth_error) -> i32,
) -> Result<Vec<usize>, Error> {
    let mut shape = [0i64; sys::GTH_MAX_NDIM as usize];
    let mut rows = sys::gth_tensor_desc {
        size: struct_size::<sys::gth_tensor_desc>(),
        ..Default::default()
    };
    call(|err| f(&mut rows, sys::GTH_MAX_NDIM, shape.as_mut_ptr(), err))?;
    Ok(shape[..count(rows.ndim)].iter().copied().map(extent_from_c).collect())
}

/// Returns the documentation of a method of [`Context`] or [`Plan`](crate::Plan). It has a link to a function of this
/// crate.
macro_rules! doc_of {
    ($before:literal $name:ident $after:literal) => {
        concat!(
            $before,
            "[`",
            stringify!($name),
            "`](crate::",
            stringify!($name),
            "())",
            $after
        )
    };
}

/// Defines the functions of gathers. Each entry has the number of the operation and the names of four functions. They
/// make the output, write it to existing memory, infer its shape, and plan it with a layout.
macro_rules! gathers {
    ($($op:ident {
        $(#[$make_doc:meta])* $make:ident,
        $(#[$into_doc:meta])* $into:ident,
        $(#[$shape_doc:meta])* $shape:ident,
        $to:ident
    })*) => {$(
        $(#[$make_doc])*
        pub fn $make(params: &Tensor<'_>, indices: &Tensor<'_>, options: &Options) -> Result<Tensor<'static>, Error> {
            context::DEFAULT.$make(params, indices, options)
        }

        $(#[$into_doc])*
        #[inline]
        pub fn $into(
            params: &Tensor<'_>,
            indices: &Tensor<'_>,
            options: &Options,
            out: &mut TensorMut<'_>,
        ) -> Result<(), Error> {
            context::DEFAULT.$into(params, indices, options, out)
        }

        $(#[$shape_doc])*
        pub fn $shape(params: &Layout, indices: &Layout, options: &Options) -> Result<Vec<usize>, Error> {
            infer(sys::$op, params, indices, options)
        }

        impl Context {
            #[doc = doc_of!("Runs " $make " in this context.")]
            pub fn $make(
                &self,
                params: &Tensor<'_>,
                indices: &Tensor<'_>,
                options: &Options,
            ) -> Result<Tensor<'static>, Error> {
                let (params, indices) = (params.operand(), indices.operand());
                let operands = sys::gth_request {
                    table: params.as_ptr(),
                    indices: indices.as_ptr(),
                    ..Default::default()
                };
                // SAFETY: tensors borrow or hold the memory that they describe.
                unsafe { self.make(sys::$op, operands, options) }
            }

            #[doc = doc_of!("Runs " $into " in this context.")]
            #[inline]
            pub fn $into(
                &self,
                params: &Tensor<'_>,
                indices: &Tensor<'_>,
                options: &Options,
                out: &mut TensorMut<'_>,
            ) -> Result<(), Error> {
                // SAFETY: tensors borrow or hold the memory that they describe, and the output borrows its own
                // exclusively.
                unsafe { self.write(sys::$op, &params.desc, &indices.desc, &out.desc, options) }
            }
        }

        impl Plan {
            #[doc = doc_of!("Plans " $into " with a dense output.")]
            ///
            /// # Errors
            ///
            /// Returns the errors of the function that do not depend on data, [`Error::OutOfMemory`], and
            /// [`Error::Unsupported`] for strings.
            pub fn $make(params: &Layout, indices: &Layout, options: &Options) -> Result<Self, Error> {
                Self::create(sys::$op, params, indices, None, options)
            }

            #[doc = doc_of!("Plans " $into " with outputs of a layout.")]
            ///
            /// # Errors
            ///
            #[doc = concat!("Returns the errors of [`Plan::", stringify!($make), "`].")]
            pub fn $to(
                params: &Layout,
                indices: &Layout,
                options: &Options,
                out: &Layout,
            ) -> Result<Self, Error> {
                Self::create(sys::$op, params, indices, Some(out), options)
            }
        }
    )*};
}

/// Defines the functions of scatters. Each entry has the number of the operation and the names of four functions. They
/// make a changed copy, change the target in place, infer the shape of the updates, and plan with a layout of the
/// updates.
macro_rules! scatters {
    ($($op:ident {
        $(#[$make_doc:meta])* $make:ident,
        $(#[$into_doc:meta])* $into:ident,
        $(#[$shape_doc:meta])* $shape:ident,
        $from:ident,
        $(#[$positions_doc:meta])* $positions:ident,
        $positions_into:ident
    })*) => {$(
        $(#[$make_doc])*
        pub fn $make(
            target: &Tensor<'_>,
            indices: &Tensor<'_>,
            updates: &Tensor<'_>,
            options: &Options,
        ) -> Result<Tensor<'static>, Error> {
            context::DEFAULT.$make(target, indices, updates, options)
        }

        $(#[$into_doc])*
        #[inline]
        pub fn $into(
            target: &mut TensorMut<'_>,
            indices: &Tensor<'_>,
            updates: &Tensor<'_>,
            options: &Options,
        ) -> Result<(), Error> {
            context::DEFAULT.$into(target, indices, updates, options)
        }

        $(#[$shape_doc])*
        pub fn $shape(target: &Layout, indices: &Layout, options: &Options) -> Result<Vec<usize>, Error> {
            infer(sys::$op, target, indices, options)
        }

        $(#[$positions_doc])*
        pub fn $positions(
            target: &Tensor<'_>,
            indices: &Tensor<'_>,
            updates: &Tensor<'_>,
            options: &Options,
        ) -> Result<Tensor<'static>, Error> {
            context::DEFAULT.$positions(target, indices, updates, options)
        }

        #[doc = doc_of!("Writes the result of " $positions " to existing memory of `i64`. It is unchanged after an error.")]
        ///
        /// # Errors
        ///
        /// Returns the errors of that function, [`Error::ReadOnly`] and [`Error::Alias`].
        pub fn $positions_into(
            target: &Tensor<'_>,
            indices: &Tensor<'_>,
            updates: &Tensor<'_>,
            options: &Options,
            positions: &mut TensorMut<'_>,
        ) -> Result<(), Error> {
            context::DEFAULT.$positions_into(target, indices, updates, options, positions)
        }

        impl Context {
            #[doc = doc_of!("Runs " $make " in this context.")]
            pub fn $make(
                &self,
                target: &Tensor<'_>,
                indices: &Tensor<'_>,
                updates: &Tensor<'_>,
                options: &Options,
            ) -> Result<Tensor<'static>, Error> {
                let (target, indices, updates) = (target.operand(), indices.operand(), updates.operand());
                let operands = sys::gth_request {
                    table: target.as_ptr(),
                    indices: indices.as_ptr(),
                    rows: updates.as_ptr(),
                    ..Default::default()
                };
                // SAFETY: tensors borrow or hold the memory that they describe.
                unsafe { self.make(sys::$op, operands, options) }
            }

            #[doc = doc_of!("Runs " $into " in this context.")]
            #[inline]
            pub fn $into(
                &self,
                target: &mut TensorMut<'_>,
                indices: &Tensor<'_>,
                updates: &Tensor<'_>,
                options: &Options,
            ) -> Result<(), Error> {
                target.check_init()?;
                // SAFETY: tensors borrow or hold the memory that they describe, and the target borrows its own
                // exclusively, which is initialised.
                unsafe { self.write(sys::$op, &target.desc, &indices.desc, &updates.desc, options) }
            }

            #[doc = doc_of!("Runs " $positions " in this context.")]
            pub fn $positions(
                &self,
                target: &Tensor<'_>,
                indices: &Tensor<'_>,
                updates: &Tensor<'_>,
                options: &Options,
            ) -> Result<Tensor<'static>, Error> {
                self.written(DType::Int64, target.shape(), |out| {
                    self.$positions_into(target, indices, updates, options, out)
                })
            }

            #[doc = doc_of!("Runs " $positions_into " in this context.")]
            pub fn $positions_into(
                &self,
                target: &Tensor<'_>,
                indices: &Tensor<'_>,
                updates: &Tensor<'_>,
                options: &Options,
                positions: &mut TensorMut<'_>,
            ) -> Result<(), Error> {
                let operands = sys::gth_request {
                    table: target.desc.raw(),
                    indices: indices.desc.raw(),
                    rows: updates.desc.raw(),
                    ..Default::default()
                };
                let request = request(sys::$op, operands, options);
                // SAFETY: tensors borrow or hold the memory that they describe, and the output borrows its own
                // exclusively.
                call(|err| unsafe { sys::gth_scatter_positions(self.raw(), &request, positions.desc.raw(), err) })
            }
        }

        impl ScatterPlan {
            #[doc = doc_of!("Plans " $into " with dense updates.")]
            ///
            /// # Errors
            ///
            /// Returns the errors of the function that do not depend on data, [`Error::OutOfMemory`], and
            /// [`Error::Unsupported`] for strings.
            pub fn $make(target: &Layout, indices: &Layout, options: &Options) -> Result<Self, Error> {
                Plan::create(sys::$op, target, indices, None, options).map(ScatterPlan)
            }

            #[doc = doc_of!("Plans " $into " with updates of a layout.")]
            ///
            /// # Errors
            ///
            #[doc = concat!("Returns the errors of [`ScatterPlan::", stringify!($make), "`].")]
            pub fn $from(
                target: &Layout,
                indices: &Layout,
                options: &Options,
                updates: &Layout,
            ) -> Result<Self, Error> {
                Plan::create(sys::$op, target, indices, Some(updates), options).map(ScatterPlan)
            }
        }
    )*};
}

/// Defines the functions of gradients. Each entry has the number of the operation and the names of two functions. They
/// make the gradient of the params, and write it to existing memory.
macro_rules! gradients {
    ($($op:ident {
        $(#[$make_doc:meta])* $make:ident,
        $(#[$into_doc:meta])* $into:ident
    })*) => {$(
        $(#[$make_doc])*
        pub fn $make(
            gradient: &Tensor<'_>,
            indices: &Tensor<'_>,
            shape: &[usize],
            options: &Options,
        ) -> Result<Tensor<'static>, Error> {
            context::DEFAULT.$make(gradient, indices, shape, options)
        }

        $(#[$into_doc])*
        pub fn $into(
            gradient: &Tensor<'_>,
            indices: &Tensor<'_>,
            options: &Options,
            target: &mut TensorMut<'_>,
        ) -> Result<(), Error> {
            context::DEFAULT.$into(gradient, indices, options, target)
        }

        impl Context {
            #[doc = doc_of!("Runs " $make " in this context.")]
            pub fn $make(
                &self,
                gradient: &Tensor<'_>,
                indices: &Tensor<'_>,
                shape: &[usize],
                options: &Options,
            ) -> Result<Tensor<'static>, Error> {
                let table = Layout::of(gradient.dtype(), shape);
                let (indices, gradient) = (indices.operand(), gradient.operand());
                let operands = sys::gth_request {
                    table: table.desc.raw(),
                    indices: indices.as_ptr(),
                    rows: gradient.as_ptr(),
                    ..Default::default()
                };
                // SAFETY: tensors borrow or hold the memory that they describe. The table is a shape without memory.
                unsafe { self.make(sys::$op, operands, options) }
            }

            #[doc = doc_of!("Runs " $into " in this context.")]
            pub fn $into(
                &self,
                gradient: &Tensor<'_>,
                indices: &Tensor<'_>,
                options: &Options,
                target: &mut TensorMut<'_>,
            ) -> Result<(), Error> {
                // SAFETY: tensors borrow or hold the memory that they describe, and the output borrows its own
                // exclusively. It is overwritten before it is read.
                unsafe { self.write(sys::$op, &target.desc, &indices.desc, &gradient.desc, options) }
            }
        }
    )*};
}

pub(crate) use {doc_of, gathers, gradients, scatters};
