/**
 * Operations with the signatures and the results of TensorFlow's Java API, without TensorFlow. They run at once, as in
 * an eager session.
 *
 * <pre>{@code
 * try (EagerSession session = EagerSession.create()) {
 *   Scope scope = session.baseScope();
 *   Operand<TFloat32> params = Constant.tensorOf(scope, new float[][] {{0, 1}, {10, 11}});
 *   Operand<TInt32> indices = Constant.tensorOf(scope, new int[][] {{1, 0}});
 *   float element = GatherNd.create(scope, params, indices).output().asTensor().getFloat(0); // 10
 * }
 * }</pre>
 */
package io.libgather.tf;
