//! The information in the body of a modal block, computed once per definition, and the errors of the body by itself.

use crate::function_table::TABLE;
use crate::syntax_queries::value_parts;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Argument, Equation, Expr, ExprKind, Name};
use rustc_hash::FxHashMap;

/// The arguments of every modal block, in addition to its declared parameters.
pub const MODAL_ARGUMENTS: &[&str] = &["modes", "at", "over", "residual"];

/// A function of the position: its name, its arguments and its value.
#[derive(Debug)]
pub(crate) struct Shape<'a> {
    pub name: &'a Name,
    pub arguments: Vec<&'a str>,
    pub value: &'a Expr,
}

/// The body of a modal block in order.
#[derive(Debug, Default)]
pub(crate) struct Rules<'a> {
    /// The index of the modes.
    pub index: &'a str,
    /// Assigned names, each after the names that it requires.
    pub values: Vec<(&'a str, &'a Expr)>,
    /// Functions of the position.
    pub shapes: Vec<Shape<'a>>,
    /// `drive across;`
    pub across: bool,
    /// The functions whose values are columns of a table.
    pub tabulated: Vec<&'a str>,
}

/// Functions of the position that a block may define, with their numbers of coordinates; `None` means the number of `shape`.
const SHAPES: &[(&str, Option<usize>)] = &[
    ("shape", None),
    ("integral", Some(1)),
    ("compliance", Some(2)),
    ("resistance", Some(2)),
    ("conductance", Some(2)),
    ("force", None),
    ("shear", None),
    ("moment", None),
];

/// The names of the values of each mode, in mechanical and in neutral terms: primary storage, restoring storage, dissipator, and loss at
/// the restoring storage.
///
/// If through variables drive the modes, the primary storage is an A-type and the restoring storage a T-type. For the dual they are
/// exchanged, and the mechanical terms keep their roles: inertia, restoring force, damping.
#[derive(Debug)]
pub(crate) struct Roles {
    pub primary: [&'static str; 2],
    pub restoring: [&'static str; 2],
    pub dissipation: [&'static str; 2],
    pub loss: &'static str,
}

pub(crate) const THROUGH: Roles = Roles {
    primary: ["mass", "a_type"],
    restoring: ["stiffness", "t_type"],
    dissipation: ["damping", "d_type"],
    loss: "t_loss",
};

pub(crate) const ACROSS: Roles = Roles {
    primary: ["mass", "t_type"],
    restoring: ["stiffness", "a_type"],
    dissipation: ["damping", "d_type"],
    loss: "a_loss",
};

impl Roles {
    /// Returns true for the name of a value of the modes' parts.
    pub(crate) fn has(&self, name: &str) -> bool {
        let mut names = [self.primary, self.restoring, self.dissipation].into_iter().flatten();
        names.any(|known| known == name) || self.loss == name
    }
}

/// The name of the value that bounds positions, and of the parameter that replaces it if there is no such value.
pub(crate) const LENGTH: &str = "length";
pub(crate) const LENGTH_FORMAL: &str = "L";

/// Returns the names that have a meaning in every modal block: values of a mode, functions of the position, and arguments.
pub fn modal_words() -> impl Iterator<Item = &'static str> {
    let of_roles = |roles: &'static Roles| {
        let pairs = [roles.primary, roles.restoring, roles.dissipation];
        pairs.into_iter().flatten().chain([roles.loss])
    };
    let shapes = SHAPES.iter().map(|shape| shape.0);
    let mut words: Vec<&str> = of_roles(&THROUGH)
        .chain(of_roles(&ACROSS))
        .chain([LENGTH, LENGTH_FORMAL])
        .collect();
    words.extend(shapes.chain(MODAL_ARGUMENTS.iter().copied()));
    words.sort_unstable();
    words.dedup();
    words.into_iter()
}

impl<'a> Rules<'a> {
    /// Reads a body; errors are passed to `report`, and the rules are `None` if any occur.
    pub fn read(modal: &'a ast::Modal, report: &mut dyn FnMut(Diagnostic)) -> Option<Rules<'a>> {
        let mut reader = Reader {
            modal,
            report,
            faults: 0,
            rules: Rules::default(),
            values: FxHashMap::default(),
            order: Vec::new(),
        };
        reader.index_and_drive();
        for equation in &modal.equations {
            reader.equation(equation);
        }
        reader.check_roles();
        reader.sort_values();
        (reader.faults == 0).then_some(reader.rules)
    }

    /// Returns a function of the position.
    pub fn shape(&self, name: &str) -> Option<&Shape<'a>> {
        self.shapes.iter().find(|shape| &*shape.name.text == name)
    }

    /// Returns the number of coordinates of a position.
    pub fn dimensions(&self) -> usize {
        self.shape("shape").map_or(1, |shape| shape.arguments.len())
    }

    /// Returns true if its modes have a restoring storage; the modes of a heat rod have none.
    pub fn has_restoring(&self) -> bool {
        let names = self.roles().restoring;
        self.values.iter().any(|value| names.contains(&value.0))
    }

    /// Returns the name of the static loss of the whole block.
    pub fn resistance(&self) -> &'static str {
        match self.across {
            true => "conductance",
            false => "resistance",
        }
    }

    /// Returns the names of the values of a mode.
    pub fn roles(&self) -> &'static Roles {
        match self.across {
            true => &ACROSS,
            false => &THROUGH,
        }
    }
}

/// A body that is being read.
struct Reader<'a, 'r> {
    modal: &'a ast::Modal,
    report: &'r mut dyn FnMut(Diagnostic),
    faults: usize,
    rules: Rules<'a>,
    /// The equations of assigned names, and these names as written.
    values: FxHashMap<&'a str, &'a Equation>,
    order: Vec<&'a str>,
}

impl<'a> Reader<'a, '_> {
    fn fault(&mut self, diagnostic: Diagnostic) {
        self.faults += 1;
        (self.report)(diagnostic);
    }

    fn index_and_drive(&mut self) {
        match &self.modal.mode {
            Some(name) => self.rules.index = &name.text,
            None => self.fault(missing(self.modal, "index of its modes", "mode i;")),
        }
        let Some(drive) = &self.modal.drive else { return };
        match &*drive.text {
            "across" => self.rules.across = true,
            "through" => {}
            _ => self.fault(
                Diagnostic::error(
                    Code::LGM0440,
                    "a modal block is driven either by across or by through variables",
                )
                .label(drive.span, "unknown")
                .help(
                    "write `drive across;`, or remove it: by default, through variables of the ports drive the \
                    modes",
                ),
            ),
        }
    }

    fn equation(&mut self, equation: &'a Equation) {
        let (name, arguments) = match &equation.left.kind {
            ExprKind::Name(name) => (name, None),
            ExprKind::Call(name, arguments) => (name, Some(arguments)),
            _ => {
                self.fault(
                    Diagnostic::error(
                        Code::LGM0440,
                        "a modal block assigns names and functions of the position",
                    )
                    .label(equation.left.span, "neither a name nor a function")
                    .help("write `mass = ..;` or `shape(x) = ..;`"),
                );
                return;
            }
        };
        if self.is_taken(name) {
            return;
        }
        match arguments {
            None => {
                self.values.insert(&name.text, equation);
                self.order.push(&*name.text);
            }
            Some(arguments) => self.shape(name, arguments, equation),
        }
    }

    /// Returns true if the name is already declared, and reports this.
    fn is_taken(&mut self, name: &'a Name) -> bool {
        let shapes = self.rules.shapes.iter().map(|shape| shape.name);
        let first = shapes.into_iter().find(|first| first.text == name.text);
        let first = first.or_else(|| self.values.get(&*name.text).and_then(|first| left_name(&first.left)));
        let formal = self.modal.formals.iter().find(|formal| formal.name.text == name.text);
        let diagnostic = Diagnostic::error(Code::LGM0107, format!("`{}` is declared twice", name.text));
        let diagnostic = match (first, formal) {
            (Some(first), _) => diagnostic
                .label(name.span, "declared again here")
                .label(first.span, "first declared here"),
            (None, Some(formal)) => diagnostic
                .label(name.span, "assigned here")
                .label(formal.name.span, "already a parameter"),
            (None, None) => return false,
        };
        self.fault(diagnostic.help("rename one of the two"));
        true
    }

    /// Reads a function of the position.
    fn shape(&mut self, name: &'a Name, arguments: &'a [Argument], equation: &'a Equation) {
        let names: Vec<&'a str> = arguments
            .iter()
            .filter_map(|argument| match (&argument.name, &argument.value.kind) {
                (None, ExprKind::Name(name)) => Some(&*name.text),
                _ => None,
            })
            .collect();
        let known = SHAPES.iter().find(|known| known.0 == &*name.text);
        let counts = match known {
            None => false,
            Some((_, Some(count))) => names.len() == *count,
            Some((_, None)) => matches!(names.len(), 1 | 2),
        };
        if !counts || names.len() != arguments.len() {
            self.fault(
                Diagnostic::error(Code::LGM0440, "a modal block has no such function of the position")
                    .label(equation.left.span, "unknown, or defined with other arguments")
                    .help(
                        "write `shape(x)` or `shape(x, y)`, and optionally `integral(x)`, `compliance(x, y)`, \
                         `resistance(x, y)`, `force(x)`, `shear(x)` or `moment(x)`",
                    ),
            );
            return;
        }
        let (mut uses, mut count) = (0, 0);
        for_calls(&equation.right, &mut |name, arguments| {
            uses += usize::from(&*name.text == TABLE);
            count += usize::from(&*name.text == TABLE && arguments.len() == names.len());
        });
        if uses > count || (uses > 0 && matches!(&*name.text, "compliance" | "resistance" | "conductance")) {
            self.fault(
                Diagnostic::error(Code::LGM0440, "a table has one column for each position")
                    .label(equation.right.span, "expected the column of one position")
                    .help(format!("write `shape({0}) = table({0});`", names.join(", "))),
            );
            return;
        }
        if uses > 0 {
            self.rules.tabulated.push(&name.text);
        }
        self.rules.shapes.push(Shape {
            name,
            arguments: names,
            value: &equation.right,
        });
    }

    /// Checks that each mode has its required values, and that no value has two names.
    fn check_roles(&mut self) {
        let roles = self.rules.roles();
        if !roles.primary.iter().any(|name| self.values.contains_key(name)) {
            let (word, example) = match self.rules.across {
                true => ("T-type value of its modes", "t_type = ..;"),
                false => ("A-type value of its modes", "mass = ..;"),
            };
            self.fault(missing(self.modal, word, example));
        }
        for names in [roles.primary, roles.restoring, roles.dissipation] {
            if let (Some(first), Some(second)) = (self.values.get(names[0]), self.values.get(names[1])) {
                let diagnostic = Diagnostic::error(
                    Code::LGM0440,
                    format!("`{}` and `{}` are the same value", names[0], names[1]),
                )
                .label(second.left.span, "given here")
                .label(first.left.span, "and here")
                .help("remove one of the two");
                self.fault(diagnostic);
            }
        }
        if self.rules.shape("shape").is_none() {
            self.fault(missing(self.modal, "shape of its modes", "shape(x) = ..;"));
        }
    }

    /// Sorts the assigned names, each after the names that it requires.
    fn sort_values(&mut self) {
        let mut marks: FxHashMap<&'a str, Mark> = FxHashMap::default();
        for name in std::mem::take(&mut self.order) {
            if !visit(name, &self.values, &mut marks, &mut self.rules.values) {
                let equation = self.values[name];
                self.fault(
                    Diagnostic::error(Code::LGM0117, format!("`{name}` is defined through itself"))
                        .label(equation.span, "this closes a cycle")
                        .help("break the cycle: a value must not depend on itself"),
                );
                break;
            }
        }
    }
}

fn left_name(expr: &Expr) -> Option<&Name> {
    match &expr.kind {
        ExprKind::Name(name) | ExprKind::Call(name, _) => Some(name),
        _ => None,
    }
}

fn missing(modal: &ast::Modal, what: &str, example: &str) -> Diagnostic {
    Diagnostic::error(
        Code::LGM0440,
        format!("the modal block `{}` has no {what}", modal.name.text),
    )
    .label(modal.name.span, "declared here")
    .help(format!("write `{example}`"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Open,
    Done,
}

/// Appends a name after all names that it requires; returns `false` if it depends on itself.
fn visit<'a>(
    name: &'a str,
    equations: &FxHashMap<&'a str, &'a Equation>,
    marks: &mut FxHashMap<&'a str, Mark>,
    out: &mut Vec<(&'a str, &'a Expr)>,
) -> bool {
    let Some(equation) = equations.get(name) else {
        return true;
    };
    match marks.get(name) {
        Some(Mark::Done) => return true,
        Some(Mark::Open) => return false,
        None => {}
    }
    // The depth of this recursion is at most the number of names of one body, which are written by hand.
    marks.insert(name, Mark::Open);
    let mut needed = Vec::new();
    free_names(&equation.right, &mut Vec::new(), &mut needed);
    if !needed.into_iter().all(|name| visit(&name.text, equations, marks, out)) {
        return false;
    }
    marks.insert(name, Mark::Done);
    out.push((name, &equation.right));
    true
}

/// Collects the names that an expression requires, except those bound by a `sum` or a `root`.
pub(crate) fn free_names<'a>(expr: &'a Expr, bound: &mut Vec<&'a str>, out: &mut Vec<&'a Name>) {
    match &expr.kind {
        ExprKind::Name(name) => {
            if !bound.contains(&&*name.text) {
                out.push(name);
            }
        }
        ExprKind::Over(over) => {
            free_names(&over.from, bound, out);
            free_names(&over.to, bound, out);
            bound.push(&over.index.text);
            free_names(&over.body, bound, out);
            bound.pop();
        }
        _ => value_parts(expr, &mut |child| free_names(child, bound, out)),
    }
}

/// Visits all calls of an expression.
fn for_calls<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Name, &'a [ast::Argument])) {
    if let ExprKind::Call(name, arguments) = &expr.kind {
        visit(name, arguments);
    }
    value_parts(expr, &mut |child| for_calls(child, visit));
}
