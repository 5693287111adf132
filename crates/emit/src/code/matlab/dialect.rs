//! Expressions and functions in MATLAB and Octave: one statement computes all lanes of a loop; arrays are columns that
//! are counted from 1.

use crate::code::dialect::{
    Array, Binding, Dialect, Lane, Operation, Text, function_name, function_name_of_two, operator, relation,
};
use crate::code::functions::{Language, Signature, integers, listed, wrapped};
use crate::code::named::Naming;
use crate::code::names::{Rules, one_line};
use crate::code::script::{self, Head, Places, ScriptLanguage, Style, double, wrapped_words};
use crate::code::subject::Parameter;
use lgm_kernels::operation::{Binary, Space, Unary};
use lgm_kernels::program::Index;

/// Words that are not names, and functions that the emitted files call.
pub(super) const RULES: Rules = Rules {
    reserved: "break case catch classdef continue do else elseif end end_try_catch end_unwind_protect endclassdef \
        endenumeration endevents endfor endfunction endif endmethods endparfor endproperties endswitch endwhile \
        enumeration events for function global if methods otherwise parfor persistent properties return spmd switch \
        try until unwind_protect unwind_protect_cleanup while __FILE__ __LINE__ abs acos all any asin asinh atan atan2 \
        ceil containers cos cosh deal diag diff double eps error exp expm1 false fclose feval fieldnames find fix \
        floor fopen fprintf func2str i inf Inf interp1 isempty isequaln isfield isfinite isnan isscalar j linspace log \
        lower lu max min mod NaN nan nargin numel ode15s ode23 ode23s ode45 odeset ones pi reshape sign sin sinh size \
        sparse sqrt ss struct sum tan tanh true unique upper zeros",
    ignores_case: false,
    snake: false,
};

/// Names that the files themselves use in functions.
const TAKEN: &str = "t x u du w p m r y dx out s entries numbers model value";

/// MATLAB.
#[derive(Clone, Copy)]
pub(super) struct Matlab<'n> {
    /// The names of a model; none over columns.
    pub(super) names: Option<&'n Places>,
}

/// A double as it stands alone.
pub(super) fn literal(value: f64) -> String {
    double(value, "NaN", "Inf")
}

/// A text of a line.
pub(super) fn quote(text: &str) -> String {
    one_line(text).replace('\'', "''").replace('%', "%%")
}

impl Dialect for Matlab<'_> {
    fn literal(&self, value: f64) -> String {
        literal(value)
    }

    script::notation!("pi", "^", 1);

    fn name_of_one(&self, operation: Unary) -> String {
        // Outside their domains, these are complex in this language.
        let ending = match operation {
            Unary::SquareRoot | Unary::Log | Unary::Asin | Unary::Acos => "_of",
            _ => "",
        };
        format!("{}{ending}", function_name(operation))
    }

    fn name_of_two(&self, operation: Binary) -> String {
        let ending = match operation {
            Binary::Atan2 => "",
            _ => "_of",
        };
        format!("{}{ending}", function_name_of_two(operation))
    }

    fn operator(&self, operation: Binary, lane: Lane) -> &'static str {
        match (operation, lane) {
            (Binary::Multiply, Lane::Of(_)) => ".*",
            (Binary::Divide, Lane::Of(_)) => "./",
            _ => operator(operation),
        }
    }

    fn holds(&self, a: &Text) -> Text {
        Text::new(Binding::Loose, format!("{} ~= 0", a.within(Binding::Sum)))
    }

    fn as_number(&self, condition: &Text) -> Text {
        Text::atom(format!("double({})", condition.text))
    }

    fn select(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        Text::atom(format!("choice_of({}, {}, {})", condition.text, a.text, b.text))
    }

    fn relation(&self, operation: Binary) -> &'static str {
        match operation {
            Binary::NotEqual => "~=",
            Binary::And => "&",
            Binary::Or => "|",
            _ => relation(operation),
        }
    }

    fn negation(&self, a: &Text) -> Text {
        Text::new(Binding::Loose, format!("~({})", a.text))
    }

    fn remark(&self, remark: &str) -> String {
        format!("  % {remark}")
    }

    fn fixed_index(&self, first: u32) -> String {
        (u64::from(first) + 1).to_string()
    }

    fn brackets(&self) -> [char; 2] {
        ['(', ')']
    }

    fn lane_index(&self, first: u32, stride: i32, count: u32) -> String {
        let first = i64::from(first) + 1;
        let last = first + i64::from(stride) * (i64::from(count) - 1);
        match stride {
            1 => format!("{first}:{last}"),
            _ => format!("{first}:{stride}:{last}"),
        }
    }
}

/// Operations for which the language has no equivalent function.
const HELPERS: [(Operation, &str); 8] = [
    (
        Operation::One(Unary::SquareRoot),
        "function value = sqrt_of(a)
    a(a < 0) = NaN;
    value = sqrt(a);
end
",
    ),
    (
        Operation::One(Unary::Log),
        "function value = log_of(a)
    a(a < 0) = NaN;
    value = log(a);
end
",
    ),
    (
        Operation::One(Unary::Asin),
        "function value = asin_of(a)
    a(abs(a) > 1) = NaN;
    value = asin(a);
end
",
    ),
    (
        Operation::One(Unary::Acos),
        "function value = acos_of(a)
    a(abs(a) > 1) = NaN;
    value = acos(a);
end
",
    ),
    (
        Operation::Two(Binary::Minimum),
        "function value = minimum_of(a, b)
    % Not a number where either is none.
    value = min(a, b);
    value(isnan(a) | isnan(b)) = NaN;
end
",
    ),
    (
        Operation::Two(Binary::Maximum),
        "function value = maximum_of(a, b)
    % Not a number where either is none.
    value = max(a, b);
    value(isnan(a) | isnan(b)) = NaN;
end
",
    ),
    (
        Operation::Two(Binary::Power),
        "function value = power_of(a, b)
    % Not a number where it would be complex.
    a = a + zeros(size(b));
    b = b + zeros(size(a));
    a(a < 0 & b ~= fix(b)) = NaN;
    value = a.^b;
end
",
    ),
    (
        Operation::Choice,
        "function value = choice_of(condition, a, b)
    if isscalar(condition)
        if condition
            value = a;
        else
            value = b;
        end
    else
        every = ones(size(condition));
        a = a .* every;
        value = b .* every;
        value(condition) = a(condition);
    end
end
",
    ),
];

/// The helpers that functions call.
pub(super) fn helpers(operations: &[Operation]) -> String {
    let helpers = HELPERS.iter().filter(|helper| operations.contains(&helper.0));
    helpers.map(|helper| format!("{}\n", helper.1)).collect()
}

impl Language for Matlab<'_> {
    fn constant(&self, name: String) -> String {
        name
    }

    /// A function that is read as if it were the table.
    fn table(&self, name: &str, entries: &[String], _is_index: bool) -> String {
        let entries = wrapped(entries).replace(',', ";");
        format!(
            "function value = {name}(at)\n    persistent table\n    if isempty(table)\n        table = [{entries}];\n    end\n    \
             value = table(at);\nend\n\n"
        )
    }

    fn open(&self, signature: &Signature<'_>) -> String {
        let arrays: Vec<(Array, String)> = signature
            .arrays
            .iter()
            .map(|array| (*array, array.name().to_string()))
            .collect();
        format!("function {}{}({})", results(&arrays), signature.name, listed(&arrays))
    }

    fn close(&self) -> &'static str {
        "end\n\n"
    }

    fn call(&self, name: &str, arguments: &[(Array, String)]) -> String {
        format!("{}{name}({});", results(arguments), listed(arguments))
    }
}

impl ScriptLanguage for Matlab<'_> {
    fn naming(&self) -> Naming {
        Naming {
            rules: RULES,
            taken: TAKEN,
            longest: 48,
            entry: |parameter: &Parameter, member, at| match parameter.shape.as_slice() {
                [] => format!("p.{member}"),
                [_, columns] => format!("p.{member}({}, {})", at / columns + 1, at % columns + 1),
                _ => format!("p.{member}({})", at + 1),
            },
        }
    }

    fn style(&self) -> Style {
        Style {
            brackets: ["", ""],
            mark: " ...",
            ends_lines: false,
        }
    }

    fn begin(&self, head: &Head<'_>) -> String {
        let words: Vec<String> = head
            .words
            .iter()
            .map(|line| wrapped_words("    % ", &one_line(line)))
            .collect();
        format!(
            "function {} = {}({})\n{}\n",
            head.result,
            head.name,
            head.arguments,
            words.join("\n")
        )
    }

    fn finish(&self, _result: &str) -> String {
        "end\n\n".to_string()
    }

    fn finish_with(&self, result: &str, values: &[String], remark: &str) -> String {
        let remark = script::remark("%", remark);
        format!("    {result} = [{}];{remark}\nend\n\n", values.join("; "))
    }

    fn zeros(&self, name: &str, rows: usize, columns: Option<usize>) -> String {
        format!("{name} = zeros({rows}, {});", columns.unwrap_or(1))
    }

    fn sparse(&self, name: &str, places: [Vec<usize>; 2], size: [usize; 2]) -> String {
        let [rows, columns] = places.map(|list| {
            let list: Vec<usize> = list.iter().map(|at| at + 1).collect();
            format!("[{}]", integers(&list).replace('\n', " ...\n"))
        });
        format!("{name} = sparse({rows}, {columns}, entries, {}, {});", size[0], size[1])
    }

    fn quote(&self, text: &str) -> String {
        one_line(text)
    }

    fn flat(&self) -> &'static str {
        "entries_of(p)"
    }
}

/// `[s, out] = `: what a function gives back of what it takes.
fn results(arguments: &[(Array, String)]) -> String {
    let written = arguments
        .iter()
        .filter(|(array, _)| matches!(array, Array::Read(Space::Temporaries) | Array::Output));
    let written: Vec<&str> = written.map(|argument| argument.1.as_str()).collect();
    match written.as_slice() {
        [] => String::new(),
        [only] => format!("{only} = "),
        list => format!("[{}] = ", list.join(", ")),
    }
}
