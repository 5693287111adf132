//! Laws are classified by their equations in any arrangement; the shortest of equivalent forms is used.

use super::{dump, good};

/// The law of an element definition whose parameter is the model's `p`.
fn classified(definition: &str, instance: &str, nodes: &str) -> String {
    let text = format!(
        "element E{definition}\nmodel M {{ param p = 2; param q = 3; {nodes} e : {instance}; hold : DType(1) a -> gnd; }}"
    );
    let model = good(&text);
    dump::law(&model.exprs, &model.graph.elements[0].law)
}

fn one_port(domain: &str, law: &str) -> String {
    classified(
        &format!("(k) : {domain} {{ {law} }}"),
        "E(p) a -> gnd",
        &format!("node a : {domain};"),
    )
}

#[test]
fn one_ports_in_many_arrangements() {
    let table = [
        ("electrical", "through = k*der(across);", "storage Effort Direct p"),
        ("electrical", "through/k = der(across);", "storage Effort Direct p"),
        ("electrical", "der(across) = through/k;", "storage Effort Direct p"),
        ("electrical", "k*der(across) = through;", "storage Effort Direct p"),
        ("electrical", "across = int(through)/k;", "storage Effort Direct p"),
        ("electrical", "k*across = int(through);", "storage Effort Direct p"),
        ("electrical", "through = der(k*across);", "storage Effort Direct p"),
        ("electrical", "0 = through - k*der(across);", "storage Effort Direct p"),
        ("electrical", "across = k*der(through);", "storage Flow Direct p"),
        ("electrical", "der(through) = across/k;", "storage Flow Direct p"),
        ("electrical", "through = int(across)/k;", "storage Flow Direct p"),
        ("electrical", "across - k*der(through) = 0;", "storage Flow Direct p"),
        ("electrical", "across = k*through;", "resistance p"),
        ("electrical", "across/k = through;", "resistance p"),
        ("electrical", "through = k*across;", "conductance p"),
        ("electrical", "through = across/k;", "resistance p"),
        ("electrical", "2*across - 4*k*through = 0;", "resistance (2*p)"),
        ("electrical", "across = k;", "source Effort p"),
        ("electrical", "0 = across - k;", "source Effort p"),
        ("electrical", "k = through;", "source Flow p"),
        ("electrical", "across = 0;", "source Effort 0"),
        ("electrical", "effort = k*flow;", "resistance p"),
        ("translational", "through = k*der(across);", "storage Flow Direct p"),
        ("translational", "der(through) = k*across;", "storage Effort Inverse p"),
        ("translational", "through = k*int(across);", "storage Effort Inverse p"),
        ("translational", "across = k*der(through);", "storage Effort Direct p"),
        ("translational", "through = k*across;", "resistance p"),
        ("translational", "across = k;", "source Flow p"),
        ("translational", "through = k*sin(time);", "source Effort (p*sin(time))"),
    ];
    for (domain, law, expected) in table {
        assert_eq!(one_port(domain, law), expected, "{domain}: {law}");
    }
}

#[test]
fn couplers_by_power_and_not_by_name() {
    let nodes = "node a : electrical; node b : electrical; node m : rotational; tie : DType(1) b -> gnd; \
                 bear : DType(1) m -> gnd;";
    let two = |law: &str| {
        let text = format!(
            "element E(k) {{ port a, b; {law} }}\nmodel M {{ param p = 2; {nodes} e : E(p) a -> gnd, b -> gnd; \
             g : E(p) a -> gnd, m -> gnd; hold : DType(1) a -> gnd; }}"
        );
        let model = good(&text);
        let of = |name: &str| {
            let at = model
                .graph
                .elements
                .iter()
                .position(|element| &*model.paths[element.path.index()].name == name);
            dump::law(&model.exprs, &model.graph.elements[at.unwrap()].law)
        };
        (of("e"), of("g"))
    };
    // Between two domains with across as effort, a transformer is a TF; to a domain with through as effort it is a GY.
    assert_eq!(
        two("b.across = k*a.across; a.through = -k*b.through;"),
        (
            "coupler Effort = p Effort".to_string(),
            "coupler Flow = p Effort".to_string()
        )
    );
    assert_eq!(
        two("b.across/k - a.across = 0; b.through = -a.through/k;"),
        (
            "coupler Effort = p Effort".to_string(),
            "coupler Flow = p Effort".to_string()
        )
    );
    assert_eq!(
        two("b.across = k*a.through; a.across = -k*b.through;"),
        (
            "coupler Effort = p Flow".to_string(),
            "coupler Flow = p Flow".to_string()
        )
    );
    // A wrong sign dissipates power: the element is then a dissipator, not a coupler.
    assert_eq!(
        two("b.across = k*a.across; a.through = k*b.through;").0,
        "implicit [[(-1*p), 1], [0, 0]] ; [[0, 0], [1, (-1*p)]]"
    );
}

#[test]
fn multiport_storage_is_one_field() {
    let model = good(
        "element Coupled(L1, L2, M) : electrical { port a, b;
           a.across = L1*der(a.through) + M*der(b.through);
           b.across = M*der(a.through) + L2*der(b.through); }
         model T { param L = 2; node x, y : electrical;
           t : Coupled(L, 3, 1) x -> gnd, y -> gnd, start = [1, 2];
           r1 : Resistor(1) x -> gnd; r2 : Resistor(1) y -> gnd;
           output e = energy(t); output i = through(t.b); }",
    );
    insta::assert_snapshot!(dump::model(&model));
}

#[test]
fn vector_couplers_take_their_widths_from_the_nodes() {
    let model = good(
        "model Arm { param c = 0.6; param s = 0.8;
           node w : rotational; node p[2] vector : translational; node q[2] vector : translational;
           arm : Transformer([[c], [s]]) w -> gnd, p -> gnd;
           tie : Transformer(2) p -> gnd, q -> gnd;
           bob : Mass(1) p -> gnd; bob2 : Mass(2) q -> gnd; rotor : Inertia(1) w -> gnd;
           output v = across(bob); output t = through(arm.b)[2]; output P = power(arm); }",
    );
    insta::assert_snapshot!(dump::model(&model));
}

#[test]
fn vector_bonds_and_gyrators() {
    let model = good(
        "model Field { param m = 2; input u = [1, 2];
           one A[2] vector; zero B; node x : translational;
           SE : Se(u); M : I([[m, 1], [1, m]]); G : GY([[1], [2]]); SF : Sf(3); K : C(4); D : R(5);
           SE -> A -> M; A -> G -> B -> K; SF -> B; x -> D; mass : Mass(1) x -> gnd;
           output f = flow(A); output p = power(SF); output q = flow(B -> K); output h = power(G); }",
    );
    insta::assert_snapshot!(dump::model(&model));
}
