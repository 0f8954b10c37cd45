package io.libgather;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Random calls in every form, with native memory, arrays and strides, have the outcome of loops over elements. */
class RandomTest {
  private static final int CASES = 20_000;

  /** A form of a call. */
  private enum Form {
    INTO,
    PLAN,
    OPEN_PLAN,
    NEW
  }

  @Test
  void randomCallsEqualLoops() {
    int[] runs = new int[Form.values().length];
    int failures = 0;
    for (int seed = 0; seed < CASES; seed++) {
      RandomCase test = RandomCase.of(seed);
      Form form = form(test);
      runs[form.ordinal()]++;
      failures += test.failure == null ? 0 : 1;
      try (Arena arena = Arena.ofConfined()) {
        run(test, form, arena);
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + ", " + form + ", " + test, e);
      }
    }
    System.out.printf("random: %d cases, %d of them errors, forms %s%n", CASES, failures, Arrays.toString(runs));
    assertTrue(failures > CASES / 20 && Arrays.stream(runs).allMatch(count -> count > CASES / 20));
  }

  private static Form form(RandomCase test) {
    Form form = Form.values()[test.random.nextInt(Form.values().length)];
    boolean planned = form == Form.PLAN || form == Form.OPEN_PLAN;
    boolean opens = !test.operation.name().contains("ELEMENTS") && test.tuples > 0;
    if (planned && Calls.isGradient(test.operation)) {
      return Form.INTO;
    }
    return planned && !opens ? Form.PLAN : form;
  }

  private static void run(RandomCase test, Form form, Arena arena) {
    Tensor[] operands = test.operands(arena, form == Form.OPEN_PLAN);
    int written = form == Form.NEW ? -1 : Calls.writesRows(test.operation) ? 2 : 0;
    byte[][] memory = new byte[3][];
    for (int i = 0; i < 3; i++) {
      memory[i] = operands[i].segment.toArray(ValueLayout.JAVA_BYTE);
    }
    GatherFailure failure = null;
    Tensor made = null;
    try {
      made = call(test, form, arena, operands);
    } catch (GatherIndexException e) {
      failure = e;
    }
    if (test.failure != null) {
      assertEquals(test.failure, failure == null ? null : failure.details());
    } else {
      assertNull(failure);
      compare(test, form, operands, made, written, memory);
    }
    for (int i = 0; i < 3; i++) {
      if (i != written || test.failure == null || !test.isPartial()) {
        assertArrayEquals(memory[i], operands[i].segment.toArray(ValueLayout.JAVA_BYTE), "memory of operand " + i);
      }
    }
  }

  /** Compares a new tensor, or writes the expected elements to the copy of the memory. */
  private static void compare(
      RandomCase test, Form form, Tensor[] operands, Tensor made, int written, byte[][] memory) {
    long[] expected = test.expected(form == Form.NEW);
    if (form != Form.NEW) {
      RandomCase.write(operands[written].over(MemorySegment.ofArray(memory[written])), expected);
      return;
    }
    long[] shape = Calls.writesRows(test.operation) ? test.rowsShape : test.shape;
    assertArrayEquals(shape, made.shape());
    Tensor wanted = Tensor.of(MemorySegment.ofArray(new byte[expected.length * test.dtype.size()]), test.dtype, shape);
    assertArrayEquals(RandomCase.write(wanted, expected).toByteArray(), made.toByteArray());
  }

  private static Tensor call(RandomCase test, Form form, Arena arena, Tensor[] operands) {
    Tensor table = operands[0];
    Tensor indices = operands[1];
    Tensor rows = operands[2];
    Options options = test.options().build();
    switch (form) {
      case INTO -> ConformanceTest.run(test.operation, table, indices, rows, options);
      case PLAN ->
          Plan.create(arena, test.operation, table, indices, rows, options)
              .run(table.segment, indices.segment, rows.segment);
      case OPEN_PLAN -> {
        long[] shape = test.indexShape.clone();
        int dim = test.batch + test.random.nextInt(test.tuples);
        shape[dim] = Plan.OPEN;
        Plan.create(arena, test.operation, table, Tensor.shaped(indices.dtype, shape), null, options)
            .run(test.indexShape[dim], table.segment, indices.segment, rows.segment);
      }
      case NEW -> {
        return Calls.writesRows(test.operation)
            ? Gather.make(arena, test.operation, table, indices, options)
            : ConformanceTest.made(test.operation, table, indices, rows, options);
      }
    }
    return null;
  }
}
