"""Models of files and texts."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import Diagnostic, diagnostics_of
from ._model import Model, with_values
from ._parts import Recipe

if TYPE_CHECKING:
    from ._signals import Value


def load(
    path: str | os.PathLike[str],
    *,
    model: str | None = None,
    include: Iterable[str | os.PathLike[str]] = (),
    states: str | None = None,
    retain: Iterable[str] = (),
    modes: Mapping[str, str] | None = None,
    pade: int | None = None,
    **parameters: Value,
) -> Model:
    """Read a file and form the equations of its model.

    Parameters
    ----------
    path : path
        The file, ``.lgm``.
    model : str, optional
        The name of the model; by default the last one of the file.
    include : iterable of path, optional
        Folders that imports are searched in.
    states : {"power", "energy"}, optional
        Power variables (across, through) or energy variables (p, q) for all storage.
    retain : iterable of str, optional
        Storage elements that keep their states if one of several must be dependent, the most wanted first.
    modes : mapping, optional
        Modes of switching elements, such as ``{"d1": "conducting"}``.
    pade : int, optional
        The order, 1 to 20, of Pade approximations of all delays, for analyses that need states.
    **parameters : float, array or str
        Values of parameters in SI units, or texts with a unit such as ``"3 [mm]"``. A ``const`` takes a number in the unit of its
        declaration. Parameters of instances are given as ``**{"motor.R_a": 1.2}``.

    Returns
    -------
    Model

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    CompileError
        If the text or a value has an error.

    Examples
    --------
    >>> import lgm, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "rc.lgm")
    >>> _ = path.write_text("model RC { node a : electrical; param R = 2 [ohm];"
    ...                     " c : Capacitor(1 [F]) a -> gnd; r : Resistor(R) a -> gnd; }")
    >>> lgm.load(path, R=5.0).parameters["R"]
    Quantity(name='R', unit='ohm', value=5.0)
    """
    options = _options(model, include, states, retain, modes, pade)
    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, "there is no such file; for the text of a model use lgm.loads", path)
    native = _native.Session.open(path, None, None, **options)
    recipe = Recipe(path, os.path.abspath(path), native.text(), options)
    return with_values(Model(native, recipe), parameters)


def loads(
    text: str,
    *,
    name: str = "<text>",
    model: str | None = None,
    include: Iterable[str | os.PathLike[str]] = (),
    states: str | None = None,
    retain: Iterable[str] = (),
    modes: Mapping[str, str] | None = None,
    pade: int | None = None,
    **parameters: Value,
) -> Model:
    """Form the equations of a model in a text; the other arguments are those of `load`.

    Parameters
    ----------
    text : str
        The text; imports are relative to the current folder.
    name : str, optional
        What error messages call the text.

    Returns
    -------
    Model

    Raises
    ------
    CompileError
        If the text or a value has an error.

    Examples
    --------
    >>> import lgm
    >>> lgm.loads("model M { node a : electrical; r : Resistor(2 [ohm]) a -> gnd; c : Capacitor(3 [F]) a -> gnd; }").states[0].unit
    'V'
    """
    options = _options(model, include, states, retain, modes, pade)
    native = _native.Session.open(name, text, None, **options)
    return with_values(Model(native, Recipe(name, None, text, options)), parameters)


def check(
    text: str | os.PathLike[str],
    *,
    model: str | None = None,
    include: Iterable[str | os.PathLike[str]] = (),
    verify: bool = False,
) -> list[Diagnostic]:
    """Check all models of a text, or one of them.

    Parameters
    ----------
    text : str or path
        The text; a `pathlib.Path` names a file.
    model : str, optional
        The only model to check.
    include : iterable of path, optional
        Folders that imports are searched in.
    verify : bool, optional
        Also compare the equations with the laws of the graph and the power balance at random values.

    Returns
    -------
    list of Diagnostic
        Errors, warnings and remarks in the order of the text; empty if nothing is wrong.

    Examples
    --------
    >>> import lgm
    >>> [str(found) for found in lgm.check("model M { node a : electrical; }")]
    ['<text>:1:16: error [LGM0312]: nothing is connected to the node `a`']
    """
    folders = [os.fspath(folder) for folder in include]
    if isinstance(text, os.PathLike):
        return diagnostics_of(_native.check(None, os.fspath(text), model, folders, verify))
    return diagnostics_of(_native.check(text, "<text>", model, folders, verify))


def _options(
    model: str | None,
    include: Iterable[str | os.PathLike[str]],
    states: str | None,
    retain: Iterable[str],
    modes: Mapping[str, str] | None,
    pade: int | None,
) -> dict[str, Any]:
    return {
        "model": model,
        "modes": [f"{element}={mode}" for element, mode in (modes or {}).items()],
        "include": [os.fspath(folder) for folder in include],
        "states": states,
        "retain": [retain] if isinstance(retain, str) else list(retain),
        "pade": pade,
    }
