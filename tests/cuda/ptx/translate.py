"""translate.py PTX OUTPUT [SASS]: translates PTX to C++ for thread.hpp. The module has the name of the file of PTX.

Each kernel becomes a function that runs one thread up to its next barrier. The registers of a thread are in a frame. So
the thread continues after the barrier when it is called again. Stretches of instructions without a branch are numbered,
so that their machine instructions can be counted. SASS is the output of nvdisasm with --print-line-info-ptx. Without
SASS, nothing is counted. An unknown instruction ends the translation with an error.
"""

import collections
import pathlib
import re
import subprocess
import sys

WIDTHS = {"pred": "bool", "b8": "uint8_t", "b16": "uint16_t", "b32": "uint32_t", "b64": "uint64_t"}
WIDTHS |= {"f32": "uint32_t", "f64": "uint64_t"}  # a register has the bits of a floating number
FLOATS = {"f16": "Half", "f32": "float", "f64": "double"}  # in floats.hpp
FLOAT_FUNCTIONS = {"add": "sum", "mul": "product", "div": "quotient", "fma": "fused", "sqrt": "root"}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
OPERATORS = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
FUNCTIONS = {  # in thread.hpp
    "div": "divide",
    "rem": "remainder",
    "min": "smaller",
    "max": "larger",
    "shl": "shift_left",
    "shr": "shift_right",
}
ORDERS = ("relaxed", "release", "acq_rel")
WORDS = ("cs", "wb", "nc", "cta", "gpu", "sys", *ORDERS)  # do not change the place of an access
# These functions may load from memory twice, because no other thread writes that memory meanwhile.
LOADING_WEAKLY = (
    *("take_kernel", "lift_kernel", "combine_kernel", "combine_long_kernel", "line_kernel", "apply_update"),
    *("sum_lengths_kernel", "check_bags_kernel", "step_kernel", "won_kernel", "count_heads_kernel"),
    *("count_rows_kernel", "rank_kernel", "partition_kernel", "first_key", "shard_between"),
)
SPECIAL = {"%tid.x": "t.thread", "%ctaid.x": "t.block", "%nctaid.x": "t.blocks"}


def type_of(name):
    """Returns the C++ type of u32, s64, b16, .., and that of the bits of f32 and f64."""
    if name == "pred":
        return "bool"
    if not re.fullmatch("[bsu](8|16|32|64)|f(32|64)", name):
        raise ValueError(f"unknown type {name}")
    return ("int" if name[0] == "s" else "uint") + name[1:] + "_t"


class Function:
    """A kernel or a function, translated line by line."""

    def __init__(self, name, is_kernel, params, returns, module):
        self.name, self.is_kernel, self.params, self.returns = name, is_kernel, params, returns
        self.module = module
        self.loads_weakly = any(function in name for function in LOADING_WEAKLY)
        self.shared = module.shared
        self.line = 0  # of the statement
        self.stretches = module.stretches
        self.registers = []  # (type, name, count)
        self.scopes = [{}]
        self.scoped = 0
        self.locals = set()  # variables in local memory
        self.barriers = 0
        self.lines = []
        self.begin_stretch()

    def begin_stretch(self):
        if self.module.costs:
            self.emit(f"t.enter({len(self.stretches)});")
        self.stretches.append(0)

    def emit(self, text):
        self.lines.append(text)

    # ---- operands

    def register(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return "f." + scope[name]
        kind, number = re.fullmatch(r"%([a-z]+)(\d+)", name).groups()
        return f"f.{kind}[{number}]"

    def value(self, operand):
        if operand in SPECIAL:
            return SPECIAL[operand]
        if operand.startswith("%") or any(operand in scope for scope in self.scopes):
            return self.register(operand)
        if re.fullmatch(r"-?\d+|0[xX][0-9a-fA-F]+U?", operand):
            operand = operand.rstrip("U")
            return f"INT64_C({operand})" if operand != "-9223372036854775808" else "INT64_MIN"
        if match := re.fullmatch(r"0([fF][0-9a-fA-F]{8}|[dD][0-9a-fA-F]{16})", operand):
            return f"UINT64_C(0x{match[1][1:]})"
        if operand in self.shared:
            return f"UINT32_C({self.shared[operand]})"
        return f"address_of({self.memory(operand)})"

    def memory(self, name):
        """Returns the offset of a parameter."""
        if name in self.params:
            return f"t.arguments + {self.params[name]}" if self.is_kernel else f"argument{self.params[name]}"
        if re.fullmatch(r"(param|retval)\d+", name):
            return name
        if name in self.locals:
            return f"f.{name}"
        if name == "func_retval0" and self.returns:
            return "returned"
        raise ValueError(f"unknown name {name}")

    def address(self, operand):
        base, offset = re.fullmatch(r"\[([%$\w.]+)(?:\+(-?\d+))?\]", operand).groups()
        return f"{self.value(base)} + INT64_C({offset or 0})"

    # ---- instructions

    def instruction(self, text):
        guard, text = re.fullmatch(r"(?:@(!?%p\d+)\s+)?(.*)", text, re.S).groups()
        opcode, rest = re.fullmatch(r"(\S+)\s*(.*)", text, re.S).groups()
        operands = [o.strip() for o in re.findall(r"\s*(\{[^}]*\}|\[[^\]]*\]|[^,]+)", rest)]
        if guard:
            condition = "!" + self.register(guard[1:]) if guard[0] == "!" else self.register(guard)
            self.emit(f"if ({condition}) {{")
        self.stretches[-1] += self.module.costs[self.line]
        self.dispatch(opcode.split("."), operands)
        if guard:
            self.emit("}")
        if opcode.startswith("bra"):
            self.begin_stretch()

    def dispatch(self, opcode, operands):
        name = opcode[0]
        if name == "call":
            return self.call(" ".join(operands))
        if opcode[-1] in FLOATS and name in (*OPERATORS, *FUNCTIONS, *FLOAT_FUNCTIONS):
            return self.float_function(name, opcode[1:], operands)
        if name in OPERATORS:
            return self.operation(name, opcode[1:], operands)
        if name in FUNCTIONS:
            return self.function(name, opcode[1:], operands)
        method = getattr(self, "do_" + name, None)
        if method is None:
            raise ValueError(f"unknown instruction {'.'.join(opcode)}")
        return method(opcode[1:], operands)

    def assign(self, target, text):
        self.emit(f"{self.register(target)} = {text};")

    def do_bra(self, _, operands):
        self.emit(f"goto {operands[0].replace('$', '')};")

    def do_ret(self, _, __):
        self.emit("t.waits_for = Waits::none; return;" if self.is_kernel else "return;")

    @staticmethod
    def half_of(opcode):
        """Returns the bits of each half of b32 or b64."""
        return {"b32": 16, "b64": 32}[opcode[-1]]

    def do_mov(self, opcode, operands):
        target, source = operands
        if target.startswith("{"):
            low, high = self.members(target)
            half = self.half_of(opcode)
            self.assign(low, self.value(source))
            self.assign(high, f"{self.value(source)} >> {half}")
        elif source.startswith("{"):
            low, high = map(self.value, self.members(source))
            half = self.half_of(opcode)
            self.assign(target, f"uint{half}_t({low}) | uint64_t({high}) << {half}")
        else:
            self.assign(target, self.value(source))

    do_cvta = do_mov

    def operation(self, name, opcode, operands):
        kind = type_of(opcode[-1].replace("s", "u"))  # the same bits, and no overflow
        a, b = (f"{kind}({self.value(o)})" for o in operands[1:])
        self.assign(operands[0], f"{kind}({a} {OPERATORS[name]} {b})")

    def function(self, name, opcode, operands):
        kind = type_of(opcode[-1])
        self.assign(operands[0], f"{FUNCTIONS[name]}<{kind}>({self.value(operands[1])}, {self.value(operands[2])})")

    def do_not(self, opcode, operands):
        value = self.value(operands[1])
        self.assign(operands[0], f"!{value}" if opcode[-1] == "pred" else f"~{value}")

    def do_neg(self, opcode, operands):
        value = self.value(operands[1])
        self.assign(operands[0], f"negative<{FLOATS[opcode[-1]]}>({value})" if opcode[-1] in FLOATS else f"0 - {value}")

    def float_function(self, name, opcode, operands):
        *rounding, kind = opcode
        if rounding != ["rn"] or name not in FLOAT_FUNCTIONS:
            raise ValueError("unknown operation, or one that may be contracted")
        values = ", ".join(map(self.value, operands[1:]))
        self.assign(operands[0], f"{FLOAT_FUNCTIONS[name]}<{FLOATS[kind]}>({values})")

    def do_mul(self, opcode, operands):
        mode, kind = opcode
        helper = {"lo": "multiply_low", "hi": "multiply_high", "wide": "multiply_wide"}[mode]
        self.assign(operands[0], f"{helper}<{type_of(kind)}>({self.value(operands[1])}, {self.value(operands[2])})")

    def do_mad(self, opcode, operands):
        mode, kind = opcode
        helper = {"lo": "multiply_low", "wide": "multiply_wide"}[mode]
        product = f"{helper}<{type_of(kind)}>({self.value(operands[1])}, {self.value(operands[2])})"
        self.assign(operands[0], f"{product} + {self.value(operands[3])}")

    def do_shf(self, opcode, operands):
        helper = {"l wrap b32": "funnel_left", "l clamp b32": "funnel_left_clamped", "r wrap b32": "funnel_right"}
        low, high, by = map(self.value, operands[1:])
        self.assign(operands[0], f"{helper[' '.join(opcode)]}({low}, {high}, {by})")

    def do_bfe(self, opcode, operands):
        self.assign(operands[0], f"extract<{type_of(opcode[0])}>({', '.join(map(self.value, operands[1:]))})")

    def do_bfi(self, opcode, operands):
        self.assign(operands[0], f"insert<{type_of(opcode[0])}>({', '.join(map(self.value, operands[1:]))})")

    def do_setp(self, opcode, operands):
        comparison, kind = opcode
        if kind in FLOATS:
            return self.compare_floats(comparison, kind, operands)
        kind = type_of(kind)
        a, b = (f"{kind}({self.value(o)})" for o in operands[1:])
        return self.assign(operands[0], f"{a} {COMPARISONS[comparison]} {b}")

    def compare_floats(self, comparison, kind, operands):
        """Compares floating numbers. The result of an ordinary comparison with NaN is false, also that of ne."""
        a, b = (f"number<{FLOATS[kind]}>({self.value(o)})" for o in operands[1:])
        if comparison in ("nan", "num"):
            return self.assign(operands[0], f"{'!' if comparison == 'num' else ''}are_unordered({a}, {b})")
        if comparison == "ne":
            raise ValueError("unknown comparison")
        if comparison.endswith("u"):  # true with NaN
            return self.assign(operands[0], f"are_unordered({a}, {b}) || {a} {COMPARISONS[comparison[:-1]]} {b}")
        return self.assign(operands[0], f"{a} {COMPARISONS[comparison]} {b}")

    def do_selp(self, _, operands):
        target, a, b, condition = operands
        self.assign(target, f"{self.value(condition)} ? {self.value(a)} : {self.value(b)}")

    def do_prmt(self, opcode, operands):
        if opcode != ["b32"]:
            raise ValueError("unknown permutation")
        self.assign(operands[0], f"permute({', '.join(map(self.value, operands[1:]))})")

    def do_cvt(self, opcode, operands):
        if set(opcode) & set(FLOATS):
            return self.convert_float(opcode, operands)
        to, source = map(type_of, opcode)
        return self.assign(operands[0], f"{to}({source}({self.value(operands[1])}))")

    def convert_float(self, opcode, operands):
        """Converts to a floating number. Without a rounding, the result is exact."""
        *rounding, to, source = opcode
        if to not in FLOATS or rounding not in ([], ["rn"]):
            raise ValueError("unknown conversion")
        value = self.value(operands[1])
        value = f"number<{FLOATS[source]}>({value})" if source in FLOATS else f"{type_of(source)}({value})"
        self.assign(operands[0], f"converted<{FLOATS[to]}>({value})")

    # ---- memory

    @staticmethod
    def access(opcode):
        """Returns (space, count, type) of a load or a store."""
        words = [w for w in opcode if w not in WORDS]
        spaces = [w for w in words if w in ("global", "shared", "param", "local")]
        counts = [int(w[1:]) for w in words if re.fullmatch(r"v\d", w)]
        kinds = [w for w in words if re.fullmatch(r"[busf]\d+", w)]
        if len(spaces) + len(counts) + len(kinds) != len(words) or len(kinds) != 1:
            raise ValueError(f"unknown access {opcode}")
        return (spaces or ["generic"])[0], (counts or [1])[0], type_of(kinds[0])

    @staticmethod
    def order(space, opcode, usual="weak"):
        """Returns the last argument of an access to global memory."""
        said = [w for w in opcode if w in ORDERS]
        if space != "global":
            return ""
        if "release" in said and "sys" not in opcode:
            raise ValueError("the host does not see what is released to the device alone")
        return f", Order::{said[0] if said else usual}"

    @staticmethod
    def members(operand):
        return [o.strip() for o in operand.strip("{}").split(",")]

    def do_ld(self, opcode, operands):
        space, count, kind = self.access(opcode)
        targets = self.members(operands[0])
        assert len(targets) == count
        if space == "global" and not {"nc", "relaxed"} & set(opcode) and not self.loads_weakly:
            raise ValueError("a weak load, which may be done twice")
        where = f"{self.address(operands[1])}, sizeof({kind}) * {count}{self.order(space, opcode)}"
        self.emit(f"{{ const char* at = t.read_{space}({where});")
        for i, target in enumerate(targets):
            if target != "_":
                self.assign(target, f"loaded<{kind}>(at, {i})")
        self.emit("}")

    def do_st(self, opcode, operands):
        space, count, kind = self.access(opcode)
        sources = self.members(operands[1])
        assert len(sources) == count
        where = f"{self.address(operands[0])}, sizeof({kind}) * {count}{self.order(space, opcode)}"
        self.emit(f"{{ char* at = t.write_{space}({where});")
        for i, source in enumerate(sources):
            self.emit(f"store<{kind}>(at, {i}, {self.value(source)});")
        self.emit("}")

    def do_atom(self, opcode, operands):
        space, operation, *counts, kind = [w for w in opcode if w not in WORDS]
        if (operation, counts, kind) == ("add", ["v4"], "f32"):
            self.add_vector(space, opcode, operands)
            return
        if counts:
            raise ValueError(f"unknown vectors {opcode}")
        if operation == "cas":
            self.compare_and_swap(space, opcode, operands)
            return
        helper = {"add": "add", "min": "smaller", "max": "larger"}[operation]
        if kind in FLOATS:
            helper = {"add": "sum"}[operation]
        target, address, value = operands if len(operands) == 3 else ("_", *operands)
        given = f"{self.address(address)}, {self.value(value)}{self.order(space, opcode, 'relaxed')}"
        call = f"t.atomic_{helper}_{space}<{FLOATS.get(kind) or type_of(kind)}>({given})"
        self.assign(target, call) if target != "_" else self.emit(call + ";")
        return

    do_red = do_atom

    def add_vector(self, space, opcode, operands):
        """Adds the members of a vector, each atomically."""
        members = ", ".join(self.value(member) for member in self.members(operands[1]))
        given = f"{self.address(operands[0])}, {{{members}}}{self.order(space, opcode, 'relaxed')}"
        self.emit(f"t.atomic_sums_{space}<{FLOATS[opcode[-1]]}>({given});")

    def compare_and_swap(self, space, opcode, operands):
        address, before, after = self.address(operands[1]), *map(self.value, operands[2:])
        given = f"{address}, {before}, {after}{self.order(space, opcode, 'relaxed')}"
        self.assign(operands[0], f"t.compare_and_swap_{space}<{type_of(opcode[-1])}>({given})")

    def do_griddepcontrol(self, opcode, _):
        if opcode not in (["wait"], ["launch_dependents"]):
            raise ValueError(f"unknown control {opcode}")
        if opcode == ["wait"]:
            self.emit("t.wait_for_previous();")

    # ---- barriers and calls

    def wait(self, whom, brings):
        """Ends the run of the thread. Its next run starts here."""
        if not self.is_kernel:
            raise ValueError("a barrier in a function that is called")
        self.barriers += 1
        self.emit(f"t.waits_at = {self.barriers}; t.waits_for = Waits::{whom}; {brings} return;")
        self.emit(f"case {self.barriers}:;")

    def do_bar(self, opcode, operands):
        if opcode == ["sync"] and operands == ["0"]:
            return self.wait("block", "t.votes = false;")
        if opcode != ["red", "or", "pred"] or operands[1] != "0":
            raise ValueError(f"unknown barrier {opcode} {operands}")
        self.wait("block", f"t.votes = {self.value(operands[2])};")
        return self.assign(operands[0], "t.verdict")

    def do_shfl(self, opcode, operands):
        if opcode != ["sync", "idx", "b32"]:
            raise ValueError(f"unknown exchange {opcode} {operands}")
        offers, lane, segments, members = map(self.value, operands[1:])
        brings = f"t.offers = {offers}; t.asks = {lane}; t.segments = {segments}; t.members = {members};"
        self.wait("warp", brings)
        self.assign(operands[0].split("|")[0], "t.gets")

    def call(self, text):
        returned, name, arguments = re.fullmatch(r"(?:\((\w+)\)\s*)?([\w$]+)\s*(?:\(([^)]*)\))?", text).groups()
        passed = ["t"] + ([returned] if returned else []) + re.findall(r"\w+", arguments or "")
        self.emit(f"{name}({', '.join(passed)});")

    # ---- declarations

    def declare(self, text):
        if match := re.fullmatch(r"\.reg\s+\.(\w+)\s+%(\w+)<(\d+)>", text):
            self.registers.append((WIDTHS[match[1]], match[2], int(match[3])))
        elif match := re.fullmatch(r"\.reg\s+\.(\w+)\s+(%?\w+)", text):
            self.scoped += 1
            self.scopes[-1][match[2]] = f"scoped{self.scoped}"
            self.registers.append((WIDTHS[match[1]], f"scoped{self.scoped}", 0))
        elif match := re.fullmatch(r"\.param\s+\.b(\d+)\s+(\w+)", text):
            self.emit(f"alignas(16) char {match[2]}[{int(match[1]) // 8}];")
        elif match := re.fullmatch(r"\.local\s+\.align\s+\d+\s+\.b8\s+(\w+)\[(\d+)\]", text):
            self.locals.add(match[1])
            self.registers.append(("alignas(16) char", match[1], int(match[2])))
        elif match := re.fullmatch(r"\.param\s+\.align\s+\d+\s+\.b8\s+(\w+)\[(\d+)\]", text):
            self.emit(f"alignas(16) char {match[1]}[{match[2]}];")
        elif not text.startswith(".pragma"):
            raise ValueError(f"unknown declaration {text}")

    def statement(self, text):
        try:
            self.scope_or_step(text)
        except (ValueError, AssertionError) as reason:
            raise ValueError(f"{text}: {reason}") from reason

    def scope_or_step(self, text):
        if text == "{":
            self.scopes.append({})
            self.emit("{")
        elif text == "}":
            self.scopes.pop()
            self.emit("}")
        elif text.endswith(":"):
            self.emit(text.replace("$", "") + ";")
            self.begin_stretch()
        elif text.startswith("."):
            self.declare(text)
        else:
            self.instruction(text)

    # ---- as a whole

    def signature(self):
        if self.is_kernel:
            return f"void {self.name}(Thread& t)"
        passed = ["Thread& t"] + (["char* returned"] if self.returns else [])
        return f"void {self.name}({', '.join(passed + [f'char* argument{i}' for i in self.params.values()])})"

    def text(self):
        frame = "".join(f"{kind} {name}{f'[{count}]' if count else ''}; " for kind, name, count in self.registers)
        begin = "Frame& f = *reinterpret_cast<Frame*>(t.frame); switch (t.waits_at) { case 0:;"
        if not self.is_kernel:
            begin = "Frame f; {"
        lines = [self.signature() + " {", f"struct Frame {{ {frame}}};"]
        if self.is_kernel:
            lines.append("static_assert(sizeof(Frame) <= frame_bytes);")
        return "\n".join([*lines, begin, *self.lines, "}", "}"])


def statements(text, begin, end):
    """Yields the statements of a body with their lines: instructions and declarations without ';', labels, and
    braces."""
    pattern = re.compile(r"\s*(\{(?=\s)|\}(?!\s*,)|\$?\w+:|(?:[^;{}]|\{[^;{}]*\})+;)")
    line, seen = text.count("\n", 0, begin) + 1, begin
    for match in pattern.finditer(text, begin, end):
        line += text.count("\n", seen, match.start(1))
        seen = match.start(1)
        yield line, match[1].strip().rstrip(";").strip()


def parse_params(text, is_kernel):
    """Returns the offsets of a kernel's parameters, or the numbers of a function's."""
    params, offset = {}, 0
    pattern = r"\.param\s+(?:\.align\s+(\d+)\s+)?\.[busf](\d+)\s+(?:\.ptr\s+.*?)?(\w+)(?:\[(\d+)\])?\s*(?:,|$)"
    for number, match in enumerate(re.finditer(pattern, text.strip(), re.S)):
        size = int(match[2]) // 8
        align = int(match[1] or size)
        offset = (offset + align - 1) // align * align
        params[match[3]] = offset if is_kernel else number
        offset += size * int(match[4] or 1)
    return params


class Module:
    """The data that the functions of a file share."""

    def __init__(self, costs):
        self.shared = {}  # offsets of shared variables, by name
        self.shared_bytes = 0
        self.stretches = []  # number of machine instructions of each
        self.heads = []  # the first stretch of each function, and whether the function is a kernel
        self.costs = costs  # machine instructions of each line


def machine_instructions(sass):
    """Returns the number of machine instructions by PTX line. A function that several kernels contain counts once."""
    counts, section, line = collections.Counter(), "", 0
    for text in sass.splitlines():
        if text.lstrip().startswith(".section"):
            section = text
        elif match := re.match(r'\s*//## File "[^"]*", line (\d+)', text):
            line = int(match[1])
        elif re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+[^/\s]", text):
            counts[section, line] += not re.search(r"\sNOP\s*;", text)
    costs = collections.Counter()
    for (_, line), count in counts.items():
        costs[line] = max(costs[line], count)
    return costs


def translate(text, costs):
    text = re.sub(r"//[^\n]*", "", text)
    module, used = Module(costs), 0
    for match in re.finditer(r"\.shared\s+\.align\s+(\d+)\s+\.[bu](\d+)\s+([\w$]+)(?:\[(\d+)\])?;", text):
        align, size = int(match[1]), int(match[2]) // 8 * int(match[4] or 1)
        used = (used + align - 1) // align * align
        module.shared[match[3]] = used
        used += size
    module.shared_bytes = used
    text = re.sub(r"\.shared\s+\.align[^;]*;", lambda match: "\n" * match[0].count("\n"), text)
    head = r"\.(entry|func)\s+(?:\(([^)]*)\)\s*)?([\w$]+)\s*\(([^)]*)\)\s*(?:\.maxntid[^{]*|\.minnctapersm[^{]*)?"
    functions = []
    overlaps = "griddepcontrol.launch_dependents" in text
    for match in re.finditer(head + r"\{(.*?)\n\}", text, re.S):
        is_kernel = match[1] == "entry"
        if "copy_kernel" in match[3] and "griddepcontrol.wait" not in match[5] and overlaps:
            raise ValueError(f"{match[3]} does not wait for the kernel in front")
        if "atom.acq_rel" in match[5] and "st.release.sys" not in match[5]:
            raise ValueError(f"{match[3]} counts its blocks, and publishes nothing")
        module.heads.append((len(module.stretches), is_kernel))
        function = Function(match[3], is_kernel, parse_params(match[4], is_kernel), match[2], module)
        for function.line, statement in statements(text, *match.span(5)):
            function.statement(statement)
        functions.append(function)
    return functions, module


def readable(names):
    """Demangles names. nvcc uses the name of the file for the anonymous namespace. The usual name replaces it."""

    def rename(match):
        return "12_GLOBAL__N_1" + match[2][int(match[1]) :]

    given = "\n".join(re.sub(r"(\d+)(_GLOBAL__N_.*)", rename, name) for name in names)
    return subprocess.run(["c++filt"], input=given, check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    source, output, *sass = map(pathlib.Path, sys.argv[1:])
    functions, module = translate(source.read_text(), machine_instructions(sass[0].read_text() if sass else ""))
    kernels = [f for f in functions if f.is_kernel]
    if not kernels:
        raise ValueError("no kernels")
    lines = ['#include "thread.hpp"', "", "namespace ptx {", "namespace {"]
    lines += [f"static_assert({module.shared_bytes} <= shared_bytes);"]
    lines += [f"{f.signature()};" for f in functions if not f.is_kernel]
    lines += [f.text() for f in functions]
    lines += ["const Kernel kernels[] = {"]
    lines += [f'  {{"{n}", {k.name}}},' for n, k in zip(readable([k.name for k in kernels]), kernels)]
    lines += ["};"]
    lines += [f"const int stretches[] = {{{', '.join(map(str, module.stretches))}}};"]
    heads = ", ".join(f"{{{at}, {int(is_kernel)}}}" for at, is_kernel in module.heads)
    lines += [f"const Function functions[] = {{{heads}}};"]
    lines += ["}  // namespace"]
    sizes = f"kernels, {len(kernels)}, stretches, functions, {len(module.heads)}"
    lines += [f"extern const Module {source.stem} = {{{sizes}}};"]
    lines += ["}  // namespace ptx", ""]
    output.write_text("\n".join(lines))


main()
