package io.libgather.tf;

/** A tensor of numbers. */
public sealed interface TNumber extends TType
    permits TBfloat16, TFloat16, TFloat32, TFloat64, TInt32, TInt64, TUint16, TUint8 {}
