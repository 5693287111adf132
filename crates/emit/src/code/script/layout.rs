//! Lines of bounded length.

/// The maximum width of a line.
pub(super) const WIDTH: usize = 110;

/// The continuation of a statement on the next line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// The brackets around a value that takes several lines.
    pub(crate) brackets: [&'static str; 2],
    /// The mark at the end of a line that goes on.
    pub(crate) mark: &'static str,
    /// True if an operator ends its line; otherwise, it begins the next one.
    pub(crate) ends_lines: bool,
}

fn is_operator(word: &str) -> bool {
    matches!(word, "+" | "-" | "if" | "else" | "&&" | "||" | "and" | "or")
}

/// Prints `place = value` with a remark, over several lines if it is long.
pub(crate) fn wrapped_statement(
    indent: usize,
    place: &str,
    value: &str,
    (end, remark): (&str, &str),
    style: Style,
) -> String {
    let blank = " ".repeat(indent);
    let whole = format!("{blank}{place} = {value}{end}");
    if whole.len() <= WIDTH {
        return format!("{whole}{remark}\n");
    }
    let mut lines = vec![String::new()];
    let words: Vec<&str> = value.split(' ').collect();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).map_or(0, |next| next.len() + 1);
        let last = lines.last_mut().expect("invariant: there is a line");
        let is_full = indent + 4 + last.len() + word.len() + next + 4 > WIDTH;
        match (is_operator(word) && is_full, style.ends_lines) {
            (true, true) => {
                last.push(' ');
                last.push_str(word);
                lines.push(String::new());
                continue;
            }
            (true, false) => lines.push(String::new()),
            (false, _) if !last.is_empty() => last.push(' '),
            (false, _) => {}
        }
        lines.last_mut().expect("invariant: there is a line").push_str(word);
    }
    let [open, close] = style.brackets;
    let inner = lines.join(&format!("{}\n{blank}    ", style.mark));
    match (open, style.mark) {
        ("", "") => format!("{blank}{place} = {inner}{end}{remark}\n"),
        ("", mark) => format!("{blank}{place} ={mark}\n{blank}    {inner}{end}{remark}\n"),
        _ => format!("{blank}{place} = {open}\n{blank}    {inner}\n{blank}{close}{end}{remark}\n"),
    }
}

/// Prints a paragraph in lines that begin with a prefix.
pub(crate) fn wrapped_words(prefix: &str, text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut().filter(|line| line.len() + word.len() < WIDTH) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(format!("{prefix}{word}")),
        }
    }
    lines.join("\n")
}
