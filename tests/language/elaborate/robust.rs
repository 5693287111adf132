//! Damaged texts: any error is reported, without a panic.

use super::run;

const TEXTS: [&str; 4] = [
    "component Section(L [H], R [ohm], const n = 1) { port p, n1, ref : electrical; node m : electrical; \
     l : Inductor(L) p -> m; r : Resistor(R) m -> n1; state z = int(across(l)), start = 0.5; \
     if n > 0 { c : Capacitor(1 [uF]) n1 -> ref; } else { signal s = z; } } \
     model Line { const N = 3; param Rl = 50 [ohm]; input u [V] = sin(2*pi*50*time); node v[N + 1] : electrical; \
     src : VoltageSource(u) v[1] -> gnd; for i in 1:N { cell[i] : Section(L = 1 [mH], R = 0.1*i, n = N) \
     (p = v[i], n1 = v[i + 1], ref = gnd); output w[i] = across(cell[i].l); } load : Resistor(Rl) v[N + 1] -> gnd; \
     output y = across(cell[2].c) + cell[1].z/1 [s]; output e = energy(cell[2].l); output q = sum(j in 1:N, across(v[j])^2); }",
    "model Bonds { param m = 2; input u = [1, 2]; one A[2] vector; zero B; node x : translational; SE : Se(u); \
     M : I([[m, 1], [1, m]]), start = [1, 0]; G : GY([[1], [2]]); SF : Sf(3); K : C(4); D : R(5); T : TF(2); \
     SE -> A -> M; A -> G -> B -> K; SF -> B; B -> T -> x -> D; mass : Mass(1) x -> gnd; output f = flow(A); \
     output p = power(SF); output q = flow(B -> K); output h = power(G); output t = effort(T.out); }",
    "element Coupled(L1, L2, M = sqrt(L1*L2)/2) : electrical { port a, b; \
     a.across = L1*der(a.through) + M*der(b.through); b.across = M*der(a.through) + L2*der(b.through); } \
     element Lossy(R [ohm]) : electrical { across/R = through; } domain magnetic { across mmf [A]; through phi [Wb/s]; \
     effort = across; } model T { param K = [[2, 0], [0, 3]] [N/m]; node x, y : electrical; node g : magnetic; \
     node q[2] vector : translational; t : Coupled(2, 3) x -> gnd, y -> gnd; r1 : Lossy(1 [ohm]) x -> gnd; \
     w : Gyrator(5) x -> gnd, g -> gnd; r2 : DType(1) g -> gnd; s : Spring(K) q -> gnd; f : ForceSource([1, K[1, 1]*1 [m]]) gnd -> q; \
     output i = through(t.b); output d = der(across(s))[1]; }",
    "model SpeedLoop { param J = 0.01 [kg.m^2]; param Kp = 0.5; param Ki = 2*Kp; input ref [rad/s] = step(0.1)*10; \
     node shaft : rotational; signal e = ref - across(rotor); state ie = int(e); \
     motor : TorqueSource(if e > 0 and not (e > 5) then Kp*e else Ki*ie) gnd -> shaft; rotor : Inertia(J) shaft -> gnd, start = 1; \
     drag : RotaryDamper(-2^2) gnd -> shaft; output w = across(rotor); experiment { stop = 5 [s]; plot = [w]; } }",
];

/// The texts split after every word and every symbol.
fn tokens(text: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for letter in text.chars() {
        let word = letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
        match list.last_mut() {
            Some(last) if word && last.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.') => {
                last.push(letter)
            }
            _ => list.push(letter.to_string()),
        }
    }
    list
}

#[test]
fn the_whole_texts_are_good() {
    for text in TEXTS {
        super::good(text);
    }
}

#[test]
fn a_missing_or_a_wrong_word_is_survived() {
    let mut failed = 0;
    for text in TEXTS {
        let list = tokens(text);
        for at in (0..list.len()).filter(|at| list[*at] != " ") {
            for other in ["", "gnd", "0", "v", "[2]"] {
                let mut damaged = list.clone();
                damaged[at] = other.to_string();
                let (model, diagnostics, _) = run(&damaged.concat(), &[]);
                // The result is a model, or diagnostics that explain why there is none.
                let faulty = lgm::diagnostic::has_errors(&diagnostics);
                assert!(
                    model.is_some() != faulty || !damaged.concat().contains("model"),
                    "{}",
                    damaged.concat()
                );
                failed += usize::from(faulty);
            }
        }
    }
    assert!(failed > 1000, "most damage is found: {failed}");
}

/// The width of a state follows from a signal that names others twice each, and from the output of the component that it drives.
#[test]
fn widths_are_inferred_through_chains_and_components() {
    let chain: String = (1..60)
        .map(|at| format!("signal a{at} = a{}*a{};", at - 1, at - 1))
        .collect();
    super::good(&format!(
        "model M {{ node a : electrical; s : VoltageSource(x) a -> gnd; r : Resistor(1 [ohm]) a -> gnd;
         state x = int(a59); signal a0 = 1; {chain} output y = x; }}"
    ));
    super::good(
        "component Twice { input u; state x = int(u - 2*x); output y = x; }
         model M { g : Twice (u = [1, 2] - h.y); h : Twice (u = g.y); output a = g.y[1]; output b = h.y[2]; }",
    );
}
