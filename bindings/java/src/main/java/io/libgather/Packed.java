package io.libgather;

import static io.libgather.Given.given;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.libgather.internal.Gth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * A table of quantised rows, which a call decodes as it reads them.
 *
 * <p>Packed rows are params of {@link Gather#gather}, {@link Gather#gatherNd} and {@link Gather#gatherBags}, with or
 * without {@code Into} in the name, and of {@link Plan}. Whole rows are selected. The result has the dtype of {@link
 * #dtype()}.
 *
 * <pre>{@code
 * byte[] codes = {2, -4, 6, 8}; // 2 rows of 2 numbers
 * Tensor scales = Tensor.of(new float[] {0.5f, 2}, 2, 1); // one scale for each row
 * try (Packed table = Packed.of("int8").data(codes).shape(2, 2).scales(scales).build()) {
 *   float[] rows = Gather.gather(table, Tensor.of(new long[] {1, 0})).toFloatArray(); // 12, 16, 1, -2
 * }
 * }</pre>
 *
 * <p>The formats are those of {@code gth_codec_named} in gather.h. GGUF has {@code q8_0 q4_0 q4_1 q5_0 q5_1 iq4_nl q2_k
 * q3_k q4_k q5_k q6_k iq4_xs mxfp4 nvfp4}. PyTorch and FBGEMM have {@code rowwise8 rowwise4 rowwise2}. Formats with
 * scales of their own are {@code int8 uint8 int4 uint4 int2 uint2 fp8_e4m3fn fp8_e5m2 e2m1}, and {@code nf4 fp4} of
 * bitsandbytes. Formats with scales and biases of their own are {@code affine8 affine4 affine2}.
 *
 * <p>Native memory of rows, scales and zero points is not copied. If its arena is closed, or belongs to another thread,
 * calls throw the exceptions of {@link MemorySegment}. An arena cannot be closed while a call uses it. {@link
 * Builder#build} copies arrays.
 *
 * <p>Packed rows are immutable, and threads may share them. Rows that are not closed are never released. With packed
 * rows, each call copies other operands that are arrays.
 */
public final class Packed extends HeldParams {
  private final String format;

  private Packed(Builder builder) {
    super(builder.dtype, builder.shape, arena -> hold(builder, arena));
    format = builder.format;
  }

  private static List<MemorySegment> hold(Builder builder, Arena arena) {
    Tensor rows = builder.rows().copied(arena);
    Tensor scales = builder.scales == null ? null : builder.scales.copied(arena);
    Tensor zeros = builder.zeros == null ? null : builder.zeros.copied(arena);
    try (Arena call = Arena.ofConfined()) {
      MemorySegment codec = call.allocate(Gth.Codec.BYTES, 8).copyFrom(builder.codec);
      MemorySegment handle =
          Handles.create(arena, Gth::tensorRelease, scratch -> create(scratch, codec, rows, scales, zeros));
      Stream<MemorySegment> memory = Stream.of(rows, scales, zeros).filter(Objects::nonNull).map(Tensor::segment);
      return Stream.concat(Stream.of(handle), memory).toList();
    }
  }

  private static int create(Scratch scratch, MemorySegment codec, Tensor rows, Tensor scales, Tensor zeros) {
    return describe(
        scratch, codec, rows, scales, zeros, desc -> Gth.tensorBorrow(desc, scratch.out, scratch.error));
  }

  /** Calls a function with the description of a table that has a codec. Scales and zeros may be null. */
  static int describe(
      Scratch scratch,
      MemorySegment codec,
      Tensor rows,
      Tensor scales,
      Tensor zeros,
      ToIntFunction<MemorySegment> call) {
    if (scales != null) {
      codec.set(ADDRESS, Gth.Codec.SCALES, scratch.describeResult(0, scales));
    }
    if (zeros != null) {
      codec.set(ADDRESS, Gth.Codec.ZEROS, scratch.describeResult(1, zeros));
    }
    MemorySegment desc = scratch.describe(Role.TABLE, rows);
    desc.set(ADDRESS, Gth.TensorDesc.CODEC, codec);
    try {
      return call.applyAsInt(desc);
    } finally {
      desc.set(ADDRESS, Gth.TensorDesc.CODEC, MemorySegment.NULL);
    }
  }

  /**
   * Returns a builder of packed rows.
   *
   * @param format the name of a format, such as {@code q8_0}
   * @return a new builder
   * @throws GatherArgumentException if there is no such format
   */
  public static Builder of(String format) {
    return new Builder(given(format, "format"));
  }

  @Override
  public String toString() {
    return format + " " + dtype() + Arrays.toString(shape());
  }

  /** The format, the memory and the shape of packed rows. Rows and shape are required. */
  public static final class Builder {
    private final String format;
    final MemorySegment codec = Arena.ofAuto().allocate(Gth.Codec.BYTES, 8);
    private MemorySegment data;
    private long[] shape;
    private DType dtype = DType.FLOAT32;
    Tensor scales;
    Tensor zeros;

    private long first;

    /** The strides of all dims, or null if the rows follow each other. */
    private long[] strides;

    private Builder(String format) {
      this.format = format;
      codec.set(JAVA_INT, Gth.Codec.SIZE, (int) Gth.Codec.BYTES);
      try (Arena call = Arena.ofConfined()) {
        MemorySegment name = call.allocateFrom(format);
        Handles.run(scratch -> Gth.codecNamed(name, codec, scratch.error));
      }
    }

    /**
     * Sets the memory of the rows. Native memory is not copied, and must not change until the rows are closed.
     *
     * @param segment the bytes of the rows, of any alignment
     * @return this builder
     */
    public Builder data(MemorySegment segment) {
      data = given(segment, "segment");
      return this;
    }

    /**
     * Sets the bytes of the rows, which {@link #build} copies to native memory.
     *
     * @param bytes the bytes of the rows
     * @return this builder
     */
    public Builder data(byte[] bytes) {
      return data(MemorySegment.ofArray(given(bytes, "bytes")));
    }

    /**
     * Sets the extents, which count numbers. The last dim is a row.
     *
     * @param extents the extents
     * @return this builder
     */
    public Builder shape(long... extents) {
      shape = given(extents, "extents").clone();
      return this;
    }

    /**
     * Sets the distances of the rows. By default they follow each other.
     *
     * @param offset the number of bytes before the row with the number 0
     * @param bytes a stride in bytes for each dim but the last one
     * @return this builder
     */
    public Builder strides(long offset, long... bytes) {
      first = offset;
      strides = Arrays.copyOf(given(bytes, "bytes"), bytes.length + 1); // The stride of the last dim is 0.
      return this;
    }

    /**
     * Sets the dtype of the decoded numbers. The default is float32. The others are the float32 numbers, rounded once.
     *
     * @param decoded float32, float16 or bfloat16
     * @return this builder
     */
    public Builder dtype(DType decoded) {
      dtype = given(decoded, "decoded");
      return this;
    }

    /**
     * Sets the numbers of a block, which has one scale.
     *
     * @param numbers the number of numbers, or 0 for all of a row
     * @return this builder
     */
    public Builder block(long numbers) {
      codec.set(JAVA_LONG, Gth.Codec.BLOCK_VALUES, numbers);
      return this;
    }

    /**
     * Sets the number that each scale is multiplied by.
     *
     * @param number the factor
     * @return this builder
     */
    public Builder factor(float number) {
      codec.set(JAVA_FLOAT, Gth.Codec.FACTOR, number);
      return this;
    }

    /**
     * Sets the zero point or bias of all blocks. It replaces those in the rows, and earlier {@link #zeros}.
     *
     * @param number the zero point or bias
     * @return this builder
     */
    public Builder zero(float number) {
      zeros = null;
      codec.set(JAVA_INT, Gth.Codec.ZERO_PLACE, Gth.PLACE_NONE);
      codec.set(JAVA_FLOAT, Gth.Codec.ZERO, number);
      return this;
    }

    /**
     * Sets the scales of a format whose scales have memory of their own.
     *
     * @param operand the dims of the rows but the last one, and then one for the blocks of a row. An extent of 1 is
     *     repeated. The dtype is float32, float16, bfloat16, float8_e4m3fn or float8_e8m0fnu.
     * @return this builder
     */
    public Builder scales(Tensor operand) {
      scales = given(operand, "operand");
      return this;
    }

    /**
     * Sets zero points or biases with the dims of scales, also for a format that has a constant one.
     *
     * @param operand a tensor of int8, uint8 or a dtype of scales
     * @return this builder
     */
    public Builder zeros(Tensor operand) {
      return zeros(given(operand, "operand"), 0);
    }

    /**
     * Sets zero points of 4 bits.
     *
     * @param operand the dims of scales, but with a byte for two blocks of a row in the last dim, low bits first
     * @param signed true if a zero point has a sign
     * @return this builder
     */
    public Builder zerosOf4Bits(Tensor operand, boolean signed) {
      Tensor bytes = given(operand, "operand").dtype == DType.INT8 ? operand.withDType(DType.UINT8) : operand;
      return zeros(bytes, signed ? Gth.ZERO_INT4 : Gth.ZERO_UINT4);
    }

    private Builder zeros(Tensor operand, int number) {
      zeros = operand;
      codec.set(JAVA_INT, Gth.Codec.ZERO_DTYPE, number);
      if (codec.get(JAVA_INT, Gth.Codec.ZERO_PLACE) == Gth.PLACE_NONE) {
        codec.set(JAVA_INT, Gth.Codec.ZERO_PLACE, Gth.PLACE_OPERAND);
      }
      return this;
    }

    /**
     * Returns the bytes of a row.
     *
     * @param numbers the numbers of a row
     * @return the number of bytes
     * @throws GatherArgumentException if blocks do not divide the row
     */
    public long rowBytes(long numbers) {
      try (Arena call = Arena.ofConfined()) {
        MemorySegment bytes = call.allocate(JAVA_LONG);
        Handles.run(scratch -> Gth.codecRowBytes(codec, numbers, bytes, scratch.error));
        return bytes.get(JAVA_LONG, 0);
      }
    }

    /**
     * Creates packed rows. Close them after their use.
     *
     * @return new rows
     * @throws GatherArgumentException if the memory is too small, or shapes, dtypes or the format do not match
     */
    public Packed build() {
      given(data, "data");
      given(shape, "shape");
      return new Packed(this);
    }

    private Tensor rows() {
      Tensor dense = Tensor.of(data, dtype, shape).asReadOnly();
      return strides == null ? dense : dense.withStrides(first, strides);
    }
  }
}
