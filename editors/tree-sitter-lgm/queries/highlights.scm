; Later patterns win over earlier ones.

(identifier) @variable

; Names where they are declared.
(domain name: (identifier) @type)
(element name: (identifier) @type)
(modal name: (identifier) @type)
(component name: (identifier) @type)
(model name: (identifier) @type)
(function name: (identifier) @function)
(table_declaration name: (identifier) @function)
(formal name: (identifier) @variable.parameter)
(parameter_declaration name: (identifier) @variable.parameter)
(constant_declaration name: (identifier) @constant)
(input_declaration name: (identifier) @variable.parameter)

; Elements, components and domains where they are used.
(instance kind: (identifier) @type)
(element domain: (identifier) @type)
(modal domain: (identifier) @type)
(node_declaration domain: (identifier) @type)
(junction_declaration domain: (identifier) @type)
(port_declaration domain: (identifier) @type)
(node_declaration flag: (identifier) @attribute)
(junction_declaration flag: (identifier) @attribute)
(import target: (identifier) @module)

(domain_variable kind: (identifier) @keyword)
(domain_setting name: (identifier) @property)
(domain_setting value: (identifier) @keyword)
(domain_flag name: (identifier) @attribute)
(law_setting name: (identifier) @property)

(mode kind: (identifier) @keyword)
(mode name: (identifier) @constant)
(mode_change to: (identifier) @constant)
((attribute name: (identifier) @property value: (identifier) @constant)
  (#eq? @property "mode"))
((when_statement condition: (identifier) @variable.builtin)
  (#eq? @variable.builtin "initially"))

(attribute name: (identifier) @property)
(named_argument name: (identifier) @variable.parameter)
(member member: (identifier) @variable.member)

(call function: (identifier) @function)
(over function: (identifier) @function)
((call function: (identifier) @function.builtin)
  (#any-of? @function.builtin
    "across" "through" "effort" "flow" "power" "energy" "displacement" "velocity" "force" "shear" "moment"
    "der" "int" "before" "delay" "sin" "cos" "tan" "asin" "acos" "atan" "atan2" "sinh" "cosh" "tanh" "asinh" "exp" "log" "sqrt"
    "log10" "abs" "sign" "min" "max" "mod" "round" "floor" "step" "pulse" "square" "sawtooth" "trapezoid" "ramp" "csv"
    "transpose" "diag" "identity"))
((over function: (identifier) @function.builtin)
  (#any-of? @function.builtin "sum" "list" "root"))

((identifier) @variable.builtin
  (#any-of? @variable.builtin "across" "through" "time" "gnd"))
((identifier) @constant.builtin
  (#eq? @constant.builtin "pi"))

(unit_name) @type.builtin
(exponent (number) @number)
(number) @number
(string) @string

(line_comment) @comment
(block_comment) @comment
(documentation) @comment.documentation

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

[
  "for"
  "in"
  "every"
  "from"
] @keyword.repeat

[
  "if"
  "when"
  "then"
  "else"
] @keyword.conditional

[
  "and"
  "or"
  "not"
] @keyword.operator

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
  "("
  ")"
  "["
  "]"
  "{"
  "}"
] @punctuation.bracket

[
  "."
  ","
  ":"
  ";"
] @punctuation.delimiter
