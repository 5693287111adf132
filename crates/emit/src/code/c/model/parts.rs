//! Parts of a model with algebraic loops, and the check of its initial values.

use super::facts::Model;
use crate::code::c::loops::Pattern;
use crate::code::c::text::list;
use crate::code::dialect::Dialect;
use std::fmt::Write;

/// Functions that a run calls; all others are omitted.
pub(super) const LOOP_PROTOTYPES: &str = "
/* Initial guesses for the unknowns of the loops, five lists. */
extern const real lgm_loop_guesses[5 * LGM_UNKNOWNS];

/* Solves the loops, and replaces `right` by the solution of their linearisation; returns 0 if there is none. */
int lgm_loops_follow(lgm_model *model, real t, const real x[], const real u[] LGM_DU(, const real du[]), real right[]);

/* For runs that follow one solution of the loops. Finds the solution near w; returns 0 if there is none. */
int lgm_loops_near(lgm_model *model, real t, const real x[], const real u[] LGM_DU(, const real du[]), const real w[]);

/* Computes the factors of the matrix of the loops at a point with unknowns w; returns 0 if it is singular. */
int lgm_loops_slopes(lgm_model *model, real t, const real x[], const real u[] LGM_DU(, const real du[]), const real w[],
    real slopes[], int pivots[]);

/* Returns the sign of the determinant of the loops at a point with unknowns w; 0 if it is unknown. */
int lgm_loops_sign(lgm_model *model, real t, const real x[], const real u[] LGM_DU(, const real du[]), const real w[]);

/* Computes the distance of unknowns w from a solution, with these factors; returns 0 if there is no value. */
int lgm_loops_drift(lgm_model *model, real t, const real x[], const real u[] LGM_DU(, const real du[]), const real w[],
    const real slopes[], const int pivots[], real drift[]);
";

/// Prints the members that store the loops.
pub(super) fn loop_members(model: &Model<'_>) -> String {
    let unknowns = model.subject.unknowns();
    let [loops, direct, by_loop, by_state] = patterns(model).map(|pattern| pattern.room());
    let mut out = format!(
        "    /* The last solution of the algebraic loops, near which the next one is searched for. */\n    real \
         w[{unknowns}];\n    int is_solved;\n    /* The magnitude below which an unknown is negligible. */\n    real \
         small;\n"
    );
    if model.subject.has_branches() && model.has_run {
        out.push_str("    /* True if the unknowns are used unchanged, whether or not they are a solution. */\n    int is_frozen;\n");
    }
    out.push_str("    /* Working memory. */\n");
    for name in ["solution", "residuals", "trial", "step", "last_step", "fallback"] {
        let _ = writeln!(out, "    real {name}[{unknowns}];");
    }
    let _ = write!(
        out,
        "    real entries[{loops}];\n    real factors[{unknowns} * {unknowns}];\n    int pivots[{unknowns}];\n"
    );
    if model.has_jacobian() {
        let _ = write!(
            out,
            "    real direct[{direct}];\n    real by_loop[{by_loop}];\n    real by_state[{by_state}];\n"
        );
    }
    out
}

/// Returns the patterns of the loop matrices, each with respect to unknowns or states: residuals by unknowns, rates by states,
/// rates by unknowns, and residuals by states.
fn patterns(model: &Model<'_>) -> [Pattern; 4] {
    model.names.patterns(model.subject)
}

/// Prints the tables of the loops.
pub(super) fn loop_tables(model: &Model<'_>, iterations: u64) -> String {
    let subject = model.subject;
    let [loops, direct, by_loop, by_state] = patterns(model);
    let guesses = subject.guesses();
    let guesses = guesses.iter().flatten().map(|value| model.c.literal(*value));
    let mut out = loops.tables("loop");
    out.push_str(&direct.tables("direct"));
    out.push_str(&by_loop.tables("by_loop"));
    out.push_str(&by_state.tables("by_state"));
    let _ = write!(
        out,
        "\nconst real lgm_loop_guesses[5 * LGM_UNKNOWNS] = \
         {{{}}};\n\nenum {{ LGM_LOOP_ENTRIES = {}, LGM_ITERATIONS = {iterations}, LGM_ASIDES = {} }};\n\n",
        list(guesses, String::new()),
        loops.columns.len(),
        subject.asides()
    );
    out
}

/// Returns the numbers that depend on the precision.
pub(super) fn numbers() -> &'static str {
    let text = lgm_runtime::C_NUMBERS;
    let first = text
        .find("/* A residual within")
        .expect("invariant: the numbers of loops are there");
    let last = text.rfind("#endif").expect("invariant: the header has a guard");
    &text[first..last]
}

/// Prints the comparison of given initial values with derived initial values, in pairs.
pub(super) fn check_of_starts(count: usize, pairs: &str) -> String {
    format!(
        "    {{\n        real pairs[2 * {count}];\n{pairs}        for (int at = 0; at < {count}; at++) {{\n            const real given \
         = pairs[2 * at];\n            const real follows = pairs[2 * at + 1];\n            const real most = (lgm_fabs(given) > \
         lgm_fabs(follows)) ? lgm_fabs(given) : lgm_fabs(follows);\n            if (!(lgm_fabs(follows - given) <= LGM_AGREEMENT * \
         most)) {{\n                return 1;\n            }}\n        }}\n    }}\n    return 0;\n"
    )
}

/// Lines that set all entries of the Jacobian to zero.
pub(super) const ZERO_JACOBIAN: &str = "    for (int row = 0; row < LGM_STATES; row++) {
        for (int column = 0; column < LGM_STATES; column++) {
            jacobian[row][column] = (real)0.0;
        }
    }
";
