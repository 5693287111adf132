//! The style of formatted texts.

use super::{assert_harmless, formatted};
use lgm::source::SourceId;
use lgm::syntax::format;

/// The lines of a text that the formatter changes: pairs of lines before and after.
fn changes(text: &str) -> Vec<String> {
    let result = assert_harmless(text);
    assert_eq!(
        text.lines().count(),
        result.lines().count(),
        "lines are added or lost:\n{result}"
    );
    let pairs = text
        .lines()
        .zip(result.lines())
        .filter(|(before, after)| before != after);
    pairs
        .flat_map(|(before, after)| [format!("-{before}"), format!("+{after}")])
        .collect()
}

/// The language page is the style guide. Only these of its lines change.
#[test]
fn the_page_of_the_language_changes_in_known_lines_only() {
    let page = include_str!("../../../docs/language.md");
    let snippets = page
        .split("```lgm\n")
        .skip(1)
        .map(|part| part.split("```").next().unwrap());
    let changed: Vec<String> = snippets.flat_map(changes).collect();
    let expected = "
# A comment that no other comment stands under is not lined up: two blanks in front of it.
-  param m1 = 2;  param m2 = 3;  param ratio = 1.5;   // b/a
+  param m1 = 2;  param m2 = 3;  param ratio = 1.5;  // b/a
-  SE -> A -> I1;                   // each arrow is a bond; power is positive along it
+  SE -> A -> I1;  // each arrow is a bond; power is positive along it
# The widest row of a column has one or two blanks, not more: columns move in.
-domain electrical    { across v [V];      through i [A];        effort = across; }
+domain electrical    { across v [V];      through i [A];      effort = across; }
-domain translational { across v [m/s];    through F [N];        effort = through; }
+domain translational { across v [m/s];    through F [N];      effort = through; }
-domain rotational    { across w [rad/s];  through tau [N.m];    effort = through; }
+domain rotational    { across w [rad/s];  through tau [N.m];  effort = through; }
-domain fluid         { across P [Pa];     through Q [m^3/s];    effort = across; }
+domain fluid         { across P [Pa];     through Q [m^3/s];  effort = across; }
-domain thermal       { across T [K];      through q [W];        effort = across; pseudo; }
+domain thermal       { across T [K];      through q [W];      effort = across; pseudo; }
-element Mass(m [kg])        : translational { through = m*der(across); }
+element Mass(m [kg])      : translational { through = m*der(across); }
-element Spring(k [N/m])     : translational { der(through) = k*across; }
+element Spring(k [N/m])   : translational { der(through) = k*across; }
-element Damper(b [N.s/m])   : translational { through = b*across; }
+element Damper(b [N.s/m]) : translational { through = b*across; }
# Comments that are alone.
-  const N = 4;                       // a structural parameter: fixed when compiling
+  const N = 4;  // a structural parameter: fixed when compiling
-  node q[2] vector : translational;          // one node of width 2
+  node q[2] vector : translational;  // one node of width 2
# Columns that move in.
-  push : ForceSource([F, 0])                       gnd -> q;
+  push : ForceSource([F, 0])                  gnd -> q;
-  M    : Mass([[m1, 0], [0, m2]])                  q -> gnd;
+  M    : Mass([[m1, 0], [0, m2]])             q -> gnd;
-  K    : Spring([[k1 + k2, -k2], [-k2, k2]])       q -> gnd;
+  K    : Spring([[k1 + k2, -k2], [-k2, k2]])  q -> gnd;
-  arm   : Transformer([[L*cos(theta)], [L*sin(theta)]]) w -> gnd, p -> gnd;
+  arm  : Transformer([[L*cos(theta)], [L*sin(theta)]]) w -> gnd, p -> gnd;
-  bob   : Mass(m)                     p -> gnd;      // a scalar m means m times the identity
+  bob  : Mass(m)                 p -> gnd;  // a scalar m means m times the identity
-  grav  : ForceSource([0, -m*g])      gnd -> p;
+  grav : ForceSource([0, -m*g])  gnd -> p;";
    let expected: Vec<&str> = expected.lines().filter(|line| line.starts_with(['-', '+'])).collect();
    assert_eq!(changed.join("\n"), expected.join("\n"));
}

/// Checks one text and its formatted form, which must not change when formatted again.
fn check(before: &str, after: &str) {
    let result = assert_harmless(before);
    assert_eq!(result, after, "\n--- is:\n{result}\n--- should be:\n{after}");
    assert_eq!(formatted(after), after);
}

/// Checks the statements of a model, each line of `after` indented by the model's two spaces.
fn check_body(before: &str, after: &str) {
    let indented = after.lines().map(|line| match line {
        "" => "\n".to_string(),
        line => format!("  {line}\n"),
    });
    let after = format!("model M {{\n{}}}\n", indented.collect::<String>());
    check(&format!("model M {{\n{before}\n}}"), &after);
}

#[test]
fn words_are_spaced_as_the_language_writes_them() {
    for (before, after) in [
        ("param a=b+c*d/e^f-g;", "param a = b + c * d / e ^ f - g;"),
        ("param a=- b*- c^ - d- -e;", "param a = -b * -c ^ -d - -e;"),
        (
            "param a [ kg . m ^ 2/( s.K ) ^(-1/ 2) ]=2[ kg ];",
            "param a [kg.m^2/(s.K)^(-1/2)] = 2 [kg];",
        ),
        ("param K=[ [1,2],[3 ,4] ][N/m];", "param K = [[1, 2], [3, 4]] [N/m];"),
        (
            "signal s=f( a,b )[ 1 ]+K[i,j]*c.d [2].e;",
            "signal s = f(a, b)[1] + K[i, j] * c.d[2].e;",
        ),
        (
            "signal s=sum( i in 1 : N ,v[i+1]);",
            "signal s = sum(i in 1:N, v[i + 1]);",
        ),
        (
            "signal s=if a<=b and not(c) then (d) else-e;",
            "signal s = if a <= b and not (c) then (d) else -e;",
        ),
        ("output f=flow(J->R1);", "output f = flow(J -> R1);"),
        ("node q [ 2 ]vector:d,floating;", "node q[2] vector : d, floating;"),
        ("node in,vector[2]vector:vector;", "node in, vector[2] vector : vector;"),
        ("in:in(in=in)in[1]->in;", "in : in(in = in) in[1] -> in;"),
        (
            "a [ i ]:B( C=1 )( p=v [i] ),start=1;",
            "a[i] : B(C = 1) (p = v[i]), start = 1;",
        ),
        (
            "state z [2] = int( [a,b][N] ),start = [0,0];",
            "state z[2] = int([a, b] [N]), start = [0, 0];",
        ),
        (
            "bar:Modal(at=[1])x->gnd;y->bar . port [ 1 ];",
            "bar : Modal(at = [1]) x -> gnd; y -> bar.port[1];",
        ),
        ("for i in a+1 : 2*N{one x[i];}", "for i in a + 1:2*N { one x[i]; }"),
        (
            "if(a)==b{}else if c{one x;}else{}",
            "if (a) == b {} else if c { one x; } else {}",
        ),
        (
            "experiment{stop=5[s];method=\"a  b\";}",
            "experiment { stop = 5 [s]; method = \"a  b\"; }",
        ),
        ("a->b ; ; c->d ;", "a -> b;; c -> d;"),
    ] {
        check_body(
            before,
            &after.replace(" * ", "*").replace(" / ", "/").replace(" ^ ", "^"),
        );
    }
    check(
        "import\"a  b.lgm\" ;import name;",
        "import \"a  b.lgm\"; import name;\n",
    );
    check(
        "element E(const n,R[ohm]=[a[1],2][V],k = x [1]):d{port a,b[2]vector:e;through=R*across[1];}",
        "element E(const n, R [ohm] = [a[1], 2] [V], k = x[1]) : d {\n  port a, b[2] vector : e; through = R*across[1];\n}\n",
    );
    check(
        "domain d{across in[V];through i[A];effort=across;}",
        "domain d { across in [V]; through i [A]; effort = across; }\n",
    );
    check(
        "modal B:d{mode i;shape( x )=sin(x);}",
        "modal B : d { mode i; shape(x) = sin(x); }\n",
    );
    // Numbers and dots stay apart if joining them would change their meaning.
    check_body("param a = 2 [1 . 1];", "param a = 2 [1 . 1];");
    check_body("param a = 2 [m^2 ./* c */s];", "param a = 2 [m^2 . /* c */ s];");
}

#[test]
fn blocks_blank_lines_and_statements_stand_as_the_author_put_them() {
    check("", "");
    check(" \n\n ", "");
    check("\n\nmodel M { }\n\n\n", "model M {}\n");
    check(
        "model A {\n\n\none a;\n\n\n\none b;\n\n}\nmodel B {\none c; }",
        "model A {\n  one a;\n\n  one b;\n}\nmodel B {\n  one c;\n}\n",
    );
    check_body("one a;   one b; one c;", "one a; one b; one c;");
    check_body("one a;   one b;  one c;", "one a;  one b;  one c;");
    check_body(
        "if a {\n one b; } else { one c; }",
        "if a {\n  one b;\n} else {\n  one c;\n}",
    );
    check_body(
        "if a {\n}\nelse if b\n{ one c;\n} else {}",
        "if a {} else if b {\n  one c;\n} else {}",
    );
    check_body(
        "for i in 1:2 { for j in 1:2 { one c; } }",
        "for i in 1:2 {\n  for j in 1:2 { one c; }\n}",
    );
    let long = "param a_long_name = 1; ".repeat(5);
    check_body(&long, &["param a_long_name = 1;\n"; 5].concat());
    let law = "element E(k) : d { through = k*a_rather_long_name_of_a_parameter*across + another_one*der(across)*2; }";
    assert!(law.len() > 100);
    check(law, &law.replace("{ ", "{\n  ").replace("; }", ";\n}\n"));
}

#[test]
fn comments_stay_with_their_words() {
    check(
        "// top\n\n\n/// doc  \nmodel M{// open\n// first\none a;// a\n/* alone */\n/* b */one b; /* c */ // d\n\n// last\n\n}// end\n/* of file */",
        "// top\n\n/// doc\nmodel M {  // open\n  // first\n  one a;  // a\n  /* alone */\n  /* b */ one b;  /* c */ // d\n\n  // last\n}  // end\n/* of file */\n",
    );
    check_body(
        "one a; // one\n       // two\n// three\none b;",
        "one a;  // one\n        // two\n// three\none b;",
    );
    check_body(
        "a : R( /* value */ 1,/* other */2 /* last */ );",
        "a : R(/* value */ 1, /* other */ 2 /* last */);",
    );
    check_body(
        "a : R(x, // first\n // second\ny) b -> c;",
        "a : R(x,  // first\n      // second\n      y) b -> c;",
    );
    check_body(
        "if a { one b; } // why\n else { one c; }",
        "if a { one b; }  // why\nelse { one c; }",
    );
    check(
        "model M { one a; /* over\n   lines */ one b; }",
        "model M {\n  one a;  /* over\n   lines */\n  one b;\n}\n",
    );
}

#[test]
fn columns_line_up_where_people_line_them_up() {
    // Names are always aligned; branches if it costs little.
    check_body(
        "mass : Mass(m) x -> gnd;\ns : Spring(k) x -> gnd;\nm -> s;\nlong_name:R(1) y -> z;",
        "mass      : Mass(m)   x -> gnd;\ns         : Spring(k) x -> gnd;\nm -> s;\nlong_name : R(1)      y -> z;",
    );
    check_body(
        "motor : TorqueSource(Kp*e + Ki*ie) gnd -> shaft;\nrotor : Inertia(J) shaft -> gnd;",
        "motor : TorqueSource(Kp*e + Ki*ie) gnd -> shaft;\nrotor : Inertia(J) shaft -> gnd;",
    );
    // If it costs more, only if the author aligned them; a new one among them moves too.
    check_body(
        "motor : TorqueSource(Kp*e + Ki*ie) gnd -> shaft;\nrotor : Inertia(J)                 shaft -> gnd;\ndrag : D(1) shaft -> gnd;",
        "motor : TorqueSource(Kp*e + Ki*ie) gnd -> shaft;\nrotor : Inertia(J)                 shaft -> gnd;\ndrag  : D(1)                       shaft -> gnd;",
    );
    // Declarations only if the author aligned them, up to the next blank line.
    check_body(
        "param a = 1;\nparam bcd = 2;\n\nparam e   = 1;\nparam f   = 3;\nparam ghij = 2;",
        "param a = 1;\nparam bcd = 2;\n\nparam e    = 1;\nparam f    = 3;\nparam ghij = 2;",
    );
    check_body(
        "node a    : d;\nnode b, c : d;\nx : R(1)  a   -> b;\ny : R(1)  bcd -> e;",
        "node a    : d;\nnode b, c : d;\nx : R(1) a   -> b;\ny : R(1) bcd -> e;",
    );
    // Comments are aligned, even across the blank lines of a block.
    check_body(
        "one a;    // a\none bcd;  // b\none e; // c",
        "one a;    // a\none bcd;  // b\none e;    // c",
    );
    check_body(
        "one a;     // a\n\none bcd;   // b",
        "one a;     // a\n\none bcd;   // b",
    );
    check_body("one a;  // a\n\none bcd;  // b", "one a;  // a\n\none bcd;  // b");
    check(
        "element A(b) : e     { x = 1; }\nelement Bcd  : fgh   { y = 1; }\nelement F(gh) : i { z = 1; }",
        "element A(b)  : e   { x = 1; }\nelement Bcd   : fgh { y = 1; }\nelement F(gh) : i   { z = 1; }\n",
    );
}

#[test]
fn long_lines_break_as_far_outside_of_brackets_as_they_can() {
    check_body(
        "beam : Cantilever(rho = 7850, E = 210e9, A = 0.01, I = 8.3e-6, L = 1.5, modes = n, zeta = 0.01, at = [0.4, 1.0]) a -> gnd, b -> gnd;",
        "beam : Cantilever(rho = 7850, E = 210e9, A = 0.01, I = 8.3e-6, L = 1.5, modes = n, zeta = 0.01,
                  at = [0.4, 1.0]) a -> gnd, b -> gnd;",
    );
    check_body(
        "T : Transformer([[a_long_factor*cos(theta), -a_long_factor*sin(theta)], [a_long_factor*sin(theta), cos(theta)]]) w -> gnd;",
        "T : Transformer([[a_long_factor*cos(theta), -a_long_factor*sin(theta)],
                 [a_long_factor*sin(theta), cos(theta)]]) w -> gnd;",
    );
    // The rows of a matrix may be aligned even if they need not be.
    check_body(
        "param K = [[1, 2],\n[3, 4], [5, 6]];",
        "param K = [[1, 2],\n           [3, 4],\n           [5, 6]];",
    );
    check_body("param K = [[1,\n2], [3, 4]];", "param K = [[1, 2], [3, 4]];");
    let terms = ["coefficient*variable"; 6];
    check_body(
        &format!("signal s = {};", terms.join(" + ")),
        &format!(
            "signal s = {}\n    + {};",
            terms[..3].join(" + "),
            terms[3..].join(" + ")
        ),
    );
    let nodes: Vec<String> = (10..40).map(|i| format!("n{i}")).collect();
    check_body(
        &format!("node {};", nodes.join(", ")),
        &format!("node {},\n    {};", nodes[..18].join(", "), nodes[18..].join(", ")),
    );
}

/// The lines of a switching element, before and after; the result must not change when formatted again.
fn check_modes(before: &str, after: &str) {
    check(
        &format!("element E(x) : d {{\n{before}\n}}"),
        &format!(
            "element E(x) : d {{\n{}}}\n",
            after.lines().map(|line| format!("  {line}\n")).collect::<String>()
        ),
    );
}

#[test]
fn modes_stand_on_one_line_with_their_changes_where_they_were_written_so() {
    check_modes(
        "mode blocking   {through=0; }   when across>0  -> conducting;\nmode conducting { across=0; }   when through<0 -> blocking;",
        "mode blocking   { through = 0; }  when across > 0  -> conducting;\nmode conducting { across = 0; }   when through < 0 -> blocking;",
    );
    check_modes(
        "mode stuck    { across = 0; }     when through > Fs -> forward;  when through<-Fs->backward;
mode forward  { through = Fc; }   when across < 0 -> stuck;
mode backward { through = -Fc; }  when across > 0 -> stuck;",
        "mode stuck    { across = 0; }     when through > Fs -> forward;  when through < -Fs -> backward;
mode forward  { through = Fc; }   when across < 0 -> stuck;
mode backward { through = -Fc; }  when across > 0 -> stuck;",
    );
    // Not aligned by the author, and keywords that are names elsewhere.
    check_modes(
        "mode in{across=0;}when(x)->vector,a . across=-e*before( across );mode vector{}when not in->in;",
        "mode in { across = 0; }  when (x) -> vector, a.across = -e*before(across);\nmode vector {}  when not in -> in;",
    );
    check_modes(
        "mode two {\na.across=0;\n b.across = 0;\n} when c->d; when e->f;\nmode last { x = 0; }",
        "mode two {\n  a.across = 0;\n  b.across = 0;\n}  when c -> d;  when e -> f;\nmode last { x = 0; }",
    );
}

#[test]
fn changes_stand_under_their_mode_if_one_begins_a_line_or_they_do_not_fit() {
    check_modes(
        "mode a { x = 0; } when b -> c;\n when cc -> d;\nmode e { y = 0; }\nwhen f -> g; when h -> i;",
        "mode a { x = 0; }\n  when b -> c;\n  when cc -> d;\nmode e { y = 0; }\n  when f -> g;  when h -> i;",
    );
    check_modes(
        "mode a { x = 0; }\nwhen b   -> c;\nwhen ccc -> d;",
        "mode a { x = 0; }\n  when b   -> c;\n  when ccc -> d;",
    );
    check_modes(
        "mode three {\n a.x = 0;\n}\n// why\nwhen c -> d; // because\n             // of\n// and\nwhen e -> f; // g",
        "mode three {\n  a.x = 0;\n}\n  // why\n  when c -> d;  // because\n                // of\n  // and\n  when e -> f;  // g",
    );
    // 101 columns on one line.
    check_modes(
        "mode free  { through = 0; } when int(across) > gap and across > 0 -> touch, across = -e*before(across);\nmode touch { across = 0; } when through < 0 -> free;",
        "mode free  { through = 0; }\n  when int(across) > gap and across > 0 -> touch, across = -e*before(across);\nmode touch { across = 0; }  when through < 0 -> free;",
    );
    check_modes(
        "mode a { x = 0; } when a_long_condition_that_takes_much_room > 1 and another_one_that_takes_much_room < 2 and c -> d;",
        "mode a { x = 0; }\n  when a_long_condition_that_takes_much_room > 1 and another_one_that_takes_much_room < 2 and c\n      -> d;",
    );
}

#[test]
fn blocks_of_assignments_are_laid_out_as_other_blocks() {
    check_body(
        "when h<=0 and across(ball)<0{across(ball):=-e*across(ball);hits:=hits+1;}",
        "when h <= 0 and across(ball) < 0 { across(ball) := -e*across(ball); hits := hits + 1; }",
    );
    check_body(
        "every Ts{z[1]:=z+Ki*Ts*e;  u:=min(max(Kp*e+z,-2),2);if x>0{u:=0;}else if b{}else{u:=-1;}}",
        "every Ts {\n  z[1] := z + Ki*Ts*e;  u := min(max(Kp*e + z, -2), 2);\n  if x > 0 { u := 0; } else if b {} else { u := -1; }\n}",
    );
    check_body(
        "every 1[ms]from-2*T{\nz    := 1;\nhits:=-1;\nlong_name :=2;\nu    := 3;\n}",
        "every 1 [ms] from -2*T {\n  z         := 1;\n  hits      := -1;\n  long_name := 2;\n  u         := 3;\n}",
    );
    check_body("every from from(from){}", "every from from (from) {}");
    check_body("when initially{x:=1;}", "when initially { x := 1; }");
    check_body(
        "discrete hits=0;  discrete z[2]=[0,0];",
        "discrete hits = 0;  discrete z[2] = [0, 0];",
    );
    check_body(
        "discrete a     = 1;\ndiscrete abc   = 1;",
        "discrete a   = 1;\ndiscrete abc = 1;",
    );
    check_body(
        "one A,B [2],on=closed;zero J:electrical,floating,on=x>0;",
        "one A, B[2], on = closed; zero J : electrical, floating, on = x > 0;",
    );
    check_body(
        "d1:IdealDiode a->b,mode=conducting;",
        "d1 : IdealDiode a -> b, mode = conducting;",
    );
}

#[test]
fn a_text_with_errors_is_refused_with_its_diagnostics() {
    let diagnostics = format(SourceId(0), "model M { param a = ; }").unwrap_err();
    assert!(diagnostics.iter().any(|diagnostic| diagnostic.is_error()));
    assert_eq!(
        diagnostics.len(),
        lgm::syntax::parse(SourceId(0), "model M { param a = ; }").1.len()
    );
    assert!(format(SourceId(0), "model M { /* never closed }").is_err());
}
