package io.libgather.tf;

/** A tensor of numbers. */
public sealed interface TNumber extends TType permits TFloat32, TFloat64, TInt32, TInt64, TUint8 {}
