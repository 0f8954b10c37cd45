import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_void;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeModel;
import java.lang.classfile.MethodModel;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Makes the content of a multi-release jar: java MultiRelease.java CLASSES OUTPUT.
 *
 * <p>The classes move to META-INF/versions/22. The root has the same public classes for Java 17, in which each method
 * throws an UnsupportedOperationException.
 */
public final class MultiRelease {
  private static final String MESSAGE = "libgather needs Java 22 or newer, because it uses the Foreign Function API";
  private static final ClassDesc EXCEPTION = ClassDesc.of("java.lang.UnsupportedOperationException");

  private MultiRelease() {}

  public static void main(String[] arguments) throws IOException {
    Path classes = Path.of(arguments[0]);
    Path output = Path.of(arguments[1]);
    try (var files = Files.walk(classes)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path name = classes.relativize(file);
        copy(file, output.resolve("META-INF/versions/22").resolve(name));
        if (name.toString().endsWith(".class")) {
          ClassFile format = ClassFile.of(ClassFile.ConstantPoolSharingOption.NEW_POOL);
          ClassModel model = format.parse(file);
          Path stub = output.resolve(name);
          Files.createDirectories(stub.getParent());
          Files.write(stub, format.transformClass(model, stub()));
        }
      }
    }
  }

  private static void copy(Path file, Path target) throws IOException {
    Files.createDirectories(target.getParent());
    Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Returns a transform to Java 17 that replaces the code of methods, and removes initializers of classes. */
  private static ClassTransform stub() {
    return (builder, element) -> {
      switch (element) {
        case ClassFileVersion version -> builder.withVersion(ClassFile.JAVA_17_VERSION, 0);
        case MethodModel method when method.methodName().equalsString("<clinit>") -> {}
        case MethodModel method ->
            builder.transformMethod(
                method,
                (methodBuilder, part) -> {
                  if (part instanceof CodeModel) {
                    methodBuilder.withCode(
                        code ->
                            code.new_(EXCEPTION)
                                .dup()
                                .loadConstant(MESSAGE)
                                .invokespecial(EXCEPTION, "<init>", MethodTypeDesc.of(CD_void, CD_String))
                                .athrow());
                  } else {
                    methodBuilder.with(part);
                  }
                });
        default -> builder.with(element);
      }
    };
  }
}
