package io.libgather;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A conformance case. The README of tests/conformance defines the format. */
final class ConformanceCase {
  /** A tensor of a case. Tensors of strings have no bytes. */
  record Text(DType dtype, long[] shape, long offset, long[] strides, byte[] bytes, List<byte[]> strings) {}

  final String name;
  final Operation operation;
  final Options.Builder options = Options.builder();
  final String bounds;
  final boolean reduces;
  final Text table;
  final Text indices;
  final Text updates;

  /** The bags and the weights, or null if there are none. */
  final Text bags;

  final Text weights;

  /** The format of packed params and its changed fields, or null. */
  final String codec;

  /** The operands of the codec, or null if there are none. */
  final Text scales;

  final Text zeros;

  /** The outcome, or null if the call fails. */
  final Text wanted;

  /** The fields of the error, or null if the call succeeds. */
  final ErrorDetails failure;

  private ConformanceCase(Map<String, String> values) {
    name = values.get("case");
    operation = Operation.valueOf(upper(values.get("op")));
    bounds = values.getOrDefault("bounds", "");
    updates = optional(values.get("updates"));
    bags = optional(values.get("bags"));
    weights = optional(values.get("weights"));
    codec = values.get("codec");
    scales = optional(values.get("scales"));
    zeros = optional(values.get("zeros"));
    reduces = operation == Operation.GATHER_BAGS || !values.getOrDefault("reduction", "none").equals("none");
    table = text(values.get(updates == null ? "params" : "target"));
    indices = text(values.get("indices"));
    readOptions(values);
    String[] expected = values.get("expect").split(" ");
    boolean ok = expected[0].equals("ok");
    wanted = ok ? text(expected[1] + " " + expected[2] + " . " + expected[3]) : null;
    failure = ok ? null : failure(expected);
  }

  static List<ConformanceCase> read(Path file) throws IOException {
    List<ConformanceCase> cases = new ArrayList<>();
    Map<String, String> values = new LinkedHashMap<>();
    for (String line : (Files.readString(file) + "\n\n").split("\n", -1)) {
      if (line.startsWith("#")) {
        continue;
      }
      if (!line.isEmpty()) {
        String[] parts = line.split(" ", 2);
        values.put(parts[0], parts.length > 1 ? parts[1] : "");
      } else if (!values.isEmpty()) {
        cases.add(new ConformanceCase(values));
        values.clear();
      }
    }
    return cases;
  }

  private void readOptions(Map<String, String> values) {
    values.forEach(
        (key, value) -> {
          switch (key) {
            case "axis" -> options.axis(Long.parseLong(value));
            case "batch_dims" -> options.batchDims(Long.parseLong(value));
            case "opset" -> options.opset(Integer.parseInt(value));
            case "profile" -> options.profile(Profile.valueOf(upper(value)));
            case "negative" -> options.negative(Negative.valueOf(upper(value)));
            case "bounds" -> options.bounds(Bounds.valueOf(upper(value)));
            case "fill" -> options.fill(Fill.valueOf(upper(value)));
            case "fill_value" -> options.fillBytes(table.dtype(), HexFormat.of().parseHex(value));
            case "extents" -> options.extents(Extents.valueOf(upper(value)));
            case "reduction" -> options.reduction(Reduction.valueOf(upper(value)));
            case "initial" -> options.initial(Initial.valueOf(upper(value)));
            case "accumulate" -> options.accumulate(Accumulate.valueOf(upper(value)));
            case "bag_format" -> options.bagFormat(BagFormat.valueOf(upper(value)));
            case "bag_count" -> options.bagCount(Long.parseLong(value));
            case "pool" -> options.pool(Pool.valueOf(upper(value)));
            case "empty" -> options.empty(Empty.valueOf(upper(value)));
            case "padding_index" -> options.paddingIndex(Long.parseLong(value));
            default -> {}
          }
        });
  }

  private static String upper(String word) {
    return word.toUpperCase(Locale.ROOT);
  }

  private static ErrorDetails failure(String[] fields) {
    List<String> flags = List.of(fields[7].split(","));
    return new ErrorDetails(
        Status.valueOf(fields[1]),
        OperandName.valueOf(upper(fields[2])),
        Integer.parseInt(fields[3]),
        Long.parseLong(fields[4]),
        Long.parseLong(fields[5]),
        Long.parseLong(fields[6]),
        -1,
        flags.contains("wrap"),
        flags.contains("unsigned"),
        0);
  }

  private static Text optional(String fields) {
    return fields == null ? null : text(fields);
  }

  /** Reads the fields DTYPE SHAPE LAYOUT DATA. */
  private static Text text(String fields) {
    String[] parts = fields.split(" ");
    DType dtype = DType.valueOf(upper(parts[0]));
    long offset = 0;
    long[] strides = null;
    if (!parts[2].equals(".")) {
      String[] layout = parts[2].split(";");
      offset = Long.parseLong(layout[0].substring("offset=".length()));
      strides = numbers(layout[1].substring("strides=".length()));
    }
    boolean empty = parts[3].equals(".");
    if (dtype == DType.STRING) {
      List<byte[]> strings =
          empty
              ? List.of()
              : Arrays.stream(parts[3].split(","))
                  .map(text -> HexFormat.of().parseHex(text.equals("-") ? "" : text))
                  .toList();
      return new Text(dtype, numbers(parts[1]), offset, strides, null, strings);
    }
    byte[] bytes = empty ? new byte[0] : HexFormat.of().parseHex(parts[3]);
    return new Text(dtype, numbers(parts[1]), offset, strides, bytes, null);
  }

  private static long[] numbers(String list) {
    return list.equals(".") ? new long[0] : Arrays.stream(list.split(",")).mapToLong(Long::parseLong).toArray();
  }
}
