//! The syntax tree: the source text with the location of every part, without inferred data.
//!
//! Long operator chains are flat lists, so that the tree's depth is bounded by the bracket depth (at most 256, checked by the parser) and
//! recursion over it is safe.

use lgm_source::Span;
use std::sync::Arc;

/// A name as written.
#[derive(Clone, Debug)]
pub struct Name {
    /// The text.
    pub text: Arc<str>,
    /// Its location.
    pub span: Span,
}

/// One source text, parsed.
#[derive(Clone, Debug, Default)]
pub struct Ast {
    /// Top-level items in source order.
    pub items: Vec<Item>,
    /// True if the text has no diagnostics.
    pub(crate) is_faultless: bool,
}

/// A top-level item.
#[derive(Clone, Debug)]
pub enum Item {
    /// `import "path.lgm";` or `import name;`
    Import(Import),
    /// `domain d { across v [V]; through i [A]; effort = across; }`
    Domain(Domain),
    /// `element E(..) : d { law }`
    Element(Element),
    /// `component C(..) { .. }`
    Component(Component),
    /// `modal B(..) : d { .. }`
    Modal(Modal),
    /// `model M { .. }`
    Model(Model),
    /// `function f(x [m], y) = x*y;`
    Function(Function),
    /// `const g = 9.80665 [m/s^2];` outside of models.
    Const(Const),
}

/// `import "path.lgm";` or `import name;`
#[derive(Clone, Debug)]
pub struct Import {
    /// The imported item.
    pub target: ImportTarget,
    /// The whole item.
    pub span: Span,
}

/// The target of an import.
#[derive(Clone, Debug)]
pub enum ImportTarget {
    /// A quoted relative path; the span is that of the string with its quotes.
    Path(Arc<str>, Span),
    /// A module of the standard library.
    Module(Name),
}

/// A domain: its across and through variables, one of which is the effort.
#[derive(Clone, Debug)]
pub struct Domain {
    /// `///` lines, joined by newlines.
    pub doc: Option<Arc<str>>,
    /// Its name.
    pub name: Name,
    /// `across v [V];`
    pub across: Option<DomainVariable>,
    /// `through i [A];`
    pub through: Option<DomainVariable>,
    /// The name after `effort =`, `across` or `through`.
    pub effort: Option<Name>,
    /// `pseudo;`
    pub pseudo: Option<Span>,
    /// Other entries of the body, for an error at their location.
    pub unknown: Vec<Span>,
    /// The whole item.
    pub span: Span,
}

/// `v [V]`
#[derive(Clone, Debug)]
pub struct DomainVariable {
    /// The symbol of the variable.
    pub name: Name,
    /// Its unit.
    pub unit: Option<UnitExpr>,
}

/// A unit as written between brackets.
#[derive(Clone, Debug)]
pub struct UnitExpr {
    /// Factors in order; factors after a `/` have negated exponents.
    pub factors: Vec<UnitFactor>,
    /// With the brackets.
    pub span: Span,
}

/// One name to a rational power; `m^-1/2` means `m^(-1/2)`.
#[derive(Clone, Debug)]
pub struct UnitFactor {
    /// `kg`, `mH`; the literal `1` is the name `1`.
    pub name: Name,
    /// Exponent, numerator and positive denominator.
    pub exponent: (i32, i32),
}

/// A formal parameter: `R [ohm] = 5` or `const N`.
#[derive(Clone, Debug)]
pub struct Formal {
    /// True for a structural parameter, declared with `const`.
    pub structural: bool,
    /// Its name.
    pub name: Name,
    /// Its unit.
    pub unit: Option<UnitExpr>,
    /// Its default.
    pub default: Option<Expr>,
}

/// A user-defined or library element.
#[derive(Clone, Debug)]
pub struct Element {
    /// `///` lines.
    pub doc: Option<Arc<str>>,
    /// Its name.
    pub name: Name,
    /// Parameters.
    pub formals: Vec<Formal>,
    /// `: electrical`, `: bond`, or none for a domain-free element.
    pub domain: Option<Name>,
    /// `port a, b;` names (with optional own domain); empty for a one-port.
    pub ports: Vec<PortDecl>,
    /// `table t = ..;`
    pub tables: Vec<Table>,
    /// Law equations.
    pub equations: Vec<Equation>,
    /// `mode NAME { .. }`, in order; exactly one mode is active at a time.
    pub modes: Vec<ElementMode>,
    /// The whole item.
    pub span: Span,
}

/// `mode conducting { across = 0; } when through < 0 -> blocking;`
#[derive(Clone, Debug)]
pub struct ElementMode {
    /// Its name.
    pub name: Name,
    /// The element in this active mode, without modes.
    pub law: Box<Element>,
    /// The changes from this mode to others.
    pub changes: Vec<ModeChange>,
    /// The mode with its changes.
    pub span: Span,
}

/// `when CONDITION -> MODE, across = EXPR;`
#[derive(Clone, Debug)]
pub struct ModeChange {
    /// The condition that must become true.
    pub condition: Expr,
    /// The name of the mode that follows.
    pub to: Name,
    /// Port variables that are set at the change, `across = ..` or `a.through = ..`.
    pub sets: Vec<Setting>,
    /// The whole change.
    pub span: Span,
}

/// `across = -e*before(across)` at a change of modes.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The variable that is set.
    pub target: Expr,
    /// Its value just after the change.
    pub value: Expr,
}

/// `left = right;`
#[derive(Clone, Debug)]
pub struct Equation {
    /// Left side.
    pub left: Expr,
    /// Right side.
    pub right: Expr,
    /// The whole equation.
    pub span: Span,
}

/// `port p[3], n : electrical;` in an element or a component, one entry per name.
#[derive(Clone, Debug)]
pub struct PortDecl {
    /// Name with sizes, and width after `vector`.
    pub declared: Declared,
    /// Its domain, if given.
    pub domain: Option<Name>,
}

/// A declared name with bracketed sizes and an optional `vector` mark: `q[N][2] vector`.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The name.
    pub name: Name,
    /// Bracket groups in order, each with its indices: `a[i, j][2]` has two groups.
    pub brackets: Vec<Vec<Expr>>,
    /// The location of the word `vector`.
    pub vector: Option<Span>,
    /// Name with brackets.
    pub span: Span,
}

/// A component.
#[derive(Clone, Debug)]
pub struct Component {
    /// `///` lines.
    pub doc: Option<Arc<str>>,
    /// Its name.
    pub name: Name,
    /// Parameters.
    pub formals: Vec<Formal>,
    /// Body.
    pub body: Vec<Statement>,
    /// The whole item.
    pub span: Span,
}

/// A model.
#[derive(Clone, Debug)]
pub struct Model {
    /// `///` lines.
    pub doc: Option<Arc<str>>,
    /// Its name.
    pub name: Name,
    /// Body.
    pub body: Vec<Statement>,
    /// The whole item.
    pub span: Span,
}

/// `function f(x [m], y) = x*y;`
#[derive(Clone, Debug)]
pub struct Function {
    /// `///` lines.
    pub doc: Option<Arc<str>>,
    /// Its name.
    pub name: Name,
    /// Its arguments.
    pub formals: Vec<Formal>,
    /// Its value.
    pub value: Expr,
    /// The whole item.
    pub span: Span,
}

/// `const g = 9.80665 [m/s^2];` outside of models.
#[derive(Clone, Debug)]
pub struct Const {
    /// `///` lines.
    pub doc: Option<Arc<str>>,
    /// Name, unit and value.
    pub assigned: Assigned,
    /// The whole item.
    pub span: Span,
}

/// `table t = [[0, 1], [2, 3]], outside = hold;`
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: Name,
    /// Its rows, or `csv("file.csv", "column")`.
    pub value: Expr,
    /// `method = smooth`, `outside = hold`.
    pub attributes: Vec<Attribute>,
}

/// A modal block.
#[derive(Clone, Debug)]
pub struct Modal {
    /// `///` lines.
    pub doc: Option<Arc<str>>,
    /// Its name.
    pub name: Name,
    /// Parameters.
    pub formals: Vec<Formal>,
    /// Its domain.
    pub domain: Option<Name>,
    /// `mode i;`
    pub mode: Option<Name>,
    /// `drive across;`
    pub drive: Option<Name>,
    /// Assignments such as `mass = ..` and `shape(x) = ..`.
    pub equations: Vec<Equation>,
    /// The whole item.
    pub span: Span,
}

/// One statement of a model or component body.
#[derive(Clone, Debug)]
pub struct Statement {
    /// `///` lines in front.
    pub doc: Option<Arc<str>>,
    /// Its contents.
    pub kind: StatementKind,
    /// The whole statement.
    pub span: Span,
}

/// The contents of a statement.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `node a, b[3] : electrical, floating;`
    Node(JunctionDecl),
    /// `zero J, K : electrical;`
    Zero(JunctionDecl),
    /// `one A;`
    One(JunctionDecl),
    /// `port p, n : electrical;` (components only)
    Port(Vec<PortDecl>),
    /// `param m = 2 [kg];`
    Param(Assigned),
    /// `const N = 4;`
    Const(Assigned),
    /// `input F [N] = 1;`
    Input(Assigned),
    /// `signal e = ..;`
    Signal(Indexed),
    /// `output v = ..;`
    Output(Indexed),
    /// `state z = int(..), start = 0.3;`
    State(Indexed),
    /// `spring : Spring(k) x -> gnd, start = 1;`
    Instance(Box<Instance>),
    /// `SE -> A -> I1;`
    Chain(Vec<Expr>),
    /// `for i in a:b { .. }`
    For(Box<For>),
    /// `if c { .. } else if d { .. } else { .. }`
    If(If),
    /// `experiment { stop = 5 [s]; .. }`
    Experiment(Vec<Attribute>),
    /// `discrete hits = 0;`
    Discrete(Indexed),
    /// `table t = [[0, 1], [2, 3]];`
    Table(Table),
    /// `when h <= 0 { .. }`
    When(When),
    /// `every Ts from t0 { .. }`
    Every(Every),
    /// The readable part of a faulty statement.
    Faulty(Faulty),
}

/// The readable part of a faulty statement, such as `spring : Spring(k = 2*) x -> gnd;`.
#[derive(Clone, Debug)]
pub struct Faulty {
    /// The intended instance: `spring`.
    pub declared: Option<Name>,
    /// The intended kind: `Spring`.
    pub kind: Option<Name>,
    /// Names in the rest, with their members: `x`, `gnd`. Names of arguments are excluded.
    pub uses: Vec<Expr>,
}

/// `a, b[3] vector : electrical, floating`
#[derive(Clone, Debug)]
pub struct JunctionDecl {
    /// Names with sizes.
    pub names: Vec<Declared>,
    /// The domain, if given.
    pub domain: Option<Name>,
    /// Words after the domain, such as `floating`.
    pub flags: Vec<Name>,
    /// `on = closed` and similar.
    pub attributes: Vec<Attribute>,
}

/// `F [N] = 1`
#[derive(Clone, Debug)]
pub struct Assigned {
    /// Name.
    pub name: Name,
    /// Unit after the name.
    pub unit: Option<UnitExpr>,
    /// Value.
    pub value: Option<Expr>,
}

/// `y[i] = expr, start = 0`
#[derive(Clone, Debug)]
pub struct Indexed {
    /// Name with indices.
    pub declared: Declared,
    /// Value.
    pub value: Expr,
    /// `start = 0.3` and similar.
    pub attributes: Vec<Attribute>,
}

/// `name = value`
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Name.
    pub name: Name,
    /// Value.
    pub value: Expr,
}

/// `cell[i] : Section(L = 1, 2) (p = v[i]) a -> b, c -> d, start = 1;`
#[derive(Clone, Debug)]
pub struct Instance {
    /// Name with indices.
    pub declared: Declared,
    /// The element, component or modal block.
    pub kind: Name,
    /// Arguments; empty without parentheses.
    pub arguments: Vec<Argument>,
    /// Port bindings of a component, `(p = v[i], n = gnd)`; `None` when absent.
    pub bindings: Option<Vec<Attribute>>,
    /// Branches `a -> b`, one per port.
    pub branches: Vec<(Expr, Expr)>,
    /// `start = 1` and similar.
    pub attributes: Vec<Attribute>,
}

/// `R` or `R = 5`
#[derive(Clone, Debug)]
pub struct Argument {
    /// Name of a named argument.
    pub name: Option<Name>,
    /// Value.
    pub value: Expr,
}

/// A loop, expanded at compile time.
#[derive(Clone, Debug)]
pub struct For {
    /// The index.
    pub index: Name,
    /// First value.
    pub from: Expr,
    /// Last value, inclusive.
    pub to: Expr,
    /// Body.
    pub body: Vec<Statement>,
}

/// `when CONDITION { .. }`: assignments when a condition becomes true.
#[derive(Clone, Debug)]
pub struct When {
    /// The condition; the plain name `initially` means the start of the run.
    pub condition: Expr,
    /// The actions, in order.
    pub body: Vec<Action>,
}

/// `every PERIOD from FIRST { .. }`: assignments at equal time intervals.
#[derive(Clone, Debug)]
pub struct Every {
    /// The period in seconds.
    pub period: Expr,
    /// The word `from` and the first instant; 0 s if not given.
    pub first: Option<(Name, Expr)>,
    /// The actions, in order.
    pub body: Vec<Action>,
}

/// An action of a `when` or an `every` block.
#[derive(Clone, Debug)]
pub enum Action {
    /// `hits := hits + 1;`
    Assign(Assignment),
    /// `if c { .. } else { .. }`
    If(ActionIf),
}

/// `target := value;`
#[derive(Clone, Debug)]
pub struct Assignment {
    /// A discrete variable, a state or the measure of a storage.
    pub target: Expr,
    /// Its new value.
    pub value: Expr,
    /// The whole assignment.
    pub span: Span,
}

/// A choice between assignments, made at the instant.
#[derive(Clone, Debug)]
pub struct ActionIf {
    /// Conditions with their actions, in order.
    pub branches: Vec<(Expr, Vec<Action>)>,
    /// The `else` body.
    pub otherwise: Vec<Action>,
}

/// A conditional block, decided at compile time.
#[derive(Clone, Debug)]
pub struct If {
    /// Conditions with their bodies, in order.
    pub branches: Vec<(Expr, Vec<Statement>)>,
    /// The `else` body.
    pub otherwise: Vec<Statement>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Its location.
    pub span: Span,
}

/// The kind of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A decimal literal as written, with the unit bound to it.
    Number(Arc<str>, Option<UnitExpr>),
    /// A quoted string.
    Text(Arc<str>),
    /// A plain name: `m`, `gnd`, `time`, `pi`.
    Name(Name),
    /// `a.b`
    Member(Box<Expr>, Name),
    /// `a[i]`, `K[i, j]`
    Index(Box<Expr>, Vec<Expr>),
    /// `f(x, name = y)`: functions, measures, `int`, `der`.
    Call(Name, Vec<Argument>),
    /// `sum(i in 1:N, body)` and `root(z in a:b, body)`.
    Over(Box<Over>),
    /// `f(x) [V]`, `(a + b) [degC]`: a value in a unit. In an output the unit belongs to the whole expression.
    InUnit(Box<Expr>, UnitExpr),
    /// `[a, b]` or `[[a, b], [c, d]]`, with the unit bound to it.
    List(Vec<Expr>, Option<UnitExpr>),
    /// `a + b - c`: first term first; `true` marks a subtracted term.
    Sum(Vec<(bool, Expr)>),
    /// `a * b / c`: `true` marks a divisor.
    Product(Vec<(bool, Expr)>),
    /// `a ^ b ^ c`, right associative, at least two.
    Power(Vec<Expr>),
    /// `-a`
    Negate(Box<Expr>),
    /// `not a`
    Not(Box<Expr>),
    /// `a and b and c`
    And(Vec<Expr>),
    /// `a or b or c`
    Or(Vec<Expr>),
    /// `a < b`
    Compare(Comparison, Box<Expr>, Box<Expr>),
    /// `if c then a else if d then b else e`
    If(Vec<(Expr, Expr)>, Box<Expr>),
    /// `J -> R1`, the bond named in `flow(J -> R1)`.
    Bond(Box<Expr>, Box<Expr>),
    /// A location where the parser found no expression and reported an error.
    Missing,
}

/// `sum(i in a:b, body)`
#[derive(Clone, Debug)]
pub struct Over {
    /// `sum` or `root`.
    pub function: Name,
    /// The index or unknown.
    pub index: Name,
    /// Lower end.
    pub from: Expr,
    /// Upper end.
    pub to: Expr,
    /// Body.
    pub body: Expr,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}
