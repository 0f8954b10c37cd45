package io.libgather;

import static io.libgather.Given.given;

import io.libgather.internal.Gth;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.ToIntFunction;

/**
 * The options of a call. Options are immutable, and threads may share them. Without options an index out of bounds is
 * an error, negative indices are out of bounds, and the axis is 0.
 *
 * <pre>{@code
 * Options clamped = Options.builder().axis(1).bounds(Bounds.CLAMP).build();
 * }</pre>
 */
public final class Options {
  /** Options with which every option has its default. */
  public static final Options DEFAULT = builder().build();

  /** The fields of gth_options as words of 8 bytes. */
  private final long[] words;

  final Context context;
  final boolean isDefault;

  private Options(Builder builder) {
    words = builder.words.clone();
    context = builder.context;
    isDefault = builder.isDefault;
  }

  /**
   * Returns a builder.
   *
   * @return a builder in which every option has its default
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Writes the options of a call. */
  void write(MemorySegment target) {
    for (int i = 0; i < words.length; i++) {
      target.setAtIndex(ValueLayout.JAVA_LONG, i, words[i]);
    }
  }

  private int field(long offset) {
    return (int) (words[(int) (offset / 8)] >>> (8 * (offset % 8)));
  }

  private long word(long offset) {
    return words[(int) (offset / 8)];
  }

  private OptionalLong optional(long has, long offset) {
    return field(has) == 0 ? OptionalLong.empty() : OptionalLong.of(word(offset));
  }

  /** Returns the constant of an enum, or empty if the option is not set. */
  private <E> Optional<E> choice(long offset, E[] constants, ToIntFunction<E> number) {
    int wanted = field(offset);
    return Arrays.stream(constants).filter(each -> number.applyAsInt(each) == wanted).findFirst();
  }

  // Begin of the getters that ./dev generate writes.

  /**
   * Returns the dim of params that indices select in.
   *
   * @return the value, or empty if it is not set
   */
  public OptionalLong axis() {
    return optional(Gth.Options.HAS_AXIS, Gth.Options.AXIS);
  }

  /**
   * Returns the number of leading dims that params and indices share.
   *
   * @return the value, or 0 if it is not set
   */
  public long batchDims() {
    return word(Gth.Options.BATCH_DIMS);
  }

  /**
   * Returns the system whose results a call has in every edge case.
   *
   * @return the value, or empty if it is not set
   */
  public Optional<Profile> profile() {
    return choice(Gth.Options.PROFILE, Profile.values(), each -> each.number);
  }

  /**
   * Returns the ONNX version of {@link Profile#ONNX} and {@link Profile#ORT}.
   *
   * @return the value, or 0 if it is not set
   */
  public int opset() {
    return field(Gth.Options.OPSET);
  }

  /**
   * Returns the meaning of a negative index.
   *
   * @return the value, or empty if it is not set
   */
  public Optional<Negative> negative() {
    return choice(Gth.Options.NEGATIVE, Negative.values(), each -> each.number);
  }

  /**
   * Returns the meaning of an index out of bounds.
   *
   * @return the value, or empty if it is not set
   */
  public Optional<Bounds> bounds() {
    return choice(Gth.Options.BOUNDS, Bounds.values(), each -> each.number);
  }

  /**
   * Returns the value that {@link Bounds#FILL} and padding of gathers write.
   *
   * @return the value, or empty if it is not set
   */
  public Optional<Fill> fill() {
    return choice(Gth.Options.FILL, Fill.values(), each -> each.number);
  }

  /**
   * Returns the rule for the extents of params and indices of {@link Gather#gatherElements} and {@link
   * Gather#scatterElements} in the dims that are not the axis.
   *
   * @return the value, or empty if it is not set
   */
  public Optional<Extents> extents() {
    return choice(Gth.Options.EXTENTS, Extents.values(), each -> each.number);
  }

  /**
   * Returns the way in which a scatter combines an update with the row that it selects.
   *
   * @return the value, or empty if it is not set
   */
  public Optional<Reduction> reduction() {
    return choice(Gth.Options.REDUCTION, Reduction.values(), each -> each.number);
  }

  /**
   * Returns the type in which scatters, gradients and bags add and multiply floating numbers.
   *
   * @return the value, or empty if it is not set
   */
  public Optional<Accumulate> accumulate() {
    return choice(Gth.Options.ACCUMULATE, Accumulate.values(), each -> each.number);
  }

  /**
   * Returns the highest number of CPU threads of a call.
   *
   * @return the value, or 0 if it is not set
   */
  public int threads() {
    return field(Gth.Options.THREADS);
  }

  /**
   * Returns the way in which the operand bags of gather_bags divides indices into bags.
   *
   * @return the value, or empty if it is not set
   */
  public Optional<BagFormat> bagFormat() {
    return choice(Gth.Options.BAG_FORMAT, BagFormat.values(), each -> each.number);
  }

  /**
   * Returns the way in which gather_bags makes one row of the rows of a bag.
   *
   * @return the value, or empty if it is not set
   */
  public Optional<Pool> pool() {
    return choice(Gth.Options.POOL, Pool.values(), each -> each.number);
  }

  /**
   * Returns the row of a bag of gather_bags of which no id is read.
   *
   * @return the value, or empty if it is not set
   */
  public Optional<Empty> empty() {
    return choice(Gth.Options.EMPTY, Empty.values(), each -> each.number);
  }

  /**
   * Returns an index that selects nothing and causes no error, even out of bounds.
   *
   * @return the value, or empty if it is not set
   */
  public OptionalLong paddingIndex() {
    return optional(Gth.Options.HAS_PADDING_INDEX, Gth.Options.PADDING_INDEX);
  }

  /**
   * Returns the value that the reduction of a row by a scatter begins with: the row of target, or the first update.
   *
   * @return the value, or empty if it is not set
   */
  public Optional<Initial> initial() {
    return choice(Gth.Options.INITIAL, Initial.values(), each -> each.number);
  }

  /**
   * Returns the number of bags of gather_bags with {@link BagFormat#SEGMENTS}.
   *
   * @return the value, or 0 if it is not set
   */
  public long bagCount() {
    return word(Gth.Options.BAG_COUNT);
  }

  /**
   * Returns the dtype of pooled rows: that of params, or float32 for float16 and bfloat16.
   *
   * @return the value, or empty if it is not set
   */
  public Optional<DType> outDType() {
    return choice(Gth.Options.OUT_DTYPE, DType.values(), each -> each.number);
  }

  /**
   * Returns the order in which a scatter, a gradient or a gradient of bags on a CUDA device combines the updates of an
   * element.
   *
   * @return the value, or empty if it is not set
   */
  public Optional<Order> order() {
    return choice(Gth.Options.ORDER, Order.values(), each -> each.number);
  }

  /** Adds the values that have been set by their names. */
  private void addValues(Map<String, Object> set) {
    axis().ifPresent(value -> set.put("axis", value));
    if (batchDims() != 0) set.put("batchDims", batchDims());
    profile().ifPresent(value -> set.put("profile", value));
    if (opset() != 0) set.put("opset", opset());
    negative().ifPresent(value -> set.put("negative", value));
    bounds().ifPresent(value -> set.put("bounds", value));
    fill().ifPresent(value -> set.put("fill", value));
    extents().ifPresent(value -> set.put("extents", value));
    reduction().ifPresent(value -> set.put("reduction", value));
    accumulate().ifPresent(value -> set.put("accumulate", value));
    if (threads() != 0) set.put("threads", threads());
    bagFormat().ifPresent(value -> set.put("bagFormat", value));
    pool().ifPresent(value -> set.put("pool", value));
    empty().ifPresent(value -> set.put("empty", value));
    paddingIndex().ifPresent(value -> set.put("paddingIndex", value));
    initial().ifPresent(value -> set.put("initial", value));
    if (bagCount() != 0) set.put("bagCount", bagCount());
    outDType().ifPresent(value -> set.put("outDType", value));
    order().ifPresent(value -> set.put("order", value));
  }

  // End of the getters that ./dev generate writes.

  /**
   * Returns the dtype of the element that {@link Bounds#FILL} writes.
   *
   * @return the dtype, or empty if no element is set
   */
  public Optional<DType> fillDType() {
    return choice(Gth.Options.FILL_DTYPE, DType.values(), each -> each.number);
  }

  /**
   * Returns the bytes of the element that {@link Bounds#FILL} writes.
   *
   * @return the bytes in native byte order, or empty if no element is set
   */
  public Optional<byte[]> fillBytes() {
    return fillDType().map(dtype -> {
      long low = word(Gth.Options.FILL_VALUE);
      long high = word(Gth.Options.FILL_VALUE + 8);
      return Arrays.copyOf(Builder.bytes(16).putLong(low).putLong(high).array(), dtype.size());
    });
  }

  /**
   * Returns the context of the call.
   *
   * @return the context, or empty if it is not set
   */
  public Optional<Context> context() {
    return Optional.ofNullable(context);
  }

  /** Compares all values. Contexts are equal if they are the same object. */
  @Override
  public boolean equals(Object other) {
    return other instanceof Options options
        && Arrays.equals(words, options.words)
        && context == options.context;
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(words);
  }

  /** Returns the values that have been set, such as {@code Options{axis=1, bounds=CLAMP}}. */
  @Override
  public String toString() {
    Map<String, Object> set = new LinkedHashMap<>();
    addValues(set);
    fillBytes().ifPresent(image -> set.put("fillBytes", fillDType().get() + " " + HexFormat.of().formatHex(image)));
    context().ifPresent(value -> set.put("context", "given"));
    return "Options" + set;
  }

  /** A builder of options. A builder is not safe for use by several threads. */
  public static final class Builder {
    private final long[] words = new long[(int) Gth.Options.BYTES / 8];
    private Context context;
    private boolean isDefault = true;

    private Builder() {
      set(Gth.Options.SIZE, (int) Gth.Options.BYTES);
      isDefault = true;
    }

    private Builder set(long offset, int value) {
      int shift = (int) (8 * (offset % 8));
      int word = (int) (offset / 8);
      words[word] = (words[word] & ~(0xFFFFFFFFL << shift)) | ((value & 0xFFFFFFFFL) << shift);
      isDefault = false;
      return this;
    }

    private Builder setLong(long offset, long value) {
      words[(int) (offset / 8)] = value;
      isDefault = false;
      return this;
    }

    // Begin of the part that ./dev generate writes.

    /**
     * Sets the dim of params that indices select in. A negative axis counts from the end. The default is the number of
     * batch dims.
     *
     * @param axis the value
     * @return this builder
     */
    public Builder axis(long axis) {
      return set(Gth.Options.HAS_AXIS, 1).setLong(Gth.Options.AXIS, axis);
    }

    /**
     * Sets the number of leading dims that params and indices share. For {@link Gather#gather} a negative number counts
     * from the rank of indices. The default is 0.
     *
     * @param batchDims the value
     * @return this builder
     */
    public Builder batchDims(long batchDims) {
      return setLong(Gth.Options.BATCH_DIMS, batchDims);
    }

    /**
     * Sets the system whose results a call has in every edge case. Other options override its switches. The default is
     * no profile.
     *
     * @param profile the value
     * @return this builder
     */
    public Builder profile(Profile profile) {
      return set(Gth.Options.PROFILE, given(profile, "profile").number);
    }

    /**
     * Sets the ONNX version of {@link Profile#ONNX} and {@link Profile#ORT}. The default, 0, is the newest.
     *
     * @param opset the value
     * @return this builder
     */
    public Builder opset(int opset) {
      return set(Gth.Options.OPSET, opset);
    }

    /**
     * Sets the meaning of a negative index. The default is that of the profile, else {@link Negative#REJECT}.
     *
     * @param negative the value
     * @return this builder
     */
    public Builder negative(Negative negative) {
      return set(Gth.Options.NEGATIVE, given(negative, "negative").number);
    }

    /**
     * Sets the meaning of an index out of bounds. The default is that of the profile, else {@link Bounds#ERROR}.
     *
     * @param bounds the value
     * @return this builder
     */
    public Builder bounds(Bounds bounds) {
      return set(Gth.Options.BOUNDS, given(bounds, "bounds").number);
    }

    /**
     * Sets the value that {@link Bounds#FILL} and padding of gathers write. The default is that of the profile, else
     * {@link Fill#ZERO}.
     *
     * @param fill the value
     * @return this builder
     */
    public Builder fill(Fill fill) {
      return set(Gth.Options.FILL, given(fill, "fill").number);
    }

    /**
     * Sets the rule for the extents of params and indices of {@link Gather#gatherElements} and {@link
     * Gather#scatterElements} in the dims that are not the axis. The default is that of the profile, else {@link
     * Extents#EQUAL}.
     *
     * @param extents the value
     * @return this builder
     */
    public Builder extents(Extents extents) {
      return set(Gth.Options.EXTENTS, given(extents, "extents").number);
    }

    /**
     * Sets the way in which a scatter combines an update with the row that it selects. Other calls reject it. The
     * default is {@link Reduction#NONE}.
     *
     * @param reduction the value
     * @return this builder
     */
    public Builder reduction(Reduction reduction) {
      return set(Gth.Options.REDUCTION, given(reduction, "reduction").number);
    }

    /**
     * Sets the type in which scatters, gradients and bags add and multiply floating numbers. Other calls reject it. The
     * default is that of the profile, else {@link Accumulate#DTYPE}. For bags it is {@link Accumulate#FLOAT32}.
     *
     * @param accumulate the value
     * @return this builder
     */
    public Builder accumulate(Accumulate accumulate) {
      return set(Gth.Options.ACCUMULATE, given(accumulate, "accumulate").number);
    }

    /**
     * Sets the highest number of CPU threads of a call. The default, 0, is that of the context.
     *
     * @param threads the value
     * @return this builder
     */
    public Builder threads(int threads) {
      return set(Gth.Options.THREADS, threads);
    }

    /**
     * Sets the way in which the operand bags of gather_bags divides indices into bags. The default is {@link
     * BagFormat#OFFSETS} if there are bags, else {@link BagFormat#DENSE}.
     *
     * @param bagFormat the value
     * @return this builder
     */
    public Builder bagFormat(BagFormat bagFormat) {
      return set(Gth.Options.BAG_FORMAT, given(bagFormat, "bagFormat").number);
    }

    /**
     * Sets the way in which gather_bags makes one row of the rows of a bag. The default is {@link Pool#SUM}.
     *
     * @param pool the value
     * @return this builder
     */
    public Builder pool(Pool pool) {
      return set(Gth.Options.POOL, given(pool, "pool").number);
    }

    /**
     * Sets the row of a bag of gather_bags of which no id is read. The default is that of the profile, else {@link
     * Empty#ZERO}.
     *
     * @param empty the value
     * @return this builder
     */
    public Builder empty(Empty empty) {
      return set(Gth.Options.EMPTY, given(empty, "empty").number);
    }

    /**
     * Sets an index that selects nothing and causes no error, even out of bounds. A gather fills its row as the option
     * for fill values states, by default with zeros. A scatter drops its update. gather_bags does not count it. The
     * default is no index.
     *
     * @param paddingIndex the value
     * @return this builder
     */
    public Builder paddingIndex(long paddingIndex) {
      return set(Gth.Options.HAS_PADDING_INDEX, 1).setLong(Gth.Options.PADDING_INDEX, paddingIndex);
    }

    /**
     * Sets the value that the reduction of a row by a scatter begins with: the row of target, or the first update. The
     * default is {@link Initial#TARGET}.
     *
     * @param initial the value
     * @return this builder
     */
    public Builder initial(Initial initial) {
      return set(Gth.Options.INITIAL, given(initial, "initial").number);
    }

    /**
     * Sets the number of bags of gather_bags with {@link BagFormat#SEGMENTS}. The default is 0.
     *
     * @param bagCount the value
     * @return this builder
     */
    public Builder bagCount(long bagCount) {
      return setLong(Gth.Options.BAG_COUNT, bagCount);
    }

    /**
     * Sets the dtype of pooled rows: that of params, or float32 for float16 and bfloat16. The default is that of
     * params.
     *
     * @param outDType the value
     * @return this builder
     */
    public Builder outDType(DType outDType) {
      return set(Gth.Options.OUT_DTYPE, given(outDType, "outDType").number);
    }

    /**
     * Sets the order in which a scatter, a gradient or a gradient of bags on a CUDA device combines the updates of an
     * element. On the CPU it is always that of the updates. The default is {@link Order#UPDATES}.
     *
     * @param order the value
     * @return this builder
     */
    public Builder order(Order order) {
      return set(Gth.Options.ORDER, given(order, "order").number);
    }

    // End of the part that ./dev generate writes.

    /**
     * Sets the element that {@link Bounds#FILL} writes. Calls with params of another dtype throw a
     * {@link GatherArgumentException}.
     *
     * @param dtype the dtype of the element
     * @param image the bytes of the element in native byte order
     * @return this builder
     * @throws IllegalArgumentException if an element has more or fewer bytes
     */
    public Builder fillBytes(DType dtype, byte... image) {
      if (given(image, "image").length != given(dtype, "dtype").size()) {
        String message = "an element of " + dtype + " has " + dtype.size() + " bytes, not " + image.length;
        throw new IllegalArgumentException(message);
      }
      ByteBuffer words = bytes(16).put(image).rewind();
      return fill(Fill.VALUE)
          .set(Gth.Options.FILL_DTYPE, dtype.number)
          .setLong(Gth.Options.FILL_VALUE, words.getLong())
          .setLong(Gth.Options.FILL_VALUE + 8, words.getLong());
    }

    /**
     * Sets the element that {@link Bounds#FILL} writes to tensors of int8.
     *
     * @param value the element
     * @return this builder
     */
    public Builder fillValue(byte value) {
      return fillBytes(DType.INT8, bytes(1).put(value).array());
    }

    /**
     * Sets the element that {@link Bounds#FILL} writes to tensors of int16.
     *
     * @param value the element
     * @return this builder
     */
    public Builder fillValue(short value) {
      return fillBytes(DType.INT16, bytes(2).putShort(value).array());
    }

    /**
     * Sets the element that {@link Bounds#FILL} writes to tensors of int32.
     *
     * @param value the element
     * @return this builder
     */
    public Builder fillValue(int value) {
      return fillBytes(DType.INT32, bytes(4).putInt(value).array());
    }

    /**
     * Sets the element that {@link Bounds#FILL} writes to tensors of int64.
     *
     * @param value the element
     * @return this builder
     */
    public Builder fillValue(long value) {
      return fillBytes(DType.INT64, bytes(8).putLong(value).array());
    }

    /**
     * Sets the element that {@link Bounds#FILL} writes to tensors of float32.
     *
     * @param value the element
     * @return this builder
     */
    public Builder fillValue(float value) {
      return fillBytes(DType.FLOAT32, bytes(4).putFloat(value).array());
    }

    /**
     * Sets the element that {@link Bounds#FILL} writes to tensors of float64.
     *
     * @param value the element
     * @return this builder
     */
    public Builder fillValue(double value) {
      return fillBytes(DType.FLOAT64, bytes(8).putDouble(value).array());
    }

    private static ByteBuffer bytes(int size) {
      return ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
    }

    /**
     * Sets the context of the call.
     *
     * @param context the context
     * @return this builder
     */
    public Builder context(Context context) {
      this.context = context;
      return this;
    }

    /**
     * Returns the options.
     *
     * @return immutable options
     */
    public Options build() {
      return new Options(this);
    }
  }
}
