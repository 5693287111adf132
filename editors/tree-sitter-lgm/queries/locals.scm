; A name of a model or component is known in all of its body, loops and conditions included.
[
  (model)
  (component)
  (element)
  (modal)
  (for_statement)
  (over)
] @local.scope

(formal name: (identifier) @local.definition.parameter)
(parameter_declaration name: (identifier) @local.definition.parameter)
(constant_declaration name: (identifier) @local.definition.constant)
(input_declaration name: (identifier) @local.definition.parameter)
(declared name: (identifier) @local.definition.var)
(instance name: (identifier) @local.definition.var)
(for_statement index: (identifier) @local.definition.var)
(over index: (identifier) @local.definition.var)

(identifier) @local.reference
