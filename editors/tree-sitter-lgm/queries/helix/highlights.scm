; Of highlights.scm, in the opposite order: earlier patterns win over later ones in Helix.

[
  "."
  ","
  ":"
  ";"
] @punctuation.delimiter
[
  "("
  ")"
  "["
  "]"
  "{"
  "}"
] @punctuation.bracket
[
  "+"
  "-"
  "*"
  "/"
  "^"
  "="
  "=="
  "!="
  "<"
  "<="
  ">"
  ">="
  "->"
  ":="
] @operator
[
  "and"
  "or"
  "not"
] @keyword.operator
[
  "if"
  "when"
  "then"
  "else"
] @keyword.conditional
[
  "for"
  "in"
  "every"
  "from"
] @keyword.repeat
[
  "import"
  "domain"
  "element"
  "modal"
  "component"
  "model"
  "node"
  "zero"
  "one"
  "port"
  "param"
  "const"
  "input"
  "signal"
  "output"
  "state"
  "discrete"
  "function"
  "table"
  "experiment"
  "vector"
] @keyword
(documentation) @comment.documentation
(block_comment) @comment
(line_comment) @comment
(string) @string
(number) @number
(exponent (number) @number)
(unit_name) @type.builtin
((identifier) @constant.builtin
  (#eq? @constant.builtin "pi"))
((identifier) @variable.builtin
  (#any-of? @variable.builtin "across" "through" "time" "gnd"))
((over function: (identifier) @function.builtin)
  (#any-of? @function.builtin "sum" "list" "root"))
((call function: (identifier) @function.builtin)
  (#any-of? @function.builtin
    "across" "through" "effort" "flow" "power" "energy" "displacement" "velocity" "force" "shear" "moment"
    "der" "int" "before" "delay" "sin" "cos" "tan" "asin" "acos" "atan" "atan2" "sinh" "cosh" "tanh" "asinh" "exp" "log" "sqrt"
    "log10" "abs" "sign" "min" "max" "mod" "round" "floor" "step" "pulse" "square" "sawtooth" "trapezoid" "ramp" "csv"
    "transpose" "diag" "identity"))
(over function: (identifier) @function)
(call function: (identifier) @function)
(member member: (identifier) @variable.member)
(named_argument name: (identifier) @variable.parameter)
(attribute name: (identifier) @property)
((when_statement condition: (identifier) @variable.builtin)
  (#eq? @variable.builtin "initially"))
((attribute name: (identifier) @property value: (identifier) @constant)
  (#eq? @property "mode"))
(mode_change to: (identifier) @constant)
(mode name: (identifier) @constant)
(mode kind: (identifier) @keyword)
(law_setting name: (identifier) @property)
(domain_flag name: (identifier) @attribute)
(domain_setting value: (identifier) @keyword)
(domain_setting name: (identifier) @property)
(domain_variable kind: (identifier) @keyword)
(import target: (identifier) @module)
(junction_declaration flag: (identifier) @attribute)
(node_declaration flag: (identifier) @attribute)
(port_declaration domain: (identifier) @type)
(junction_declaration domain: (identifier) @type)
(node_declaration domain: (identifier) @type)
(modal domain: (identifier) @type)
(element domain: (identifier) @type)
(instance kind: (identifier) @type)
(input_declaration name: (identifier) @variable.parameter)
(constant_declaration name: (identifier) @constant)
(parameter_declaration name: (identifier) @variable.parameter)
(formal name: (identifier) @variable.parameter)
(table_declaration name: (identifier) @function)
(function name: (identifier) @function)
(model name: (identifier) @type)
(component name: (identifier) @type)
(modal name: (identifier) @type)
(element name: (identifier) @type)
(domain name: (identifier) @type)
(identifier) @variable
