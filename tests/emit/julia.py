"""Runs emitted Julia without Julia: translates the syntax tree of modules to Python and passes solves to SciPy.

`python julia.py MODULE.jl RTOL [STOP] ..` writes the rows of `simulate` to `MODULE.csv`, for each module. A syntax error ends the program.
"""

import re
import sys
from types import SimpleNamespace

import numpy as np
import tree_sitter
import tree_sitter_julia
from scipy.integrate import solve_ivp
from scipy.optimize import root

np.seterr(all="ignore")
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_julia.language()))
F, END = np.float64, object()


def text(node):
    return node.text.decode()


def name(word):
    word = word.replace("!", "")
    return {"nothing": "None", "true": "True", "false": "False", "end": "END"}.get(word, word + "_")


def parts(node):
    return [child for child in node.named_children if not child.type.endswith("comment")]


def arguments(node):
    """Positional and named arguments, also short ones behind a semicolon."""
    found, is_behind = [], False
    for child in node.children:
        if child.type == ";":
            is_behind = True
        elif child.is_named and not child.type.endswith("comment"):
            if child.type == "named_argument" or child.type == "assignment":
                key, value = parts(child)[0], parts(child)[-1]
                found.append(f"{text(key)}_={expression(value)}")
            elif is_behind and child.type == "identifier":
                found.append(f"{text(child)}_={text(child)}_")
            else:
                found.append(expression(child))
    return ", ".join(found)


def index(node):
    return f"({''.join(expression(part) + ', ' for part in parts(node))})"


def expression(node):
    kind, own = node.type, parts(node)
    if kind in ("identifier", "boolean_literal", "end"):
        return name(text(node))
    if kind in ("integer_literal", "float_literal"):
        return text(node) if kind[0] == "i" else f"F({text(node)})"
    if kind == "string_literal":
        return repr(text(node).strip('"'))
    if kind == "operator":
        return "ALL" if text(node) == ":" else {"!": "not_", "-": "np.negative"}[text(node)]
    if kind == "parenthesized_expression":
        return f"({expression(own[0])})"
    if kind in ("tuple_expression", "open_tuple"):
        return f"({''.join(expression(part) + ', ' for part in own)})"
    if kind == "field_expression":
        return f"{expression(own[0])}.{text(own[1])}_"
    if kind == "index_expression" and text(own[0]) in ("Float64", "Int"):
        return f"list({expression(own[1])})"
    if kind == "index_expression" and len(parts(own[1])) == 1 and parts(own[1])[0].type == "integer_literal":
        return f"{expression(own[0])}[{int(text(parts(own[1])[0])) - 1}]"
    if kind == "index_expression":
        return f"at({expression(own[0])}, {index(own[1])})"
    if kind == "range_expression":
        return f"span({', '.join(map(expression, own))})"
    if kind == "vector_expression":
        return f"vector([{', '.join(map(expression, own))}])"
    if kind == "matrix_expression":
        if re.fullmatch(r"[-\d.eNaIf\s;\[\]]+", text(node)):  # the parser reads `[1 -2]` as a difference, unlike Julia
            rows = [row.split() for row in text(node).strip("[]").split(";")]
            return f"np.array([{', '.join('[' + ', '.join(row) + ']' for row in rows)}], float)".replace("NaN", "np.nan")
        rows = [f"[{', '.join(map(expression, parts(row)))}]" for row in own if row.type == "matrix_row"]
        is_column = all(len(parts(row)) == 1 for row in own)
        return f"{'column' if is_column and ';;' not in text(node) else 'matrix'}([{', '.join(rows)}])"
    if kind == "comprehension_expression":
        clauses = "".join(clause(part) for part in own[1:])
        return f"vector([{expression(own[0])}{clauses}])"
    if kind == "splat_expression":
        return f"*{expression(own[0])}"
    if kind == "unary_expression":
        word = {"!": "not_", "-": "-", "+": "+"}[text(own[0])]
        return f"{word}({expression(own[1])})"
    if kind == "ternary_expression":
        return f"({expression(own[1])} if {expression(own[0])} else {expression(own[2])})"
    if kind == "arrow_function_expression":
        return f"(lambda {heads(own[0])}: {expression(own[1])})"
    if kind == "binary_expression":
        left, word, right = own
        a, word, b = expression(left), text(word).removeprefix("."), expression(right)
        if word in ("*", "\\"):
            return f"{'times' if word == '*' else 'solved'}({a}, {b})"
        if word == "^":
            return f"{a}**{b}"
        return f"{a} {({'&&': 'and', '||': 'or', '===': 'is', '!==': 'is not'}).get(word, word)} {b}"
    if kind == "call_expression":
        return f"{expression(own[0])}({arguments(own[1])})"
    if kind == "broadcast_call_expression":
        return f"each({expression(own[0])}, {arguments(own[1])})"
    raise ValueError(f"{kind}: {text(node)}")


def clause(node):
    if node.type == "for_clause":
        return "".join(f" for {expression(parts(each)[0])} in {expression(parts(each)[-1])}" for each in parts(node))
    return f" if {expression(parts(node)[0])}"


def heads(node):
    """The arguments of a definition."""
    if node.type == "identifier":
        return "*_" if text(node) == "_" else name(text(node))
    return arguments(node).replace("__,", "_1,") if node.type == "argument_list" else ", ".join(map(expression, parts(node)))


def assigned(node):
    """The names that a function assigns, without those of functions in it."""
    found = set()
    for child in parts(node):
        if child.type in ("assignment", "compound_assignment_expression"):
            target = parts(child)[0]
            if target.type in ("open_tuple", "tuple_expression"):
                found |= {text(part) for part in parts(target)}
            elif target.type == "identifier":
                found.add(text(target))
        if child.type not in ("function_definition", "for_binding"):
            found |= assigned(child)
    return found


def function(head, body, outer, indent):
    """A definition. Names of the function around it are not local, unless they are arguments."""
    title, given = parts(head)
    named = [parts(part) for part in parts(given) if part.type == "named_argument"]
    own = {text(part) for part in parts(given) if part.type == "identifier"} | {text(part[0]) for part in named}
    names = assigned(SimpleNamespace(named_children=body))
    shared = (names & outer) - own
    lines = [f"{indent}def {expression(title)}({', '.join(default(part) for part in parts(given))}):"]
    if shared:
        lines.append(f"{indent}    nonlocal {', '.join(name(word) for word in sorted(shared))}")
    for part in named:
        lines.append(f"{indent}    {text(part[0])}_ = {expression(part[-1])} if {text(part[0])}_ is None else {text(part[0])}_")
    return lines + block(body, (names - shared) | own, indent + "    ")


def default(node):
    """An argument; defaults, which may contain earlier arguments, are computed in the function."""
    return f"{text(parts(node)[0])}_=None" if node.type == "named_argument" else expression(node)


def block(nodes, outer, indent):
    lines = [line for node in nodes for line in statement(node, outer, indent)]
    return lines or [f"{indent}pass"]


def statement(node, outer, indent):
    kind, own = node.type, parts(node)
    if kind in ("string_literal", "using_statement", "line_comment"):
        return []
    if kind == "const_statement":
        return statement(own[0], outer, indent)
    if kind == "module_definition":
        return block(own[1:], set(), indent)
    if kind == "macrocall_expression":
        inner = parts(own[-1])
        return structure(inner[0]) if inner and inner[0].type == "struct_definition" else block(inner, outer, indent)
    if kind == "function_definition":
        return function(parts(own[0])[0], own[1:], outer, indent)
    if kind == "assignment":
        target, value = own[0], own[-1]
        if target.type == "call_expression":
            body = [f"{indent}    return {expression(value)}"]
            return [f"{indent}def {expression(parts(target)[0])}({heads(parts(target)[1])}):"] + body
        if target.type == "index_expression":
            array, places = parts(target)
            return [f"{indent}put({expression(array)}, {index(places)}, {expression(value)})"]
        if value.type == "call_expression" and parts(value)[-1].type == "do_clause":
            of, given, clause_of = parts(value)
            lines = [f"{indent}def each_({heads(parts(clause_of)[0])}):"] + block(parts(clause_of)[1:], outer, indent + "    ")
            return lines + [f"{indent}{expression(target)} = list({expression(of)}(each_, {arguments(given)}))"]
        return [f"{indent}{expression(target)} = {expression(value)}"]
    if kind == "compound_assignment_expression":
        target, word, value = own
        array, places = parts(target) if target.type == "index_expression" else (target, None)
        assert text(word) == ".=", text(node)
        return [f"{indent}put({expression(array)}, {index(places) if places else '(ALL,)'}, {expression(value)})"]
    if kind == "return_statement":
        return [f"{indent}return {', '.join(map(expression, own))}"]
    if kind in ("continue_statement", "break_statement"):
        return [f"{indent}{text(node)}"]
    if kind == "if_statement":
        lines, body = [f"{indent}if {expression(own[0])}:"], [part for part in own[1:] if "clause" not in part.type]
        lines += block(body, outer, indent + "    ")
        for part in own[1:]:
            if part.type == "else_clause":
                lines += [f"{indent}else:"] + block(parts(part), outer, indent + "    ")
        return lines
    if kind in ("for_statement", "while_statement"):
        bindings = [part for part in own if part.type == "for_binding"]
        if not bindings:
            return [f"{indent}while {expression(own[0])}:"] + block(own[1:], outer, indent + "    ")
        loops = "".join(f" for {expression(parts(each)[0])} in {expression(parts(each)[-1])}" for each in bindings)
        targets = "".join(expression(parts(each)[0]) + ", " for each in bindings)
        body = block(own[len(bindings):], outer, indent + "    ")
        return [f"{indent}for {targets} in [({targets}){loops}]:"] + body
    if kind == "try_statement":
        body, caught = [part for part in own if part.type != "catch_clause"], own[-1]
        lines = [f"{indent}try:"] + block(body, outer, indent + "    ") + [f"{indent}except ArithmeticError as fault_:"]
        return lines + block(parts(caught), outer, indent + "    ")
    if kind == "binary_expression" and text(own[1]) in ("&&", "||"):
        sense = "" if text(own[1]) == "&&" else "not "
        return [f"{indent}if {sense}({expression(own[0])}):"] + statement(own[2], outer, indent + "    ")
    return [f"{indent}{expression(node)}"]


def structure(node):
    """A struct with defaults and perhaps a constructor, as a class."""
    fields, maker = [], []
    for part in parts(node):
        if part.type == "assignment":
            fields.append((text(parts(parts(part)[0])[0]), expression(parts(part)[-1])))
        elif part.type == "function_definition":
            body = [each for each in parts(part)[2:] if each.type != "return_statement"]
            maker = block(body, set(), "        ")
    lines = ["class Parameters_:", f"    fields = {[key + '_' for key, _ in fields]}", "    def __init__(p_, **changes):"]
    lines += [f"        p_.{key}_ = changes.get({key!r}, {value})" for key, value in fields] or ["        pass"]
    return lines + maker


def column(rows):
    return vector([entry for [part] in rows for entry in (part if np.ndim(part) else [part])])


def matrix(rows):
    if isinstance(rows[0][0], float):
        return np.array(rows)
    if np.ndim(rows[0][0]) == 2:
        return rows[0][0]
    return np.array(rows, dtype=float).reshape(len(rows), -1) if np.ndim(rows[0][0]) == 0 else np.array(rows[0][0])[:, None]


def vector(values):
    is_plain = all(isinstance(value, (int, float, np.number, bool)) for value in values)
    return np.array(values, dtype=bool if values and all(isinstance(v, bool) for v in values) else float) if is_plain else values


class Span:
    def __init__(self, first, last):
        self.first, self.last = first, last

    def __iter__(self):
        return iter(range(self.first, self.last + 1))


def places(array, where):
    """Indices from 1 as those of Python."""
    found = []
    for axis, place in enumerate(where):
        size = np.shape(array)[axis] if isinstance(array, np.ndarray) else len(array)
        if isinstance(place, Span):
            last = size + (place.last if place.last <= 0 else place.last - size)
            assert place.first >= 1 and last <= size
            found.append(slice(place.first - 1, last))
        elif place is ALL:
            found.append(slice(None))
        elif isinstance(place, (np.ndarray, list)):
            assert np.asarray(place).dtype == bool
            found.append(np.asarray(place))
        else:
            place = size if place is END else int(place)
            assert 1 <= place <= size, (place, size)
            found.append(place - 1)
    return tuple(found)


class End(int):
    """`end`, and `end - 1`, as distances from the end."""

    def __sub__(self, other):
        return End(int(self) - other)


END, ALL = End(0), object()


def at(array, where):
    if len(where) == 1 and type(where[0]) is int and where[0] > 0:
        return array[where[0] - 1]
    found = places(array, where)
    return array[found] if isinstance(array, np.ndarray) else array[found[0]]


def put(array, where, value):
    if len(where) == 1 and type(where[0]) is int and where[0] > 0:
        array[where[0] - 1] = value
        return
    found = places(array, where)
    if isinstance(array, list):
        rows = np.flatnonzero(found[0])
        value = list(value) * (len(rows) if len(value) == 1 else 1)
        assert len(rows) == len(value)
        for row, entry in zip(rows, value):
            array[row] = entry
    else:
        array[found] = value


def times(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return a*b
    return a @ b if np.ndim(a) == 2 and np.ndim(b) > 0 else a*b


def each(of, *values):
    if any(isinstance(value, list) for value in values):
        return vector([of(*(value[k] if isinstance(value, list) else value for value in values)) for k in range(len(values[-1]))])
    return np.where(*values) if of is WORDS["ifelse_"] else np.asarray([of(value, *values[1:]) for value in values[0]])


def sparse(rows, columns, entries, height, width):
    made = np.zeros((height, width))
    np.add.at(made, (np.asarray(rows, int) - 1, np.asarray(columns, int) - 1), entries)
    return made


def error(message):
    raise ArithmeticError(message)


def rethrow():
    raise


def problem(f, x, span=None, p=None):
    return SimpleNamespace(f=f, x=np.array(x, dtype=float), span=span, p=p)


def solve(what, method, abstol_, reltol_=None, dt_=None, saveat_=None, callback_=None, dtmax_=np.inf, maxiters_=None, force_dtmin_=False):
    f = what.f
    if what.span is None:
        kind = {"Newton": "hybr", "Trust": "hybr", "Levenberg": "lm"}[method]
        return SimpleNamespace(u_=root(lambda z: (f.f(z, None), f.jac(z, None)), what.x, method=kind, jac=True, tol=1e-12).x)
    (begin, end), x, p = what.span, what.x, what.p
    options = dict(method=method, rtol=max(reltol_, 3e-14), atol=abstol_, max_step=dtmax_, dense_output=True)
    if f.jac and method == "Radau":
        options["jac"] = lambda t, x: f.jac(x, p, t)
    t, u = [], []
    while begin < end:
        events = []
        for number in range(callback_.count if callback_ else 0):
            def event(t, x, number=number, side=None):
                out = np.zeros(callback_.count)
                callback_.margins(out, x, t, None)
                return out[number]

            side = np.copysign(5e-324, event(begin, x))
            watched = lambda t, x, event=event, side=side: event(t, x) or side
            watched.terminal = True
            events.append(watched)
        found = solve_ivp(lambda t, x: f.f(x, p, t), (begin, end), x, events=events or None, first_step=min(dt_, end - begin), **options)
        rows = [time for time in saveat_ if begin <= time < found.t[-1] or time == found.t[-1] == end]
        t, u = t + rows, u + [found.sol(time) for time in rows]
        begin, x = found.t[-1], found.y[:, -1]
        if found.status != 1 and not (found.status < 0 and force_dtmin_):
            break
        behind = min(begin + 1e-12*(end - begin), np.nextafter(end, begin))
        begin, x = behind, x + (behind - begin)*f.f(x, p, behind)
    return SimpleNamespace(t_=vector(t), u_=u, retcode_=None)


def domain(of, holds):
    return lambda a: of(a) if holds(a) else np.nan


def nan_or(of):
    return lambda a, b: np.nan if np.isnan(a) or np.isnan(b) else of(a, b)


def maximum(first, values=None, init_=-np.inf):
    found = [np.max(np.abs(first if values is None else values)) if len(first if values is None else values) else init_]
    return found[0]


def function_(f, jac_=None):
    return SimpleNamespace(f=f, jac=jac_)


WORDS = {
    "ifelse": lambda c, a, b: a if c else b, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "sqrt": np.sqrt,
    "log": np.log, "asin": np.arcsin, "acos": np.arccos, "sin": np.sin, "cos": np.cos, "tan": np.tan, "exp": np.exp, "expm1": np.expm1,
    "floor": np.floor, "sign": np.sign, "abs": abs, "min": nan_or(min), "max": nan_or(max), "trunc": np.trunc, "Int": int,
    "atan": lambda a, b=None: np.arctan(a) if b is None else np.arctan2(a, b), "NaN": np.nan, "Inf": np.inf, "pi": np.pi,
    "isinf": np.isinf, "isnan": np.isnan, "iszero": lambda a: a == 0, "isfinite": np.isfinite, "oftype": lambda a, b: b,
    "zeros": lambda *size: np.zeros([part for part in size if part is not float]), "eltype": lambda x: float, "zero": np.zeros_like,
    "collect": np.array, "range": lambda a, b, length_: np.linspace(a, b, length_), "length": len, "fill": lambda x, n: [x]*n,
    "sort": np.sort, "unique": np.unique, "zip": zip, "prevfloat": lambda a: np.nextafter(a, -np.inf), "map": map,
    "filter": lambda of, values: vector([value for value in values if of(value)]), "vec": np.ravel, "permutedims": np.transpose,
    "nextfloat": lambda a, n: a + n*np.spacing(a), "stack": lambda values, dims_: np.array(values), "pinv": np.linalg.pinv, "Matrix": np.asarray,
    "isequal": lambda a, b: np.array_equal(a, b, equal_nan=True), "diff": lambda values: list(np.diff(np.array(values), axis=0)),
    "all": lambda of, values=None: all(of if values is None else map(of, np.ravel(values))),
    "any": lambda of, values: any(map(of, np.ravel(values))),
    "copyto!": lambda out, values: out.__setitem__(slice(None), values), "push!": lambda values, value: values.append(value), "sparse": sparse, "error": error, "rethrow": rethrow, "maximum": maximum,
    "isapprox": lambda a, b, rtol_: np.linalg.norm(a - b) <= rtol_*max(np.linalg.norm(a), np.linalg.norm(b)),
    "vcat": None, "reduce": lambda of, lists: np.concatenate(lists), "reshape": lambda a, n, _: np.reshape(a, (-1, n)).T,
    "getfield": getattr, "fieldnames": lambda kind: kind.fields, "Vern7": lambda: "DOP853", "FBDF": lambda autodiff_=None: "Radau", "AutoFiniteDiff": lambda: None,
    "NewtonRaphson": lambda: "Newton", "TrustRegion": lambda: "Trust", "LevenbergMarquardt": lambda: "Levenberg",
    "ODEProblem": problem, "NonlinearProblem": problem, "ODEFunction": function_, "NonlinearFunction": function_, "solve": solve,
    "SciMLBase": SimpleNamespace(RightRootFind_=None),
    "VectorContinuousCallback": lambda margins, _, count, **rest: SimpleNamespace(margins=margins, count=count),
}
WORDS = {key.replace("!", "") + "_": value for key, value in WORDS.items()}


def main(path, rtol, stop=None):
    # The parser reads `2*(a)` as a call of `*`, and `-(a)^2` as a square, unlike Julia.
    source = re.sub(rb"(\d)([*/^])\(", rb"\1 \2 (", open(path, "rb").read())
    root_node = PARSER.parse(source.replace(b"-(", b"- (")).root_node
    pending = [root_node]
    while pending:
        node = pending.pop()
        assert node.type != "ERROR" and not node.is_missing, (path, node.start_point, node.text[:200])
        pending.extend(node.children)
    [module] = [node for node in root_node.named_children if node.type == "module_definition"]
    body = [node for node in parts(module)[1:] if node.type != "if_statement"]
    lines = block(body, set(), "")
    source = "\n".join(lines)
    words = {**globals(), **WORDS, "not_": lambda a: (lambda v: not a(v)) if callable(a) else not a, "span": Span, "solved": np.linalg.solve}
    exec(compile(source, path, "exec"), words)
    options = {"stop_": F(stop)} if stop else {}
    rows, values, states = words["simulate_"](reltol_=float(rtol), **options)
    source = text(module)
    header = re.search(r'println\("(time.*)"\)', source)[1].replace('\\"', '"')
    columns = re.search(r"states\[row, (.*?)\]\]", source)[1].replace("Int", "")
    columns = [int(number) - 1 for number in re.findall(r"\d+", columns)]
    table = np.column_stack([rows, values, states[:, columns]])
    np.savetxt(path.replace(".jl", ".csv"), table, "%.17g", ",", header=header, comments="")


if __name__ == "__main__":
    for task in sys.argv[1:]:
        main(*task.split(","))
