//! Linear systems over every field, tested by back substitution and against one another.

use crate::support::cases;

use cases::cases;
use lgm::algebra::{
    Doubles, Field, PrimeField, RationalFunction, RationalFunctions, Rationals, Row, SHARED, Sharing, Variable,
    eliminate, solve, solve_sharing,
};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;
use proptest::prelude::*;

fn rational(n: i64) -> BigRational {
    BigRational::from_integer(BigInt::from(n))
}

fn variable(v: u32) -> RationalFunction {
    RationalFunction::variable(Variable(v))
}

/// A X - B has no nonzero entry.
fn check<F: Field>(field: &mut F, matrix: &[Row<F::Element>], right: &[Row<F::Element>], solution: &[Row<F::Element>]) {
    let width = right.iter().flatten().map(|entry| entry.0 + 1).max().unwrap_or(0);
    let get = |field: &F, row: &Row<F::Element>, column: u32| {
        row.iter()
            .find(|entry| entry.0 == column)
            .map_or(field.zero(), |entry| entry.1.clone())
    };
    for (row, side) in matrix.iter().zip(right) {
        for column in 0..width {
            let mut sum = field.zero();
            for (inner, value) in row {
                let other = get(field, &solution[*inner as usize], column);
                let product = field.mul(value, &other);
                sum = field.add(&sum, &product);
            }
            let expected = get(field, side, column);
            let difference = field.sub(&sum, &expected);
            assert!(field.is_zero(&difference), "{sum:?} is not {expected:?}");
        }
    }
}

fn sparse_matrix(size: usize) -> impl Strategy<Value = Vec<Vec<(u32, i64)>>> {
    let entry = (0..size as u32, -5i64..6);
    prop::collection::vec(prop::collection::vec(entry, 0..4), size).prop_map(|rows| {
        rows.into_iter()
            .enumerate()
            .map(|(index, mut row)| {
                row.push((((index * 7) % 11) as u32, index as i64 + 1));
                row.sort_unstable();
                row.dedup_by_key(|entry| entry.0);
                row.retain(|entry| entry.1 != 0);
                row
            })
            .collect()
    })
}

fn determinant_is_zero(matrix: &[Vec<(u32, i64)>]) -> bool {
    let n = matrix.len();
    let mut dense = vec![vec![BigRational::zero(); n]; n];
    for (i, row) in matrix.iter().enumerate() {
        for (j, value) in row {
            dense[i][*j as usize] = rational(*value);
        }
    }
    for column in 0..n {
        let Some(pivot) = (column..n).find(|row| !dense[*row][column].is_zero()) else {
            return true;
        };
        dense.swap(column, pivot);
        for row in column + 1..n {
            let pivot_row = dense[column].clone();
            let factor = &dense[row][column] / &pivot_row[column];
            for (value, above) in dense[row].iter_mut().zip(&pivot_row) {
                *value -= &factor * above;
            }
        }
    }
    false
}

/// The rows with every shared row substituted.
fn written_out(sharing: &Sharing<BigRational>, rows: &[Row<BigRational>]) -> Vec<Row<BigRational>> {
    let mut known: Vec<Row<BigRational>> = Vec::new();
    let write = |row: &Row<BigRational>, known: &[Row<BigRational>]| {
        let mut sum: std::collections::BTreeMap<u32, BigRational> = std::collections::BTreeMap::new();
        let mut add = |column: u32, value: BigRational| *sum.entry(column).or_insert_with(BigRational::zero) += value;
        for (column, value) in row {
            match column.checked_sub(SHARED) {
                None => add(*column, value.clone()),
                Some(index) => known[index as usize]
                    .iter()
                    .for_each(|(column, inner)| add(*column, inner * value)),
            }
        }
        sum.into_iter().filter(|entry| !entry.1.is_zero()).collect()
    };
    for row in &sharing.rows {
        assert!(row.len() > 1, "a short row is not shared");
        let row = write(row, &known);
        known.push(row);
    }
    rows.iter().map(|row| write(row, &known)).collect()
}

/// A hub: every unknown is coupled to one, and that one to their sum, so every unknown depends on every right side.
fn hub(size: u32) -> (Vec<Row<BigRational>>, Vec<Row<BigRational>>) {
    let mut matrix: Vec<Row<BigRational>> = (0..size)
        .map(|i| vec![(i, rational(2 + i64::from(i % 3))), (size, rational(-1))])
        .collect();
    matrix.push((0..=size).map(|i| (i, rational(1))).collect());
    let right = (0..=size).map(|i| vec![(i, rational(i64::from(i) + 1))]).collect();
    (matrix, right)
}

#[test]
fn a_hub_is_solved_and_its_variable_shared() {
    let (matrix, right) = hub(100);
    let mut field = Rationals;
    let solution = solve(&mut field, matrix.clone(), right.clone()).unwrap();
    check(&mut field, &matrix, &right, &solution);
    let mut sharing = Sharing::beyond(8);
    let shared = solve_sharing(&mut field, matrix, right, &mut sharing).unwrap();
    assert_eq!(written_out(&sharing, &shared), solution);
    let entries = |rows: &[Row<BigRational>]| rows.iter().map(Vec::len).sum::<usize>();
    assert!(entries(&solution) > 10_000);
    assert!(entries(&shared) + entries(&sharing.rows) < 500);
}

#[test]
fn sharing_says_when_more_was_made_than_it_allows() {
    let (matrix, right) = hub(100);
    let mut sharing = Sharing::up_to(1_000);
    solve_sharing(&mut Rationals, matrix.clone(), right.clone(), &mut sharing).unwrap();
    assert!(sharing.is_exceeded());
    let mut sharing = Sharing::up_to(100_000);
    solve_sharing(&mut Rationals, matrix, right, &mut sharing).unwrap();
    assert!(!sharing.is_exceeded());
}

/// A grid of conductances: elimination causes fill-in, and rows become wide.
#[test]
fn a_grid_is_solved() {
    let side = 24u32;
    let at = |i: u32, j: u32| i * side + j;
    let mut matrix: Vec<Row<f64>> = Vec::new();
    for i in 0..side {
        for j in 0..side {
            let mut row = vec![(at(i, j), 4.5)];
            let neighbours = [(i.wrapping_sub(1), j), (i + 1, j), (i, j.wrapping_sub(1)), (i, j + 1)];
            row.extend(
                neighbours
                    .iter()
                    .filter(|(i, j)| *i < side && *j < side)
                    .map(|(i, j)| (at(*i, *j), -1.0)),
            );
            row.sort_by_key(|entry| entry.0);
            matrix.push(row);
        }
    }
    let right: Vec<Row<f64>> = (0..side * side)
        .map(|row| vec![(row % 40, 1.0 + f64::from(row % 7))])
        .collect();
    let solution = solve(&mut Doubles, matrix.clone(), right.clone()).unwrap();
    for (row, side) in matrix.iter().zip(&right) {
        for column in 0..40 {
            let value = |row: &Row<f64>| row.iter().find(|entry| entry.0 == column).map_or(0.0, |entry| entry.1);
            let sum: f64 = row
                .iter()
                .map(|(inner, factor)| factor * value(&solution[*inner as usize]))
                .sum();
            assert!((sum - value(side)).abs() < 1e-12);
        }
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn solutions_satisfy_their_systems_or_the_matrix_is_singular(matrix in sparse_matrix(11), b in prop::collection::vec(-5i64..6, 22)) {
        let exact: Vec<Row<BigRational>> =
            matrix.iter().map(|row| row.iter().map(|(j, v)| (*j, rational(*v))).collect()).collect();
        let right: Vec<Row<BigRational>> = (0..11)
            .map(|i| vec![(0, rational(b[i])), (3, rational(b[11 + i]))])
            .collect();
        let mut field = Rationals;
        match solve(&mut field, exact.clone(), right.clone()) {
            Ok(solution) => {
                prop_assert!(!determinant_is_zero(&matrix));
                check(&mut field, &exact, &right, &solution);
                let mut sharing = Sharing::beyond(1);
                let shared = solve_sharing(&mut field, exact.clone(), right.clone(), &mut sharing).unwrap();
                prop_assert_eq!(written_out(&sharing, &shared), solution.clone());
                let doubles: Vec<Row<f64>> =
                    matrix.iter().map(|row| row.iter().map(|(j, v)| (*j, *v as f64)).collect()).collect();
                let sides: Vec<Row<f64>> = (0..11).map(|i| vec![(0, b[i] as f64), (3, b[11 + i] as f64)]).collect();
                let rounded = solve(&mut Doubles, doubles, sides).unwrap();
                for (rounded, exact) in rounded.iter().zip(&solution) {
                    for (column, value) in exact {
                        let exact = lgm_float(value);
                        let near = rounded.iter().find(|entry| entry.0 == *column).map_or(0.0, |entry| entry.1);
                        prop_assert!((near - exact).abs() <= 1e-7 * (1.0 + exact.abs()), "{near} {exact}");
                    }
                }
            }
            Err(fault) => {
                prop_assert!(determinant_is_zero(&matrix));
                prop_assert!(fault.row < 11 && fault.column < 11);
            }
        }
    }

    #[test]
    fn symbolic_solutions_satisfy_their_systems(
        pattern in prop::collection::vec(prop::collection::vec((0u32..5, 0u32..8, -3i64..4, 1i64..4), 1..4), 5),
        b in prop::collection::vec(0u32..8, 5),
    ) {
        let mut field = RationalFunctions::default();
        let matrix: Vec<Row<RationalFunction>> = pattern
            .iter()
            .enumerate()
            .map(|(i, row)| {
                let mut dense: Vec<RationalFunction> = vec![RationalFunction::zero(); 5];
                dense[i] = variable(i as u32);
                for (j, v, up, down) in row {
                    let number = RationalFunction::number(&BigRational::new(BigInt::from(*up), BigInt::from(*down)));
                    let inverse = field.invert(&variable((v + 3) % 8));
                    let term = field.mul(&number, &variable(*v));
                    let term = field.mul(&term, &inverse);
                    dense[*j as usize] = field.add(&dense[*j as usize], &term);
                }
                dense.into_iter().enumerate().filter(|(_, f)| !f.is_zero()).map(|(j, f)| (j as u32, f)).collect()
            })
            .collect();
        let right: Vec<Row<RationalFunction>> =
            b.iter().enumerate().map(|(i, v)| vec![((i % 2) as u32, variable(*v))]).collect();
        match solve(&mut field, matrix.clone(), right.clone()) {
            Ok(solution) => {
                prop_assert!(!field.exhausted());
                check(&mut field, &matrix, &right, &solution);
                // The unknowns are canonical: field arithmetic finds identical values.
                let by_field = eliminate(&mut field, matrix.clone(), right.clone(), &mut Sharing::nothing()).unwrap();
                prop_assert_eq!(solution, by_field);
            }
            Err(_) => {
                let point = |v: Variable| PrimeField.sample(u64::from(v.0), 9);
                let images = |rows: &[Row<RationalFunction>]| -> Vec<Row<u64>> {
                    rows.iter()
                        .map(|row| row.iter().map(|(j, f)| (*j, f.evaluate_prime(point).unwrap())).collect())
                        .collect()
                };
                prop_assert!(solve(&mut PrimeField, images(&matrix), images(&right)).is_err());
            }
        }
    }
}

fn lgm_float(value: &BigRational) -> f64 {
    num_traits::ToPrimitive::to_f64(value).unwrap()
}

/// The nodal matrix of a ladder: series conductances 0..n, shunt conductances n..2n.
fn ladder(field: &mut RationalFunctions, n: u32) -> Vec<Row<RationalFunction>> {
    (0..n)
        .map(|i| {
            let mut diagonal = field.add(&variable(i), &variable(n + i));
            let mut row = Vec::new();
            if i > 0 {
                row.push((i - 1, field.neg(&variable(i))));
            }
            if i + 1 < n {
                diagonal = field.add(&diagonal, &variable(i + 1));
            }
            row.push((i, diagonal));
            if i + 1 < n {
                row.push((i + 1, field.neg(&variable(i + 1))));
            }
            row
        })
        .collect()
}

#[test]
fn a_ladder_of_twelve_sections_is_solved() {
    let mut field = RationalFunctions::new(u64::MAX, usize::MAX);
    let matrix = ladder(&mut field, 12);
    let mut right = vec![Vec::new(); 12];
    right[0].push((0, variable(0)));
    let solution = solve(&mut field, matrix.clone(), right.clone()).unwrap();
    // The common denominator is the sum over all spanning trees, whose number is a Fibonacci number.
    assert_eq!(solution[11][0].1.denominator().term_count(), 75025);
    assert_eq!(solution[11][0].1.numerator().term_count(), 1);
    let point = |v: Variable| PrimeField.sample(u64::from(v.0), 4);
    let image = |row: &Row<RationalFunction>| -> Row<u64> {
        row.iter()
            .map(|(j, f)| (*j, f.evaluate_prime(point).unwrap()))
            .collect()
    };
    let images = |rows: &[Row<RationalFunction>]| -> Vec<Row<u64>> { rows.iter().map(image).collect() };
    check(&mut PrimeField, &images(&matrix), &images(&right), &images(&solution));
}

#[test]
fn a_short_ladder_is_inverted_within_the_default_limit() {
    let mut field = RationalFunctions::default();
    let matrix = ladder(&mut field, 6);
    let right: Vec<Row<RationalFunction>> = (0..6).map(|i| vec![(i, RationalFunction::one())]).collect();
    let inverse = solve(&mut field, matrix.clone(), right.clone()).unwrap();
    assert!(!field.exhausted());
    check(&mut field, &matrix, &right, &inverse);
    assert!(!field.exhausted());
    // The inverse of a symmetric matrix is symmetric, entry by entry.
    for (i, row) in inverse.iter().enumerate() {
        for (j, value) in row {
            assert_eq!(inverse[*j as usize][i].1, *value);
        }
    }
}

#[test]
fn a_dense_symbolic_matrix_exhausts_the_limit_instead_of_hanging() {
    let mut field = RationalFunctions::default();
    let matrix: Vec<Row<RationalFunction>> = (0..30)
        .map(|i| (0..30).map(|j| (j, variable(30 * i + j))).collect())
        .collect();
    let right: Vec<Row<RationalFunction>> = (0..30).map(|i| vec![(i, RationalFunction::one())]).collect();
    // Without the limit, this would not terminate.
    let answer = solve(&mut field, matrix, right);
    assert!(answer.is_ok());
    assert!(field.exhausted());
}

#[test]
fn many_small_blocks_take_linear_time() {
    let blocks = 200_000u32;
    let mut matrix: Vec<Row<f64>> = Vec::new();
    let mut right: Vec<Row<f64>> = Vec::new();
    for block in 0..blocks {
        let at = 2 * block;
        // Each block depends on the previous one.
        let mut first = vec![(at, 2.0), (at + 1, 1.0)];
        if at > 0 {
            first.insert(0, (at - 1, 1.0));
        }
        matrix.push(first);
        matrix.push(vec![(at, 1.0), (at + 1, 3.0)]);
        right.push(vec![(0, 1.0)]);
        right.push(vec![(0, 2.0)]);
    }
    let solution = solve(&mut Doubles, matrix, right).unwrap();
    let (x, y) = (solution[6][0].1, solution[7][0].1);
    assert!((x + 3.0 * y - 2.0).abs() < 1e-12);
    assert!((2.0 * x + y + solution[5][0].1 - 1.0).abs() < 1e-12);
}

#[test]
fn a_long_tridiagonal_system_has_no_fill() {
    let n = 50_000u32;
    let matrix: Vec<Row<f64>> = (0..n)
        .map(|i| {
            let mut row = vec![(i, 2.5)];
            if i > 0 {
                row.insert(0, (i - 1, -1.0));
            }
            if i + 1 < n {
                row.push((i + 1, -1.0));
            }
            row
        })
        .collect();
    let right: Vec<Row<f64>> = (0..n).map(|i| vec![(0, f64::from(i % 5))]).collect();
    let solution = solve(&mut Doubles, matrix.clone(), right.clone()).unwrap();
    for (row, side) in matrix.iter().zip(&right) {
        let sum: f64 = row.iter().map(|(j, v)| v * solution[*j as usize][0].1).sum();
        assert!((sum - side[0].1).abs() < 1e-9);
    }
}

#[test]
fn rows_that_overflowed_are_refused_like_a_singular_matrix() {
    let row = |a: f64, b: f64| vec![(0, a), (1, b)];
    let right = vec![vec![(0, 1.0)], vec![(0, 1.0)]];
    let infinite = vec![row(f64::INFINITY, f64::INFINITY), row(f64::INFINITY, f64::NEG_INFINITY)];
    for matrix in [infinite, vec![row(f64::NAN, f64::NAN); 2]] {
        assert!(solve(&mut Doubles, matrix, right.clone()).is_err());
    }
}

#[test]
fn a_singular_matrix_names_what_is_left() {
    let mut field = RationalFunctions::default();
    // The second and third rows are proportional.
    let twice = field.add(&variable(1), &variable(1));
    let matrix = vec![
        vec![(0, variable(0)), (1, variable(1)), (2, variable(2))],
        vec![(0, variable(0)), (1, variable(1)), (2, RationalFunction::one())],
        vec![
            (0, field.add(&variable(0), &variable(0))),
            (1, twice.clone()),
            (2, RationalFunction::number(&rational(2))),
        ],
    ];
    let fault = solve(&mut field, matrix, vec![Vec::new(); 3]).unwrap_err();
    assert!(fault.row == 1 || fault.row == 2, "{fault:?}");
}
