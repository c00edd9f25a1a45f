/// What a machine of a part may look like, and what it has in addition to its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shape {
    /// How many threads a package may have. `None` where nothing of the model depends on their number.
    pub package_threads: Option<&'static [usize]>,
    /// How many threads a core has at most.
    pub core_threads: usize,
    /// How many cores are a package of PMUs, as tiles of Knights Landing are; `None` where all cores of a processor are one.
    pub package_cores: Option<usize>,
    /// How many processors a usual machine has, and how many cores each of them.
    pub usual: (usize, usize),
    /// How many packages a machine may have at most. `None` where nothing of the model depends on their number.
    pub most_packages: Option<usize>,
    /// Whether a counter that one thread of a package uses is taken from the others: [`Arbitration`](crate::model::Arbitration).
    pub shares_counters: bool,
    /// Whether the machine has boxes of counters that belong to no thread: Knights Landing's untile.
    pub has_untile: bool,
    /// Whether the chip has counters that post themselves into memory: POWER9's nest.
    pub has_nest: bool,
    /// Whether a package posts what its threads count into memory: the collection of a POWER9's core.
    pub posts_to_memory: bool,
}

impl Shape {
    /// Any number of threads and packages, and nothing in addition.
    pub const ANY: Shape = Shape {
        package_threads: None,
        core_threads: 1,
        package_cores: None,
        usual: (1, 1),
        most_packages: None,
        shares_counters: false,
        has_untile: false,
        has_nest: false,
        posts_to_memory: false,
    };
}
