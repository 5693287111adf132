//! Integrals, rates, conditions, indices and functions of time in every place of a model that takes an expression.

use super::pipeline;

/// Statements of a model with an expression in the place of `@`.
pub const PLACES: [&str; 26] = [
    "param q = @; output o = q;",
    "const q = @; output o = q;",
    "input q = @; output o = q;",
    "signal s = @; output o = s;",
    "signal s[1] = @; signal s[2] = 2*s[1]; output o = s[1] + s[2];",
    "for i in 1:2 { signal s[i] = i*(@); } f : ForceSource(s[2]) gnd -> x;",
    "state s = int(@); output o = s;",
    "state s = int(u), start = @; output o = s;",
    "output o = @;",
    "output o = int(@);",
    "output o = der(@);",
    "output o = if @ > 0.1 then 1 else 2;",
    "f : ForceSource(@) gnd -> x;",
    "f : ForceSource([@, 0]) gnd -> p;",
    "f : VelocitySource(@) y -> gnd; h : Damper(1) y -> x;",
    "d : Damper(@) x -> gnd;",
    "d : Mass(@) x -> gnd;",
    "d : Spring(2) x -> gnd, start = @;",
    "t : Transformer(1 + (@)^2) x -> gnd, y -> gnd; h : Mass(1) y -> gnd;",
    "t : Gyrator(@) x -> gnd, y -> gnd; h : Damper(1) y -> gnd;",
    "d : Cubic(@) x -> gnd;",
    "d : Switched(@) x -> gnd;",
    "d : Stored(@) x -> gnd;",
    "d : Moving(@) x -> gnd;",
    "c : Part(a = @) (p = x);",
    "experiment { stop = @; }",
];

/// Expressions that stand there.
pub const EXPRESSIONS: [&str; 24] = [
    "int(across(m))",
    "int(int(across(m)))",
    "int(through(k))",
    "int(across(p))[2]",
    "int(across(p)[1])",
    "int(z)",
    "int(time)",
    "der(across(m))",
    "der(int(across(m)))",
    "der(z)",
    "der(u)",
    "der(sin(time))",
    "(if int(across(m)) > 0.1 then 1 else 2)",
    "(if der(across(m)) > 0.1 then across(m) else 0)",
    "(if time > 0.5 then across(m) else 0)",
    "abs(int(across(k)))",
    "sqrt(1 + int(across(m))^2)",
    "sin(time)*across(m)",
    "step(0.5)",
    "(1 + time)",
    "v[2]",
    "sum(i in 1:2, int(i*across(m)))",
    "list(i in 1:2, i*z)[2]",
    "power(k)",
];

/// A model with statements that hold expressions. A factor of its `w`, a number whose unit is not known, lets them stand anywhere.
pub fn model(statements: &str) -> String {
    format!(
        "element Cubic(a, b = 1) : translational {{ through = b*a*across^3; }}
element Switched(a, b = 1) : translational {{ through = b*(if a > 0.1 then across else 0); }}
element Stored(a, b = 1) : translational {{ through = b*(1 + a^2)*int(across)^3; }}
element Moving(a, b = 1) : translational {{ across = b*abs(through)*through + a; }}
component Part(a) {{ port p : translational; f : ForceSource(a) gnd -> p; }}
model Placed {{
  input u = sin(time);
  param w = 1;
  node x, y : translational, floating;
  node p[2] vector : translational;
  m : Mass(1) x -> gnd;
  k : Spring(4) x -> gnd, start = 0.5;
  b : Mass(2) p -> gnd;
  push : ForceSource([u, 0]) gnd -> p;
  link : Damper(1) y -> x;
  state z = int(w*across(m) - w*z);
  signal v[1] = z;
  signal v[2] = 2*z;
  {statements}
}}
"
    )
}

/// The model that bytes choose has equations that hold, or errors.
pub fn places(text: &str) {
    pipeline(&chosen(text));
}

/// The model that bytes choose: up to three places, each with an expression over those of the list.
pub fn chosen(text: &str) -> String {
    let mut choices = text.bytes();
    let mut statements = String::new();
    for number in 0..3 {
        let Some(place) = choices.next() else { break };
        let chosen = PLACES[usize::from(place) % PLACES.len()];
        let expression = expression(&mut choices, 3);
        // Each place has names of its own.
        let mut statement = format!(" {chosen}").replace('@', &expression);
        for name in ["q", "s", "o", "f", "h", "d", "t", "c"] {
            for (before, after) in [(" ", " "), (" ", "["), (" ", ";"), ("(", "["), ("*", "[")] {
                statement = statement.replace(
                    &format!("{before}{name}{after}"),
                    &format!("{before}{name}{number}{after}"),
                );
            }
        }
        statements.push_str(&statement);
    }
    model(&statements)
}

/// An expression of at most so many levels.
fn expression(choices: &mut dyn Iterator<Item = u8>, depth: usize) -> String {
    let Some(choice) = choices.next().filter(|_| depth > 0) else {
        return "w*across(m)".to_string();
    };
    let mut inner = || expression(choices, depth - 1);
    match choice % 12 {
        0 => format!("int({})", inner()),
        1 => format!("der({})", inner()),
        2 => format!("(if {} > 0.1 then {} else {})", inner(), inner(), inner()),
        3 => format!("({} + {})", inner(), inner()),
        4 => format!("{}*{}", inner(), inner()),
        5 => format!("abs({})", inner()),
        6 => format!("sin({})", inner()),
        7 => format!("list(i in 1:2, i*{})[2]", inner()),
        _ => format!("w*{}", EXPRESSIONS[usize::from(choice) % EXPRESSIONS.len()]),
    }
}
