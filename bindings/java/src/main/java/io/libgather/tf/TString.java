package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import io.libgather.Strings;
import java.lang.foreign.Arena;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A tensor of strings, which are bytes. It is read as text in UTF-8, or in the charset of {@link #using}. */
public final class TString implements TType, NdArray<String> {
  final Strings strings;
  private final Charset charset;

  /** A copy of the strings, or null if none has been read. Threads may create it more than once. */
  private List<byte[]> bytes;

  TString(Strings strings) {
    this(strings, StandardCharsets.UTF_8);
  }

  private TString(Strings strings, Charset charset) {
    this.strings = strings;
    this.charset = charset;
  }

  /**
   * Creates a tensor.
   *
   * @param value an element
   * @return a tensor of rank 0
   */
  public static TString scalarOf(String value) {
    return tensorOf(NdArrays.scalarOfObject(value));
  }

  /**
   * Creates a tensor.
   *
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static TString vectorOf(String... values) {
    return tensorOf(NdArrays.vectorOfObjects(values));
  }

  /**
   * Creates a tensor of text in UTF-8.
   *
   * @param values the elements
   * @return a tensor of the shape of the elements
   */
  public static TString tensorOf(NdArray<String> values) {
    return tensorOf(StandardCharsets.UTF_8, values);
  }

  /**
   * Creates a tensor of text.
   *
   * @param charset the charset of the bytes
   * @param values the elements
   * @return a tensor of the shape of the elements
   */
  public static TString tensorOf(Charset charset, NdArray<String> values) {
    requireNonNull(charset, "charset is null");
    requireNonNull(values, "values is null");
    List<String> text = values instanceof TString other ? other.text() : ((Elements<String>) values).values;
    return of(
        text.stream().map(each -> requireNonNull(each, "a string is null").getBytes(charset)).toList(), values.shape());
  }

  /**
   * Creates a tensor of bytes.
   *
   * @param values the elements
   * @return a tensor of the shape of the elements
   */
  public static TString tensorOfBytes(NdArray<byte[]> values) {
    return of(((Elements<byte[]>) requireNonNull(values, "values is null")).values, values.shape());
  }

  static TString of(List<byte[]> values, Shape shape) {
    return new TString(Strings.of(Arena.ofAuto(), values, shape.asArray()));
  }

  /**
   * Returns these strings in another charset.
   *
   * @param charset the charset of the bytes
   * @return the same tensor
   */
  public TString using(Charset charset) {
    return new TString(strings, requireNonNull(charset, "charset is null"));
  }

  /**
   * Returns the bytes of the strings.
   *
   * @return the elements
   */
  public NdArray<byte[]> asBytes() {
    return new Elements<>(strings.shape(), bytes());
  }

  @Override
  public Shape shape() {
    return Shape.of(strings.shape());
  }

  @Override
  public String getObject(long... coordinates) {
    return new String(asBytes().getObject(coordinates), charset);
  }

  private List<String> text() {
    return bytes().stream().map(each -> new String(each, charset)).toList();
  }

  private List<byte[]> bytes() {
    List<byte[]> found = bytes;
    if (found == null) {
      found = strings.toBytes();
      bytes = found;
    }
    return found;
  }
}
