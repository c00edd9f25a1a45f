//! The programs of a litmus file, which can be several.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Litmus;

/// A program of a litmus file: one rule.
#[derive(Clone, Debug)]
pub struct Case {
    /// The program.
    pub litmus: Litmus,
    /// The values of loops: the first statement that has them, by its place among the statements.
    pub(super) rows: Vec<(usize, Option<Arc<str>>)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    const HEADER: &str = "title: T\npmu: k8\nsection: S\n\n";

    fn cases(text: &str) -> Vec<Case> {
        Case::of_file(text).expect("a litmus file")
    }

    #[test]
    fn a_failure_is_at_the_line_of_the_source_with_the_values_of_its_row() {
        let failure = |text: &str| cases(&alloc::format!("{HEADER}{text}"))[0].run().expect_err("it fails").to_string();
        let table = "for n, value in\n  0, 5\n  1, 6\ndo\nwrite PerfCtr{n} {value}\nread PerfCtr{n} = 5\nend\nread PerfCtr1 = 7\n";
        assert_eq!(failure(table), "line 10: MSR C001_0005h gave 0x6, expected 0x5 (with n=1, value=6)");
        // Behind the loop there are no values.
        assert_eq!(failure(&table.replace("= 5", "= {value}")), "line 12: MSR C001_0005h gave 0x6, expected 0x7");
    }

    #[test]
    fn a_title_behind_statements_begins_a_program_on_a_new_machine() {
        let text = "pmu: k8\nsection: S\ntitle: A\nwrite PerfCtr0 3\nread PerfCtr0 = 3\ntitle: B\nthreads: 2\nread PerfCtr0 = 0\n\
                    title: C\nsection: other\nread PerfCtr0 = 0\n";
        let cases = cases(text);
        let headers: Vec<_> =
            cases.iter().map(|case| (case.litmus.title.as_str(), case.litmus.section.as_str(), case.litmus.threads)).collect();
        assert_eq!(headers, [("A", "S", 1), ("B", "S", 2), ("C", "other", 2)]);
        assert!(cases.iter().all(|case| case.run() == Ok(1)));
        assert_eq!(cases[2].litmus.steps[0].0, 11);
    }

    #[test]
    fn a_title_has_a_longest_length() {
        let errors = Case::of_file(&HEADER.replace("T\n", &alloc::format!("{}\n", "t".repeat(1001)))).expect_err("too long");
        assert_eq!(errors[0].to_string(), "line 1: the title is too long: 1000 characters are the most");
    }

    #[test]
    fn a_state_is_of_its_program_alone() {
        let text = alloc::format!("{HEADER}save\n").replace("pmu: k8", "pmu: k8\nstate: 00ff") + "title: B\nsave\n";
        let states: Vec<_> = cases(&text).into_iter().map(|case| case.litmus.beginning.state).collect();
        assert_eq!(states, [alloc::vec![0, 255], alloc::vec![]]);
    }

    #[test]
    fn a_loop_can_hold_whole_programs() {
        let text = "pmu: k8\nsection: S\nfor n, word in\n0, first\n3, last\ndo\ntitle: The {word} counter\nread PerfCtr{n} = 0\nend\n";
        let titles: Vec<_> = cases(text).into_iter().map(|case| (case.litmus.title, case.litmus.steps.len())).collect();
        assert_eq!(titles, [("The first counter".into(), 1), ("The last counter".into(), 1)]);
    }

    #[test]
    fn a_program_alone_is_no_file_of_two() {
        let text = alloc::format!("{HEADER}save\ntitle: B\nsave\n");
        let error = text.parse::<Litmus>().expect_err("two programs");
        assert_eq!(error.to_string(), "line 7: the file has a second program: `pmulab litmus` runs all of them");
        let unfinished = Case::of_file(&alloc::format!("{HEADER}save\ntitle: B\n")).expect_err("no statement");
        assert_eq!(unfinished[0].to_string(), "there is no statement: a litmus file is a header and at least one");
    }

    #[test]
    fn a_wrong_line_of_a_loop_is_told_once_with_its_first_values() {
        let errors = Case::of_file(&alloc::format!("{HEADER}for n in 3 to 9 do\nread PerfCtr{{n}} = 0\nwait\nend\n")).expect_err("wrong");
        let places: Vec<_> = errors.iter().map(|error| (error.line, error.column, error.length)).collect();
        // `PerfCtr4` is not in the line as it is written, so the whole of it is meant.
        assert_eq!(places, [(6, 1, 19), (7, 1, 4)]);
        assert_eq!(errors[0].message, "k8 has no register `PerfCtr4`: did you mean PerfCtr0? (with n=4)");
    }
}
