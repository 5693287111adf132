[
  (block)
  (domain)
  (experiment)
  (arguments)
  (bindings)
  (formals)
  (list)
  (parenthesized)
] @indent.begin

[
  "}"
  ")"
  "]"
] @indent.branch @indent.end

[
  (line_comment)
  (block_comment)
  (documentation)
] @indent.ignore
