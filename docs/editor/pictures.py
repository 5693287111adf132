#!/usr/bin/env python3
"""Draws the pictures of docs/editor.md from what the server answers: python3 docs/editor/pictures.py target/release/lgm

Each picture is a text in an editor's window with what `lgm lsp` says of it: squiggles, hints, a hover, a menu. Needs nothing but Python.
"""

import html
import json
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
URI = "file:///work/model.lgm"
WIDE, HIGH, LEFT, TOP = 8.43, 21, 46, 34
COLOURS = {"comment": "#6a737d", "word": "#a626a4", "kind": "#986801", "number": "#0b7285", "name": "#24292e"}
WORDS = "import model component element domain node param input output signal state const port for if then else experiment"
TOKENS = re.compile(r"//.*|[A-Za-z_]\w*|\d[\d.e]*|\[[^\]]*\]|\s+|.")


class Server:
    """The language server, as far as the pictures need it."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.send({"method": "initialized", "params": {}})

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()

    def read(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        while (message := self.read()).get("id") != self.last or "method" in message:
            pass
        return message["result"]

    def open(self, text):
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": {"uri": URI, "languageId": "lgm", "version": 1, "text": text}}})
        while (message := self.read()).get("method") != "textDocument/publishDiagnostics":
            pass
        return message["params"]["diagnostics"]

    def close(self):
        self.send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": URI}}})
        while self.read().get("method") != "textDocument/publishDiagnostics":
            pass


def write(x, y, text, colour, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" xml:space="preserve" {extra}>{html.escape(text)}</text>'


def code(line, y, inlays):
    """A line of the text with its hints, and where each column came to lie."""
    parts, places, x, column = [], [], LEFT, 0

    def hints(column, x):
        for label in (label for at, label in inlays if at == column):
            wide = (len(label) + 2) * WIDE * 0.86
            parts.append(f'<rect x="{x + 3:.1f}" y="{y - 14}" width="{wide:.1f}" height="18" rx="4" fill="#eef2f6"/>')
            parts.append(write(x + 9, y, label, "#6b7a89", 'font-size="12"'))
            x += wide + 5
        return x

    for token in TOKENS.findall(line):
        colour = "name"
        if token.startswith("//"):
            colour = "comment"
        elif token[0].isdigit() or token.startswith("["):
            colour = "number"
        elif token in WORDS.split():
            colour = "word"
        elif token[0].isupper():
            colour = "kind"
        for letter in token:
            x = hints(column, x)
            places.append(x)
            if not letter.isspace():
                parts.append(write(x, y, letter, COLOURS[colour]))
            x, column = x + WIDE, column + 1
    places.append(hints(column, x))
    return parts, places


def wrapped(text, most):
    lines = []
    for line in text.split("\n"):
        while len(line) > most:
            at = line.rfind(" ", 0, most)
            at = at if at > 0 else most
            lines.append(line[:at])
            line = "    " + line[at:].lstrip()
        lines.append(line)
    return lines


def box(x, y, lines, fill="#fbfbfd", marked=None):
    wide = max(len(line) for line in lines) * 7.25 + 24
    high = len(lines) * 18 + 14
    parts = [f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high}" rx="5" fill="{fill}" stroke="#b8c0cc"/>']
    for number, line in enumerate(lines):
        if number == marked:
            parts.append(f'<rect x="{x + 3:.1f}" y="{y + 6 + number * 18:.1f}" width="{wide - 6:.1f}" height="18" rx="3" fill="#dbe9ff"/>')
        parts.append(write(x + 12, y + 20 + number * 18, line, "#24292e", 'font-size="12"'))
    return parts, x + wide, y + high


def picture(name, text, problems=(), inlays=(), popup=None, marked=None, at=None, message=False):
    parts, right, lines, bottom = [], 0, text.rstrip("\n").split("\n"), 0
    places = {}
    for number, line in enumerate(lines):
        y = TOP + 22 + number * HIGH
        parts.append(write(14, y, f"{number + 1:2}", "#9aa4b0", 'font-size="12"'))
        drawn, places[number] = code(line, y, [(column, label) for row, column, label in inlays if row == number])
        parts += drawn
        right, bottom = max(right, places[number][-1] if line else 0), y + 12
    for problem in problems:
        start, end = problem["range"]["start"], problem["range"]["end"]
        row = places[start["line"]]
        left, last = row[start["character"]], row[min(max(end["character"], start["character"] + 1), len(row) - 1)]
        colour = {1: "#d73a49", 2: "#b08800"}.get(problem["severity"], "#0366d6")
        y, wave, step = TOP + 26 + start["line"] * HIGH, f"M{left:.1f} {TOP + 26 + start['line'] * HIGH}", 0
        while left + step < max(last, left + 8):
            wave += f" q1.5 -3 3 0 q1.5 3 3 0"
            step += 6
        parts.append(f'<path d="{wave}" fill="none" stroke="{colour}" stroke-width="1.3"/>')
        if message:
            words = wrapped(f"{problem['code']}: {problem['message']}", 100)
            drawn, x, y = box(LEFT, bottom + 4, words)
            parts += drawn
            right, bottom = max(right, x), y
    if popup:
        row, column = at
        drawn, x, y = box(places[row][column], TOP + 30 + row * HIGH, popup, marked=marked)
        parts += drawn
        right, bottom = max(right, x), max(bottom, y)
    wide, high = right + 20, bottom + 16
    head = f'<rect width="{wide:.0f}" height="{high:.0f}" rx="8" fill="#ffffff" stroke="#ccd3dc"/>'
    head += f'<path d="M0 8 a8 8 0 0 1 8 -8 h{wide - 16:.0f} a8 8 0 0 1 8 8 v16 h-{wide:.0f} z" fill="#f1f3f6"/>'
    head += write(14, 17, "model.lgm", "#57606a", 'font-size="12"')
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}" viewBox="0 0 {wide:.0f} {high:.0f}" '
    svg += f'font-family="ui-monospace, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="14">{head}{"".join(parts)}</svg>\n'
    assert all(html.escape(label) in svg for _, _, label in inlays), name
    (FOLDER / f"{name}.svg").write_text(svg)


GEARED = """model Hoist {
  param r = 0.1 [m];
  param J = 0.02 [kg.m^2];
  param m = 12 [kg];
  param whole = J + m*r^2;
  node shaft : rotational;
  node rope : translational;
  drive : TorqueSource(15 [N.m]) gnd -> shaft;
  motor : Inertia(J) shaft -> gnd;
  drum  : Transformer(r) shaft -> gnd, rope -> gnd;
  load  : Mass(m) rope -> gnd;
  brake : RotaryDamper(0.3 [N.m.s/rad]) shaft -> gnd;
  output speed = across(load);
}
"""


def place(text, words, offset=0):
    for number, line in enumerate(text.split("\n")):
        if words in line:
            return number, line.index(words) + offset
    raise ValueError(words)


def plain(markdown):
    return [line.replace("`", "") for line in markdown.split("\n") if line.strip() and not line.startswith("```")]


def main():
    server = Server(sys.argv[1])
    document = {"uri": URI}

    def asked(method, text, words, offset=0, **more):
        line, character = place(text, words, offset)
        return server.ask(f"textDocument/{method}", {"textDocument": document, "position": {"line": line, "character": character}, **more})

    faulty = GEARED.replace("Transformer(r)", "Transformer(1/r)").replace("  brake", "  second : AngularVelocitySource(2) shaft -> gnd;\n  first : AngularVelocitySource(3) shaft -> gnd;\n  brake")
    picture("problems", faulty, server.open(faulty), message=True)
    server.close()

    server.open(GEARED)
    end = {"line": 99, "character": 0}
    hints = server.ask("textDocument/inlayHint", {"textDocument": document, "range": {"start": {"line": 0, "character": 0}, "end": end}})
    assert len(hints) == 3, hints
    picture("hints", GEARED, inlays=[(hint["position"]["line"], hint["position"]["character"], hint["label"]) for hint in hints])
    hover = asked("hover", GEARED, "motor :", 2)["contents"]["value"]
    picture("hover", GEARED, popup=sum((wrapped(line, 76) for line in plain(hover)), []), at=place(GEARED, "motor :", 2))
    line, character = place(GEARED, "load  :", 1)
    spot = {"line": line, "character": character}
    actions = server.ask("textDocument/codeAction", {"textDocument": document, "range": {"start": spot, "end": spot}, "context": {"diagnostics": []}})
    picture("actions", GEARED, popup=[action["title"] for action in actions], at=(line, character), marked=0)
    server.close()

    unfinished = GEARED.replace("  brake : RotaryDamper(0.3 [N.m.s/rad]) shaft -> gnd;", "  brake : RotaryDamper(0.3 [N.m.s/rad]) shaft -> ")
    server.open(unfinished)
    line = next(number for number, words in enumerate(unfinished.split("\n")) if words.startswith("  brake"))
    spot = {"line": line, "character": len("  brake : RotaryDamper(0.3 [N.m.s/rad]) shaft -> ")}
    items = server.ask("textDocument/completion", {"textDocument": document, "position": spot})
    words = [f"{item['label']:<10} {item.get('detail') or ''}" for item in items]
    picture("completion", unfinished, popup=words, at=(line, spot["character"]), marked=0)
    server.close()
    server.ask("shutdown", None)
    server.send({"method": "exit"})


if __name__ == "__main__":
    main()
