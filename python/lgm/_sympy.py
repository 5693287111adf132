"""Programs of expressions (``src/expressions.rs``) as SymPy expressions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import sympy

Place = Callable[[str, str], Any]

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "asin": sympy.asin,
    "acos": sympy.acos,
    "atan": sympy.atan,
    "atan2": sympy.atan2,
    "sinh": sympy.sinh,
    "cosh": sympy.cosh,
    "tanh": sympy.tanh,
    "asinh": sympy.asinh,
    "exp": sympy.exp,
    "log": sympy.log,
    "sqrt": sympy.sqrt,
    "abs": sympy.Abs,
    "sign": sympy.sign,
    "min": sympy.Min,
    "max": sympy.Max,
    "floor": sympy.floor,
    # The last argument of these three is the time. At the instant itself a step has its new value.
    "step": lambda at, time: sympy.Heaviside(time - at, 1),
    "pulse": lambda at, width, time: sympy.Heaviside(time - at, 1) - sympy.Heaviside(time - at - width, 1),
    "ramp": lambda at, time: sympy.Max(0, time - at),
}

_RELATIONS: dict[str, Callable[..., Any]] = {
    "<": sympy.Lt,
    "<=": sympy.Le,
    ">": sympy.Gt,
    ">=": sympy.Ge,
    "==": sympy.Eq,
    "!=": sympy.Ne,
    "and": sympy.And,
    "or": sympy.Or,
}


def symbol(name: str, kind: str) -> Any:
    """The symbol of a quantity, without assumptions."""
    return sympy.Symbol(name)


# Symbols count as conditions for SymPy; here they are numbers.
_CONDITIONS = (sympy.core.relational.Relational, sympy.logic.boolalg.BooleanFunction, sympy.logic.boolalg.BooleanAtom)


def _condition(value: Any) -> Any:
    return value if isinstance(value, _CONDITIONS) else sympy.Ne(value, 0)


def _number(value: Any) -> Any:
    """A condition as a factor: 1 where it holds, 0 elsewhere."""
    if isinstance(value, _CONDITIONS):
        return sympy.Piecewise((1, value), (0, True))
    return value


def run(program: str, place: Place = symbol) -> tuple[list[Any], Any]:
    """The expressions of a program, and what refers to them."""
    data = json.loads(program)
    done: list[Any] = []
    for node in data["nodes"]:
        kind, *parts = node
        if kind == "number":
            value = sympy.Rational(int(parts[0]), int(parts[1]))
        elif kind == "pi":
            value = sympy.pi
        elif kind == "symbol":
            value = place(parts[0], parts[1])
        elif kind == "sum":
            value = sympy.Add(*(_number(done[at]) for at in parts[0]))
        elif kind == "product":
            value = sympy.Mul(*(_number(done[at]) for at in parts[0]))
        elif kind == "power":
            value = sympy.Pow(_number(done[parts[0]]), _number(done[parts[1]]))
        elif kind == "call":
            if parts[0] not in _FUNCTIONS:
                raise ValueError(f"the function {parts[0]!r} has no expression in SymPy")
            value = _FUNCTIONS[parts[0]](*(_number(done[at]) for at in parts[1]))
        elif kind == "relation":
            word, left, right = parts
            read = _condition if word in ("and", "or") else _number
            value = _RELATIONS[word](read(done[left]), read(done[right]))
        elif kind == "not":
            value = sympy.Not(_condition(done[parts[0]]))
        else:
            condition, one, other = (done[at] for at in parts)
            value = sympy.Piecewise((_number(one), _condition(condition)), (_number(other), True))
        done.append(value)
    return [_number(value) for value in done], data["roots"]


def matrix(done: list[Any], root: dict[str, Any]) -> Any:
    """A matrix of a program."""
    rows, columns = root["shape"]
    entries = {(row, column): done[at] for row, column, at in root["entries"]}
    return sympy.ImmutableSparseMatrix(rows, columns, entries).as_immutable()


def equations(program: str, states: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[list[Any], list[Any]]:
    """The differential and algebraic equations of a model, and its outputs, over functions of the time ``t``."""
    t = sympy.Symbol("t")

    def place(name: str, kind: str) -> Any:
        if kind == "time":
            return t
        if kind == "parameter":
            return sympy.Symbol(name)
        if kind == "rate":
            return sympy.Derivative(sympy.Function(name[len("der(") : -1])(t), t)
        return sympy.Function(name)(t)

    done, roots = run(program, place)
    rates = [sympy.Derivative(sympy.Function(name)(t), t) for name in states]
    left = rates
    if roots["mass"] is not None:
        mass = matrix(done, roots["mass"])
        left = list(mass * sympy.Matrix(rates))
    found = [sympy.Eq(rate, done[at], evaluate=False) for rate, at in zip(left, roots["rates"], strict=True)]
    found += [sympy.Eq(done[at], 0, evaluate=False) for at in roots["residuals"]]
    results = [
        sympy.Eq(sympy.Function(name)(t), done[at], evaluate=False)
        for name, at in zip(outputs, roots["outputs"], strict=True)
    ]
    return found, results


def quotient(above: list[Any], below: list[Any]) -> Any:
    """A quotient of polynomials in ``s`` of their coefficients, the highest power first."""
    s = sympy.Symbol("s")
    sides = [
        sympy.Add(*(value * s**power for power, value in enumerate(reversed(side)))) for side in (above, below)
    ]
    return sympy.oo if sides[1] == 0 else sides[0] / sides[1]


#: A name of the language, with its entry and its parts.
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(\[[\d, ]+\])?(\.\w+(\[[\d, ]+\])?)*")


def parse(text: str) -> Any:
    """An expression of the JSON: sums, products and powers of numbers, parameters and functions of them."""
    names: dict[str, Any] = {}

    def place(match: re.Match[str]) -> str:
        name = match.group()
        is_call = text[match.end() : match.end() + 1] == "("
        short = f"q{len(names)}_"
        names[short] = _FUNCTIONS[name] if is_call else sympy.pi if name == "pi" else sympy.Symbol(name)
        return short

    return sympy.sympify(_NAME.sub(place, text).replace("^", "**"), locals=names, rational=True)


def ratio(data: dict[str, Any]) -> Any:
    """A quotient of the JSON, ``{"num", "den"}`` with texts or numbers."""
    sides = [
        [parse(value) if isinstance(value, str) else sympy.Float(value) for value in data[side]] for side in ("num", "den")
    ]
    return quotient(*sides)
