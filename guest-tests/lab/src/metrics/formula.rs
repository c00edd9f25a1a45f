//! The value of a formula.

use exmex::{BinOp, Express, FlatEx, MakeOperators, Operator, ops_factory};

/// A quotient; not a number where it divides by zero, so that nothing made of it is a number either.
fn divide(left: f64, right: f64) -> f64 {
    if right == 0.0 { f64::NAN } else { left / right }
}

// Formulas have four operators, two of a rank, each from left to right.
ops_factory!(
    Arithmetic,
    f64,
    Operator::make_bin("+", BinOp { apply: |left, right| left + right, prio: 0, is_commutative: false }),
    Operator::make_bin("-", BinOp { apply: |left, right| left - right, prio: 0, is_commutative: false }),
    Operator::make_bin("*", BinOp { apply: |left, right| left * right, prio: 1, is_commutative: false }),
    Operator::make_bin("/", BinOp { apply: divide, prio: 1, is_commutative: false })
);

/// The formula with each name in braces, in which a name may have dots.
fn braced(formula: &str) -> String {
    let mut text = String::with_capacity(formula.len() + 16);
    let mut is_name = false;
    for letter in formula.chars() {
        let goes_on = letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
        let begins = letter.is_ascii_alphabetic() || letter == '_';
        // What a digit begins is a number up to its end.
        let in_number = !is_name && text.ends_with(|last: char| last.is_ascii_digit() || last == '.');
        if is_name && !goes_on {
            text.push('}');
            is_name = false;
        } else if !is_name && begins && !in_number {
            text.push('{');
            is_name = true;
        }
        text.push(letter);
    }
    if is_name {
        text.push('}');
    }
    text
}

/// The value of `formula`, each name in it standing for `value_of` it.
///
/// Not a number where the formula divides by zero, and where it is none.
pub(super) fn value(formula: &str, value_of: impl Fn(&str) -> f64) -> f64 {
    let text = braced(formula);
    let parsed = FlatEx::<f64, Arithmetic>::parse(&text);
    parsed
        .and_then(|parsed| {
            let values: Vec<f64> = parsed.var_names().iter().map(|name| value_of(name)).collect();
            parsed.eval(&values)
        })
        .unwrap_or(f64::NAN)
}

/// Whether `formula` is one.
#[cfg(test)]
pub(super) fn is_formula(formula: &str) -> bool {
    FlatEx::<f64, Arithmetic>::parse(&braced(formula)).is_ok()
}
