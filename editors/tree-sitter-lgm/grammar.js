/**
 * @file Grammar of the lgm language (`.lgm`): linear graphs and bond graphs of physical systems.
 * @license MIT OR Apache-2.0
 *
 * The compiler's own grammar is grammar/lgm.lalrpop in this repository; the rules here have its names where both have
 * a rule for the same thing, and tests/tree_sitter.rs holds the two to the same outline for every example.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

const PRECEDENCE = {
  choice: 1,
  or: 2,
  and: 3,
  not: 4,
  compare: 5,
  sum: 6,
  product: 7,
  negation: 8,
  power: 9,
  postfix: 10,
};

/** One or more of a rule with commas between. */
const commaSeparated = (rule) => seq(rule, repeat(seq(',', rule)));

/** What stands between braces: entries, and stray semicolons, which do no harm. */
const body = (entry) => seq('{', repeat(choice(entry, ';')), '}');

module.exports = grammar({
  name: 'lgm',

  word: ($) => $.identifier,

  extras: ($) => [/[ \t\r\n\f\uFEFF]/, $.line_comment, $.block_comment, $.documentation],

  supertypes: ($) => [$._item, $._statement, $._expression],

  // `vector`, `in`, `table` and `function` are plain names but where they mean something.
  inline: ($) => [$._name],

  rules: {
    source_file: ($) => repeat(choice($._item, ';')),

    _item: ($) =>
      choice($.import, $.domain, $.element, $.modal, $.component, $.model, $.function, $.constant_declaration),

    // ---- Items -----------------------------------------------------------------------------------------------------

    import: ($) => seq('import', field('target', choice($.string, $._name)), ';'),

    domain: ($) =>
      seq('domain', field('name', $._name), body(choice($.domain_variable, $.domain_setting, $.domain_flag))),
    domain_variable: ($) => seq(field('kind', $._name), field('name', $._name), optional($.unit), ';'),
    domain_setting: ($) => seq(field('name', $._name), '=', field('value', $._name), ';'),
    domain_flag: ($) => seq(field('name', $._name), ';'),

    element: ($) =>
      seq(
        'element',
        field('name', $._name),
        optional($.formals),
        optional(seq(':', field('domain', $._name))),
        $._laws,
      ),
    modal: ($) =>
      seq(
        'modal',
        field('name', $._name),
        optional($.formals),
        optional(seq(':', field('domain', $._name))),
        $._laws,
      ),
    component: ($) => seq('component', field('name', $._name), optional($.formals), $.block),
    model: ($) => seq('model', field('name', $._name), $.block),

    // The word is a name elsewhere.
    function: ($) => seq('function', field('name', $._name), $.formals, '=', field('value', $._expression), ';'),

    formals: ($) => seq('(', optional(commaSeparated($.formal)), ')'),
    formal: ($) =>
      seq(
        optional('const'),
        field('name', $._name),
        optional($.unit),
        optional(seq('=', field('default', $._expression))),
      ),

    _laws: ($) => alias($._law_block, $.block),
    _law_block: ($) => body(choice($.port_declaration, $.table_declaration, $.law_setting, $.equation, $.mode, $.mode_change)),
    law_setting: ($) => seq(field('name', $._name), field('value', $._name), ';'),
    equation: ($) => seq(field('left', $._expression), '=', field('right', $._expression), ';'),
    // `mode open { through = 0; }`; the word is a name elsewhere.
    mode: ($) => seq(field('kind', $._name), field('name', $._name), alias($._mode_block, $.block)),
    _mode_block: ($) => body($.equation),
    // `when across < 0 -> open, across = 0;`
    mode_change: ($) =>
      seq(
        'when',
        field('condition', $._expression),
        '->',
        field('to', $._name),
        repeat(seq(',', $.mode_setting)),
        ';',
      ),
    mode_setting: ($) => seq(field('target', $._reference), '=', field('value', $._expression)),

    // ---- Statements ------------------------------------------------------------------------------------------------

    block: ($) => body($._statement),

    _statement: ($) =>
      choice(
        $.node_declaration,
        $.junction_declaration,
        $.port_declaration,
        $.parameter_declaration,
        $.constant_declaration,
        $.input_declaration,
        $.signal_declaration,
        $.output_declaration,
        $.state_declaration,
        $.discrete_declaration,
        $.table_declaration,
        $.instance,
        $.bond_chain,
        $.for_statement,
        $.if_statement,
        $.when_statement,
        $.every_statement,
        $.experiment,
      ),

    node_declaration: ($) => seq('node', $._junctions, ';'),
    junction_declaration: ($) => seq(field('kind', choice('zero', 'one')), $._junctions, ';'),
    _junctions: ($) =>
      seq(
        commaSeparated(choice($.declared, $.attribute)),
        optional(
          seq(':', field('domain', $._name), repeat(seq(',', choice(field('flag', $._name), $.attribute)))),
        ),
      ),
    port_declaration: ($) =>
      seq('port', commaSeparated($.declared), optional(seq(':', field('domain', $._name))), ';'),

    parameter_declaration: ($) => seq('param', $._assigned, ';'),
    constant_declaration: ($) => seq('const', $._assigned, ';'),
    input_declaration: ($) => seq('input', $._assigned, ';'),
    _assigned: ($) =>
      seq(field('name', $._name), optional($.unit), optional(seq('=', field('value', $._expression)))),

    signal_declaration: ($) => seq('signal', $._indexed, ';'),
    output_declaration: ($) => seq('output', $._indexed, ';'),
    state_declaration: ($) => seq('state', $._indexed, ';'),
    discrete_declaration: ($) => seq('discrete', $._indexed, ';'),
    // `table t = [[0, 1], [2, 3]], outside = hold;`; the word is a name elsewhere.
    table_declaration: ($) =>
      seq('table', field('name', $._name), '=', field('value', $._expression), repeat(seq(',', $.attribute)), ';'),
    _indexed: ($) => seq($.declared, '=', field('value', $._expression), repeat(seq(',', $.attribute))),

    declared: ($) => seq(field('name', $._name), repeat($.indices), optional('vector')),
    attribute: ($) => seq(field('name', $._name), '=', field('value', $._expression)),

    // `cell[i] : Section(L = 1, 2) (p = v[i]) a -> b, c -> d, start = 1;`
    instance: ($) =>
      seq(
        field('name', $._reference),
        ':',
        field('kind', $._name),
        optional(seq($.arguments, optional($.bindings))),
        optional(
          choice(
            seq(',', commaSeparated(choice($.branch, $.attribute))),
            seq($.branch, repeat(seq(',', choice($.branch, $.attribute)))),
          ),
        ),
        ';',
      ),
    bindings: ($) => seq('(', optional(commaSeparated($.attribute)), ')'),
    branch: ($) => seq(field('from', $._reference), '->', field('to', $._reference)),
    bond_chain: ($) => seq($._reference, repeat1(seq('->', $._reference)), ';'),

    for_statement: ($) =>
      seq(
        'for',
        field('index', $._name),
        'in',
        field('from', $._expression),
        ':',
        field('to', $._expression),
        field('body', $.block),
      ),
    if_statement: ($) =>
      seq(
        'if',
        field('condition', $._expression),
        field('body', $.block),
        repeat(seq('else', 'if', field('condition', $._expression), field('body', $.block))),
        optional(seq('else', field('body', $.block))),
      ),
    when_statement: ($) => seq('when', field('condition', $._expression), field('body', alias($._actions, $.block))),
    every_statement: ($) =>
      seq(
        'every',
        field('period', $._expression),
        optional(seq('from', field('first', $._expression))),
        field('body', alias($._actions, $.block)),
      ),
    _actions: ($) => body(choice($.assignment, $.conditional_assignment)),
    assignment: ($) => seq(field('target', $._expression), ':=', field('value', $._expression), ';'),
    conditional_assignment: ($) =>
      seq(
        'if',
        field('condition', $._expression),
        field('body', alias($._actions, $.block)),
        repeat(seq('else', 'if', field('condition', $._expression), field('body', alias($._actions, $.block)))),
        optional(seq('else', field('body', alias($._actions, $.block)))),
      ),
    experiment: ($) => seq('experiment', body(seq($.attribute, ';'))),

    // What can stand at the end of an arrow: `x`, `v[i + 1]`, `cell[2].c`.
    _reference: ($) =>
      choice(
        $._name,
        alias($.reference_member, $.member),
        alias($.reference_index, $.index),
      ),
    reference_member: ($) => seq(field('base', $._reference), '.', field('member', $._member_name)),
    reference_index: ($) => seq(field('base', $._reference), $.indices),

    // ---- Expressions -----------------------------------------------------------------------------------------------

    _expression: ($) =>
      choice(
        $.choice,
        $.binary,
        $.negation,
        $.not,
        $.quantity,
        $.number,
        $.list,
        $.string,
        $._name,
        $.parenthesized,
        $.call,
        $.over,
        $.member,
        $.index,
      ),

    choice: ($) =>
      prec.right(
        PRECEDENCE.choice,
        seq(
          'if',
          field('condition', $._expression),
          'then',
          field('value', $._expression),
          'else',
          field('otherwise', $._expression),
        ),
      ),

    binary: ($) => {
      const left = (precedence, sign) =>
        prec.left(
          precedence,
          seq(field('left', $._expression), field('operator', sign), field('right', $._expression)),
        );
      return choice(
        left(PRECEDENCE.or, 'or'),
        left(PRECEDENCE.and, 'and'),
        left(PRECEDENCE.compare, choice('<', '<=', '>', '>=', '==', '!=')),
        left(PRECEDENCE.sum, choice('+', '-')),
        left(PRECEDENCE.product, choice('*', '/')),
        prec.right(
          PRECEDENCE.power,
          seq(field('left', $._expression), field('operator', '^'), field('right', $._expression)),
        ),
      );
    },

    // `-a^2` is -(a^2), and `a^-b^c` is a^(-(b^c)).
    negation: ($) => prec(PRECEDENCE.negation, seq('-', $._expression)),
    not: ($) => prec(PRECEDENCE.not, seq('not', $._expression)),

    // A unit binds to the literal before it; after anything else brackets are an index, or a unit after a space.
    quantity: ($) => prec(PRECEDENCE.postfix, seq($.number, $.unit)),
    list: ($) => prec.right(PRECEDENCE.postfix, seq('[', commaSeparated($._expression), ']', optional($.unit))),
    parenthesized: ($) => seq('(', $._expression, ')'),

    call: ($) => prec(PRECEDENCE.postfix, seq(field('function', $._name), $.arguments)),
    arguments: ($) => seq('(', optional(commaSeparated($._argument)), ')'),
    _argument: ($) => choice($._expression, alias($.attribute, $.named_argument), $.bond),
    // A measure may name a bond: `flow(J -> R1)`.
    bond: ($) => seq(field('from', $._expression), '->', field('to', $._expression)),
    // `sum(i in 1:n, body)`
    over: ($) =>
      prec(
        PRECEDENCE.postfix,
        seq(
          field('function', $._name),
          '(',
          field('index', $._name),
          'in',
          field('from', $._expression),
          ':',
          field('to', $._expression),
          ',',
          field('body', $._expression),
          ')',
        ),
      ),
    member: ($) =>
      prec(PRECEDENCE.postfix, seq(field('base', $._expression), '.', field('member', $._member_name))),
    index: ($) => prec(PRECEDENCE.postfix, seq(field('base', $._expression), $.indices)),
    indices: ($) => seq('[', choice('%', commaSeparated($._expression)), ']'),

    // ---- Units -----------------------------------------------------------------------------------------------------

    unit: ($) => seq('[', $._unit_product, ']'),
    _unit_product: ($) => seq($._unit_part, repeat(seq(choice('.', '/', '*'), $._unit_part))),
    _unit_part: ($) =>
      seq(
        choice(alias(choice($._name, '%'), $.unit_name), $.number, seq('(', $._unit_product, ')')),
        optional(seq('^', $.exponent)),
      ),
    exponent: ($) => {
      const integer = seq(optional('-'), $.number);
      return choice(integer, seq('(', integer, optional(seq('/', integer)), ')'));
    },

    // ---- Words -----------------------------------------------------------------------------------------------------

    _name: ($) => choice($.identifier, alias(choice('in', 'vector', 'table', 'function'), $.identifier)),
    // `bar.port[k]` is a port of a modal block.
    _member_name: ($) => choice($._name, alias('port', $.identifier)),

    identifier: () => /[A-Za-z_][A-Za-z0-9_]*/,
    number: () => /[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/,
    string: () => /"[^"\n]*"/,

    documentation: () => token(prec(1, /\/\/\/([^\/\n][^\n]*)?/)),
    line_comment: () => token(prec(0, /\/\/[^\n]*/)),
    block_comment: () => token(/\/\*[^*]*\*+([^/*][^*]*\*+)*\//),
  },
});
