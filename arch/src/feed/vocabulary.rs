// The list itself: one line a signal, with the section that it is in. A new one goes at the end, because the numbers are part of the ABI.

signals! {
    // Time
    /// Clock cycles of the thread while its clock runs.
    Cycles = "cycles": State Cycles resting true in Common,
    /// Cycles of the constant-rate reference clock while the thread's clock runs.
    ReferenceCycles = "reference_cycles": State Cycles resting true in Knl,
    /// Ticks of the time base.
    TimeBaseTicks = "time_base_ticks": Event Events in Power9,
    /// Cycles in which the thread is halted and its clock stands still.
    HaltedCycles = "halted_cycles": State Cycles in Common,

    // Retirement
    /// Instructions that completed, exceptions and interrupts not among them.
    InstructionsRetired = "instructions_retired": Event Events in Common,
    /// Instructions sent to execution, those later discarded among them.
    InstructionsDispatched = "instructions_dispatched": Event Events in Uncounted,
    /// Micro-operations that completed.
    MicroOpsRetired = "micro_ops_retired": Event Events in Common,
    /// Micro-operations sent to execution.
    MicroOpsDispatched = "micro_ops_dispatched": Event Events in Uncounted,
    /// Faults, traps and aborts delivered.
    ExceptionsTaken = "exceptions_taken": Event Events in X86,
    /// Hardware interrupts delivered, of any kind.
    InterruptsTaken = "interrupts_taken": Event Events in Common,
    /// Cycles in which maskable interrupts are disabled.
    InterruptsMaskedCycles = "interrupts_masked_cycles": State Cycles in K8,
    /// Times that maskable interrupts became disabled.
    InterruptsMaskedEntries = "interrupts_masked_entries": Event Events in K8,
    /// Cycles in which maskable interrupts are disabled and one is pending.
    InterruptsMaskedPendingCycles = "interrupts_masked_pending_cycles": State Cycles in K8,
    /// Times that an interrupt began to wait because interrupts are disabled.
    InterruptsMaskedPendingEntries = "interrupts_masked_pending_entries": Event Events in K8,

    // Control flow
    /// Near branches completed: jumps, conditional branches, calls and returns.
    BranchesRetired = "branches_retired": Event Events in Common,
    /// Near branches completed that left the next sequential address.
    BranchesTaken = "branches_taken": Event Events in Common,
    /// Near branches completed whose direction or target was predicted wrongly.
    BranchesMispredicted = "branches_mispredicted": Event Events in Common,
    /// Near branches completed, taken, and predicted wrongly.
    BranchesTakenMispredicted = "branches_taken_mispredicted": Event Events in K8,
    /// Conditional near branches completed and taken.
    ConditionalBranchesTaken = "conditional_branches_taken": Event Events in Common,
    /// Conditional near branches completed and not taken.
    ConditionalBranchesNotTaken = "conditional_branches_not_taken": Event Events in Common,
    /// Unconditional near jumps to a fixed target completed.
    DirectJumps = "direct_jumps": Event Events in Common,
    /// Near jumps whose target came from a register or memory completed.
    IndirectJumps = "indirect_jumps": Event Events in Common,
    /// Near calls of a fixed target completed.
    DirectCalls = "direct_calls": Event Events in Common,
    /// Near calls whose target came from a register or memory completed.
    IndirectCalls = "indirect_calls": Event Events in Common,
    /// Near returns completed.
    NearReturns = "near_returns": Event Events in Common,
    /// Far control transfers completed by an instruction: far call, jump and return, system call and return, software interrupt.
    FarTransfers = "far_transfers": Event Events in X86,
    /// Conditional near branches completed, taken, and predicted not taken.
    ConditionalBranchesTakenMispredicted = "conditional_branches_taken_mispredicted": Event Events in Common,
    /// Conditional near branches completed, not taken, and predicted taken.
    ConditionalBranchesNotTakenMispredicted = "conditional_branches_not_taken_mispredicted": Event Events in Common,
    /// Unconditional near jumps completed whose fixed target was predicted wrongly.
    DirectJumpsMispredicted = "direct_jumps_mispredicted": Event Events in Knl,
    /// Indirect near jumps completed whose target was predicted wrongly.
    IndirectJumpsMispredicted = "indirect_jumps_mispredicted": Event Events in Common,
    /// Near calls completed whose fixed target was predicted wrongly.
    DirectCallsMispredicted = "direct_calls_mispredicted": Event Events in Knl,
    /// Indirect near calls completed whose target was predicted wrongly.
    IndirectCallsMispredicted = "indirect_calls_mispredicted": Event Events in Common,
    /// Near returns completed whose address was predicted wrongly.
    NearReturnsMispredicted = "near_returns_mispredicted": Event Events in Common,
    /// Restarts of the pipeline that no misprediction caused.
    PipelineResyncs = "pipeline_resyncs": Event Events in K8,
    /// Restarts of the pipeline because a store hit instructions already fetched.
    SelfModifyingCodeRestarts = "self_modifying_code_restarts": Event Events in X86,
    /// Near returns that took their address from the return address stack.
    ReturnStackHits = "return_stack_hits": Event Events in K8,
    /// Near calls that pushed the oldest entry off the return address stack.
    ReturnStackOverflows = "return_stack_overflows": Event Events in K8,
    /// Accesses that match debug address register 0.
    BreakpointMatches0 = "breakpoint_matches0": Event Events in Common,
    /// Accesses that match debug address register 1.
    BreakpointMatches1 = "breakpoint_matches1": Event Events in Common,
    /// Accesses that match debug address register 2.
    BreakpointMatches2 = "breakpoint_matches2": Event Events in Common,
    /// Accesses that match debug address register 3.
    BreakpointMatches3 = "breakpoint_matches3": Event Events in Common,

    // Instructions by class
    /// CPUID instructions completed.
    CpuidInstructions = "cpuid_instructions": Event Events in K8,
    /// Instructions completed that flush one cache line.
    CacheLineFlushes = "cache_line_flushes": Event Events in K8,
    /// Atomic read-modify-write instructions executed with the bus or line locked.
    LockedInstructions = "locked_instructions": Event Events in K8,
    /// Cycles of locked instructions before they are certain to complete.
    LockedSpeculativeCycles = "locked_speculative_cycles": State Cycles in K8,
    /// Cycles of locked instructions from when they are certain to complete.
    LockedFinalCycles = "locked_final_cycles": State Cycles in K8,
    /// Loads of segment register ES.
    SegmentLoadsEs = "segment_loads_es": Event Events in K8,
    /// Loads of segment register CS.
    SegmentLoadsCs = "segment_loads_cs": Event Events in K8,
    /// Loads of segment register SS.
    SegmentLoadsSs = "segment_loads_ss": Event Events in K8,
    /// Loads of segment register DS.
    SegmentLoadsDs = "segment_loads_ds": Event Events in K8,
    /// Loads of segment register FS.
    SegmentLoadsFs = "segment_loads_fs": Event Events in K8,
    /// Loads of segment register GS.
    SegmentLoadsGs = "segment_loads_gs": Event Events in K8,
    /// Prefetch instructions for reading.
    PrefetchesForLoad = "prefetches_for_load": Event Events in Common,
    /// Prefetch instructions for writing.
    PrefetchesForStore = "prefetches_for_store": Event Events in Common,
    /// Prefetch instructions of data that will not be used again.
    PrefetchesNonTemporal = "prefetches_non_temporal": Event Events in Common,
    /// X87 instructions completed.
    X87Instructions = "x87_instructions": Event Events in K8,
    /// MMX and 3DNow! instructions completed.
    MmxInstructions = "mmx_instructions": Event Events in K8,
    /// Packed SSE and SSE2 instructions completed.
    PackedSseInstructions = "packed_sse_instructions": Event Events in K8,
    /// Scalar SSE and SSE2 instructions completed.
    ScalarSseInstructions = "scalar_sse_instructions": Event Events in K8,
    /// Operations sent to the floating-point adder.
    FloatingPointAddOps = "floating_point_add_ops": Event Events in K8,
    /// Operations sent to the floating-point multiplier.
    FloatingPointMultiplyOps = "floating_point_multiply_ops": Event Events in K8,
    /// Operations sent to the floating-point store pipe.
    FloatingPointStoreOps = "floating_point_store_ops": Event Events in K8,
    /// Operations with a memory operand sent to the floating-point adder.
    FloatingPointAddLoads = "floating_point_add_loads": Event Events in K8,
    /// Operations with a memory operand sent to the floating-point multiplier.
    FloatingPointMultiplyLoads = "floating_point_multiply_loads": Event Events in K8,
    /// Operations with a memory operand sent to the floating-point store pipe.
    FloatingPointStoreLoads = "floating_point_store_loads": Event Events in K8,
    /// Floating-point comparisons that write the integer flags.
    FloatingPointFlagOps = "floating_point_flag_ops": Event Events in K8,
    /// Cycles in which no floating-point operation completed.
    FloatingPointIdleCycles = "floating_point_idle_cycles": State Cycles resting true in K8,

    // Data accesses and the first-level data cache
    /// Load instructions completed.
    Loads = "loads": Event Events in Common,
    /// Store instructions completed.
    Stores = "stores": Event Events in Common,
    /// Reads and writes of the first-level data cache.
    DataCacheAccesses = "data_cache_accesses": Event Events in K8,
    /// Reads and writes that missed the first-level data cache.
    DataCacheMisses = "data_cache_misses": Event Events in K8,
    /// Accesses of locked instructions that missed the first-level data cache.
    DataCacheMissesLocked = "data_cache_misses_locked": Event Events in K8,
    /// Lines taken into the first-level data cache from the second level, shared.
    DataCacheRefillsL2Shared = "data_cache_refills_l2_shared": Event Events in K8,
    /// Lines taken into the first-level data cache from the second level, exclusive.
    DataCacheRefillsL2Exclusive = "data_cache_refills_l2_exclusive": Event Events in K8,
    /// Lines taken into the first-level data cache from the second level, owned.
    DataCacheRefillsL2Owned = "data_cache_refills_l2_owned": Event Events in K8,
    /// Lines taken into the first-level data cache from the second level, modified.
    DataCacheRefillsL2Modified = "data_cache_refills_l2_modified": Event Events in K8,
    /// Lines taken into the first-level data cache from the system that arrived invalid.
    DataCacheRefillsSystemInvalid = "data_cache_refills_system_invalid": Event Events in K8,
    /// Lines taken into the first-level data cache from the system, shared.
    DataCacheRefillsSystemShared = "data_cache_refills_system_shared": Event Events in K8,
    /// Lines taken into the first-level data cache from the system, exclusive.
    DataCacheRefillsSystemExclusive = "data_cache_refills_system_exclusive": Event Events in K8,
    /// Lines taken into the first-level data cache from the system, owned.
    DataCacheRefillsSystemOwned = "data_cache_refills_system_owned": Event Events in K8,
    /// Lines taken into the first-level data cache from the system, modified.
    DataCacheRefillsSystemModified = "data_cache_refills_system_modified": Event Events in K8,
    /// Lines displaced from the first-level data cache, invalid.
    DataCacheEvictionsInvalid = "data_cache_evictions_invalid": Event Events in K8,
    /// Lines displaced from the first-level data cache, shared.
    DataCacheEvictionsShared = "data_cache_evictions_shared": Event Events in K8,
    /// Lines displaced from the first-level data cache, exclusive.
    DataCacheEvictionsExclusive = "data_cache_evictions_exclusive": Event Events in K8,
    /// Lines displaced from the first-level data cache, owned.
    DataCacheEvictionsOwned = "data_cache_evictions_owned": Event Events in K8,
    /// Lines displaced from the first-level data cache, modified.
    DataCacheEvictionsModified = "data_cache_evictions_modified": Event Events in K8,
    /// Data accesses that cross the width of a data cache access.
    MisalignedAccesses = "misaligned_accesses": Event Events in K8,
    /// Data accesses that missed the first-level translation buffer and hit the second.
    DataTlbL1Misses = "data_tlb_l1_misses": Event Events in Common,
    /// Data accesses that missed every level of the translation buffers.
    DataTlbL2Misses = "data_tlb_l2_misses": Event Events in Common,
    /// Requests to uncacheable memory.
    UncacheableRequests = "uncacheable_requests": Event Events in K8,
    /// Write-combining buffers written out, those of streaming stores among them.
    WriteCombiningFlushes = "write_combining_flushes": Event Events in K8,
    /// Write-combining buffers of streaming stores written out.
    StreamingStoreFlushes = "streaming_store_flushes": Event Events in K8,
    /// Cycles in which the load/store buffer of missed requests and waiting stores is full.
    LoadStoreBufferFullCycles = "load_store_buffer_full_cycles": State Cycles in K8,

    // The first-level instruction cache
    /// Reads of the first-level instruction cache by the fetcher.
    InstructionFetches = "instruction_fetches": Event Events in Common,
    /// Fetches that missed the first-level instruction cache.
    InstructionCacheMisses = "instruction_cache_misses": Event Events in Common,
    /// Lines taken into the first-level instruction cache from the second level.
    InstructionCacheRefillsL2 = "instruction_cache_refills_l2": Event Events in K8,
    /// Lines taken into the first-level instruction cache from the system.
    InstructionCacheRefillsSystem = "instruction_cache_refills_system": Event Events in K8,
    /// Fetches that missed the first-level translation buffer and hit the second.
    InstructionTlbL1Misses = "instruction_tlb_l1_misses": Event Events in Common,
    /// Fetches that missed every level of the translation buffers.
    InstructionTlbL2Misses = "instruction_tlb_l2_misses": Event Events in Common,
    /// Cycles in which the fetcher stands still.
    InstructionFetchStallCycles = "instruction_fetch_stall_cycles": State Cycles in Common,

    // The second-level cache and the way to the system
    /// Reads of the second-level cache for the instruction cache.
    L2RequestsInstruction = "l2_requests_instruction": Event Events in K8,
    /// Reads of the second-level cache for the data cache.
    L2RequestsData = "l2_requests_data": Event Events in K8,
    /// Reads of the second-level cache by page-table walks.
    L2RequestsWalk = "l2_requests_walk": Event Events in K8,
    /// Tag look-ups of the second-level cache by other caches.
    L2RequestsSnoop = "l2_requests_snoop": Event Events in K8,
    /// Reads for the instruction cache that missed the second level.
    L2MissesInstruction = "l2_misses_instruction": Event Events in K8,
    /// Reads for the data cache that missed the second level.
    L2MissesData = "l2_misses_data": Event Events in K8,
    /// Reads by page-table walks that missed the second level.
    L2MissesWalk = "l2_misses_walk": Event Events in K8,
    /// Lines written into the second-level cache.
    L2Fills = "l2_fills": Event Events in K8,
    /// Modified lines written from the second-level cache to the system.
    L2Writebacks = "l2_writebacks": Event Events in K8,
    /// Requests by the hardware data prefetcher.
    DataPrefetchAttempts = "data_prefetch_attempts": Event Events in Common,
    /// Requests by the hardware data prefetcher whose line was already cached.
    DataPrefetchesCancelled = "data_prefetches_cancelled": Event Events in K8,
    /// Lines the system answered a refill with, exclusive.
    SystemReadsExclusive = "system_reads_exclusive": Event Events in K8,
    /// Lines the system answered a refill with, modified.
    SystemReadsModified = "system_reads_modified": Event Events in K8,
    /// Lines the system answered a refill with, shared.
    SystemReadsShared = "system_reads_shared": Event Events in K8,
    /// Pieces of eight bytes that the processor sent to the system.
    SystemQuadwordsWritten = "system_quadwords_written": Event Events in K8,

    // Where cycles go
    /// Cycles in which the decoder has nothing to dispatch.
    DecoderEmptyCycles = "decoder_empty_cycles": State Cycles in Common,
    /// Cycles in which the decoder has instructions but cannot dispatch.
    DispatchStallCycles = "dispatch_stall_cycles": State Cycles in Common,
    /// Cycles of dispatch stall while the pipeline drains after a mispredicted branch.
    DispatchStallBranchAbortCycles = "dispatch_stall_branch_abort_cycles": State Cycles in X86,
    /// Cycles of dispatch stall by a serialising operation.
    DispatchStallSerializationCycles = "dispatch_stall_serialization_cycles": State Cycles in Common,
    /// Cycles of dispatch stall behind an earlier segment load.
    DispatchStallSegmentLoadCycles = "dispatch_stall_segment_load_cycles": State Cycles in K8,
    /// Cycles of dispatch stall because the reorder buffer is full.
    DispatchStallReorderBufferCycles = "dispatch_stall_reorder_buffer_cycles": State Cycles in X86,
    /// Cycles of dispatch stall because a reservation station is full.
    DispatchStallReservationStationCycles = "dispatch_stall_reservation_station_cycles": State Cycles in X86,
    /// Cycles of dispatch stall because the floating-point scheduler is full.
    DispatchStallFloatingPointCycles = "dispatch_stall_floating_point_cycles": State Cycles in K8,
    /// Cycles of dispatch stall for want of room in the load/store unit.
    DispatchStallLoadStoreCycles = "dispatch_stall_load_store_cycles": State Cycles in K8,
    /// Cycles of dispatch stall until every outstanding request is answered.
    DispatchStallAllQuietCycles = "dispatch_stall_all_quiet_cycles": State Cycles in K8,
    /// Cycles of dispatch stall while the pipeline drains for a far transfer or resync.
    DispatchStallFarTransferCycles = "dispatch_stall_far_transfer_cycles": State Cycles in K8,

    // Memory controller and coherence
    /// Memory controller accesses to an open page.
    DramPageHits = "dram_page_hits": Event Events in Northbridge,
    /// Memory controller accesses that opened a page.
    DramPageMisses = "dram_page_misses": Event Events in Northbridge,
    /// Memory controller accesses that closed one page to open another.
    DramPageConflicts = "dram_page_conflicts": Event Events in Northbridge,
    /// Requests for a new page when the most pages are already open.
    DramPageTableOverflows = "dram_page_table_overflows": Event Events in Northbridge,
    /// Turnarounds of the memory bus between chip selects.
    DramTurnaroundsChipSelect = "dram_turnarounds_chip_select": Event Events in Northbridge,
    /// Turnarounds of the memory bus from reading to writing.
    DramTurnaroundsReadToWrite = "dram_turnarounds_read_to_write": Event Events in Northbridge,
    /// Turnarounds of the memory bus from writing to reading.
    DramTurnaroundsWriteToRead = "dram_turnarounds_write_to_read": Event Events in Northbridge,
    /// Lines written back to the system.
    VictimBlocks = "victim_blocks": Event Events in Coherence,
    /// Lines requested from the system to be read.
    ReadBlocks = "read_blocks": Event Events in Northbridge,
    /// Lines requested from the system to be executed.
    ReadBlocksShared = "read_blocks_shared": Event Events in Northbridge,
    /// Lines requested from the system to be written.
    ReadBlocksModified = "read_blocks_modified": Event Events in Coherence,
    /// Requests to write a clean line already held.
    ChangesToDirty = "changes_to_dirty": Event Events in Northbridge,
    /// Probes of other caches that found nothing.
    ProbeMisses = "probe_misses": Event Events in Northbridge,
    /// Probes of other caches that found a clean line.
    ProbeHitsClean = "probe_hits_clean": Event Events in Northbridge,
    /// Probes that found a dirty line and let the memory access go on.
    ProbeHitsDirty = "probe_hits_dirty": Event Events in Northbridge,
    /// Probes that found a dirty line and cancelled the memory access.
    ProbeHitsDirtyCancelled = "probe_hits_dirty_cancelled": Event Events in Northbridge,
    /// Reads by devices to refresh a display.
    UpstreamDisplayReads = "upstream_display_reads": Event Events in Northbridge,
    /// Other reads by devices.
    UpstreamReads = "upstream_reads": Event Events in Northbridge,
    /// Writes by devices.
    UpstreamWrites = "upstream_writes": Event Events in Northbridge,

    // Retirement and time, further processors
    /// Cycles in which at least one instruction completed.
    RetirementCycles = "retirement_cycles": State Cycles in Power9,
    /// Ticks of the processor utilisation register of the thread.
    UtilizationTicks = "utilization_ticks": Event Events in Power9,
    /// Ticks of the scaled processor utilisation register of the thread.
    ScaledUtilizationTicks = "scaled_utilization_ticks": Event Events in Power9,
    /// Changes of the privilege level.
    PrivilegeChanges = "privilege_changes": Event Events in Uncounted,
    /// Times that the core turned to another thread.
    ThreadSwitches = "thread_switches": Event Events in Uncounted,
    /// Instructions completed that do nothing.
    NopsRetired = "nops_retired": Event Events in Ia64,
    /// Instructions completed whose qualifying predicate was false.
    PredicatedOffRetired = "predicated_off_retired": Event Events in Ia64,
    /// Instructions handed to the issue ports.
    InstructionsDispersed = "instructions_dispersed": Event Events in Ia64,
    /// Micro-operations completed that came from the microcode sequencer.
    MicrocodedOpsRetired = "microcoded_ops_retired": Event Events in Knl,
    /// Scalar vector-unit micro-operations completed.
    ScalarVectorOpsRetired = "scalar_vector_ops_retired": Event Events in Knl,
    /// Packed vector-unit micro-operations completed.
    PackedVectorOpsRetired = "packed_vector_ops_retired": Event Events in Knl,
    /// Near branches completed with a target below their own address.
    BranchesBackward = "branches_backward": Event Events in Power9,
    /// Times that the fetcher was sent to another address by a later stage.
    FrontEndResteers = "front_end_resteers": Event Events in Knl,
    /// Times that the pipeline discarded instructions it had begun.
    PipelineFlushes = "pipeline_flushes": Event Events in Power9,
    /// Times that the pipeline discarded instructions because of the order of memory accesses.
    MemoryOrderingFlushes = "memory_ordering_flushes": Event Events in X86,
    /// Floating-point operations that needed a slow path.
    FloatingPointAssists = "floating_point_assists": Event Events in Knl,

    // Instruction mix, further processors
    /// Operations of the integer units.
    IntegerOps = "integer_ops": Event Events in Power9,
    /// Operations of the vector units.
    VectorOps = "vector_ops": Event Events in Power9,
    /// Vector load instructions completed.
    VectorLoads = "vector_loads": Event Events in Power9,
    /// Vector store instructions completed.
    VectorStores = "vector_stores": Event Events in Power9,
    /// Scalar floating-point arithmetic instructions completed, neither fused nor divisions or square roots.
    FloatingPointScalarOps = "floating_point_scalar_ops": Event Events in Power9,
    /// Scalar fused multiply-add instructions completed.
    FloatingPointScalarFusedOps = "floating_point_scalar_fused_ops": Event Events in Power9,
    /// Vector double-precision arithmetic instructions completed, neither fused nor divisions or square roots.
    FloatingPointVectorDoubleOps = "floating_point_vector_double_ops": Event Events in Power9,
    /// Vector double-precision fused multiply-add instructions completed.
    FloatingPointVectorDoubleFusedOps = "floating_point_vector_double_fused_ops": Event Events in Power9,
    /// Vector single-precision arithmetic instructions completed, neither fused nor divisions or square roots.
    FloatingPointVectorSingleOps = "floating_point_vector_single_ops": Event Events in Power9,
    /// Vector single-precision fused multiply-add instructions completed.
    FloatingPointVectorSingleFusedOps = "floating_point_vector_single_fused_ops": Event Events in Power9,
    /// Floating-point instructions completed that do no arithmetic.
    FloatingPointMoves = "floating_point_moves": Event Events in Power9,
    /// Scalar floating-point divisions and square roots completed.
    FloatingPointScalarDivides = "floating_point_scalar_divides": Event Events in Power9,
    /// Floating-point operations completed, a fused multiply-add being two.
    FloatingPointOperations = "floating_point_operations": Event Events in Montecito,
    /// Floating-point results replaced by zero.
    FloatingPointFlushesToZero = "floating_point_flushes_to_zero": Event Events in Ia64,
    /// Load-and-reserve instructions completed.
    LoadReserves = "load_reserves": Event Events in Power9,
    /// Store-conditional instructions completed.
    StoreConditionals = "store_conditionals": Event Events in Power9,
    /// Store-conditional instructions that did not store.
    StoreConditionalsFailed = "store_conditionals_failed": Event Events in Power9,
    /// Full memory barriers completed.
    BarriersFull = "barriers_full": Event Events in Power9,
    /// Lightweight memory barriers completed.
    BarriersLight = "barriers_light": Event Events in Power9,
    /// Page-table barriers completed.
    BarriersTranslation = "barriers_translation": Event Events in Power9,
    /// Context-synchronising instructions completed.
    ContextSynchronizations = "context_synchronizations": Event Events in Power9,
    /// Translation invalidations broadcast.
    TranslationInvalidations = "translation_invalidations": Event Events in Power9,
    /// Translation invalidations received from other processors.
    TranslationInvalidationsReceived = "translation_invalidations_received": Event Events in Power9,
    /// No-operations that mark a place for sampling.
    ProbeInstructions = "probe_instructions": Event Events in Power9,
    /// Instructions completed that the opcode match array matched.
    MatchedInstructions = "matched_instructions": Event Events in Power9,
    /// Instructions completed of the classes that take long.
    LongLatencyInstructions = "long_latency_instructions": Event Events in Power9,
    /// Outermost transactions begun.
    TransactionsBegun = "transactions_begun": Event Events in Power9,
    /// Outermost transactions committed.
    TransactionsCommitted = "transactions_committed": Event Events in Power9,
    /// Transactions aborted.
    TransactionsAborted = "transactions_aborted": Event Events in Power9,
    /// Transactions aborted because they outgrew what can be tracked.
    TransactionsAbortedCapacity = "transactions_aborted_capacity": Event Events in Power9,
    /// Exchange, compare-and-exchange and fetch-and-add instructions completed.
    SemaphoreInstructions = "semaphore_instructions": Event Events in Uncounted,
    /// Load instructions completed that went to uncacheable memory.
    UncacheableLoads = "uncacheable_loads": Event Events in Common,
    /// Store instructions completed that went to uncacheable memory.
    UncacheableStores = "uncacheable_stores": Event Events in Common,
    /// Control-speculative load instructions completed.
    SpeculativeLoads = "speculative_loads": Event Events in Uncounted,
    /// Checks of control-speculative values.
    SpeculationChecks = "speculation_checks": Event Events in Uncounted,
    /// Checks of control-speculative values that went to recovery.
    SpeculationChecksFailed = "speculation_checks_failed": Event Events in Uncounted,
    /// Data-speculative (advanced) load instructions completed.
    AdvancedLoads = "advanced_loads": Event Events in Uncounted,
    /// Checks of advanced loads.
    AdvancedChecks = "advanced_checks": Event Events in Uncounted,
    /// Checks of advanced loads whose entry was gone.
    AdvancedChecksFailed = "advanced_checks_failed": Event Events in Uncounted,
    /// Entries of the advanced load address table lost for want of room.
    AdvancedLoadTableOverflows = "advanced_load_table_overflows": Event Events in Uncounted,
    /// Loads and stores made by the register stack engine.
    RegisterStackAccesses = "register_stack_accesses": Event Events in Uncounted,
    /// Cycles in which the pipeline waits for the register stack engine.
    RegisterStackStallCycles = "register_stack_stall_cycles": State Cycles in Uncounted,
    /// Loads that cross a cache line.
    LineSplitLoads = "line_split_loads": Event Events in Knl,
    /// Stores that cross a cache line.
    LineSplitStores = "line_split_stores": Event Events in Knl,
    /// Loads that belong to a locked operation.
    LockedLoads = "locked_loads": Event Events in Knl,

    // Caches by hit and miss, further processors
    /// Loads that missed the first-level data cache.
    DataCacheLoadMisses = "data_cache_load_misses": Event Events in Power9,
    /// Stores that missed the first-level data cache.
    DataCacheStoreMisses = "data_cache_store_misses": Event Events in Power9,
    /// Lines prefetched into the first-level data cache.
    DataCachePrefetchFills = "data_cache_prefetch_fills": Event Events in Power9,
    /// Lines of the first-level data cache invalidated from outside.
    DataCacheInvalidations = "data_cache_invalidations": Event Events in Power9,
    /// Fetches that hit the first-level instruction cache.
    InstructionCacheHits = "instruction_cache_hits": Event Events in Common,
    /// Lines prefetched into the first-level instruction cache.
    InstructionCachePrefetchFills = "instruction_cache_prefetch_fills": Event Events in Power9,
    /// Lines of the first-level instruction cache invalidated from outside.
    InstructionCacheInvalidations = "instruction_cache_invalidations": Event Events in Power9,
    /// Loads that the second-level cache answered.
    L2LoadHits = "l2_load_hits": Event Events in Power9,
    /// Loads that missed the second level.
    L2LoadMisses = "l2_load_misses": Event Events in Power9,
    /// Stores that the second-level cache took.
    L2StoreHits = "l2_store_hits": Event Events in Power9,
    /// Stores that missed the second level.
    L2StoreMisses = "l2_store_misses": Event Events in Power9,
    /// Instruction fetches that the second-level cache answered.
    L2FetchHits = "l2_fetch_hits": Event Events in Power9,
    /// Instruction fetches that missed the second level.
    L2FetchMisses = "l2_fetch_misses": Event Events in Power9,
    /// Accesses of the second-level cache.
    L2References = "l2_references": Event Events in Common,
    /// Accesses that missed the second-level cache.
    L2Misses = "l2_misses": Event Events in Common,
    /// Modified lines displaced from the second-level cache.
    L2CastoutsModified = "l2_castouts_modified": Event Events in Power9,
    /// Clean lines displaced from the second-level cache.
    L2CastoutsClean = "l2_castouts_clean": Event Events in Power9,
    /// Accesses that the third-level cache answered.
    L3Hits = "l3_hits": Event Events in Power9,
    /// Accesses that missed the third-level cache.
    L3Misses = "l3_misses": Event Events in Common,
    /// Accesses of the third-level cache.
    L3References = "l3_references": Event Events in Ia64,
    /// Reads of the third-level cache.
    L3Reads = "l3_reads": Event Events in Uncounted,
    /// Writes of the third-level cache.
    L3Writes = "l3_writes": Event Events in Uncounted,
    /// Loads that the third-level cache answered.
    L3LoadHits = "l3_load_hits": Event Events in Power9,
    /// Loads that missed the third level.
    L3LoadMisses = "l3_load_misses": Event Events in Power9,
    /// Lines displaced from the third-level cache.
    L3Castouts = "l3_castouts": Event Events in Power9,
    /// Lines moved in from the level above that were already there.
    L3CastinsHit = "l3_castins_hit": Event Events in Power9,
    /// Lines moved in from the level above that were new.
    L3CastinsMiss = "l3_castins_miss": Event Events in Power9,
    /// Lines read from memory.
    MemoryReads = "memory_reads": Event Events in Knl,
    /// Lines written to memory.
    MemoryWrites = "memory_writes": Event Events in Knl,
    /// Transactions on the processor bus.
    BusTransactions = "bus_transactions": Event Events in Ia64,
    /// Snoops received from other processors.
    SnoopRequests = "snoop_requests": Event Events in Uncounted,

    // Where data and instructions came from
    /// Loads whose line came from the private second level.
    LoadsFromL2 = "loads_from_l2": Event Events in Common,
    /// Loads whose line came from the private third level.
    LoadsFromL3 = "loads_from_l3": Event Events in Power9,
    /// Loads whose line came clean from another core of the package.
    LoadsFromOtherCoreClean = "loads_from_other_core_clean": Event Events in Power9,
    /// Loads whose line came modified from another core of the package.
    LoadsFromOtherCoreModified = "loads_from_other_core_modified": Event Events in Power9,
    /// Loads whose line came clean from another package's cache.
    LoadsFromOtherPackageClean = "loads_from_other_package_clean": Event Events in Power9,
    /// Loads whose line came modified from another package's cache.
    LoadsFromOtherPackageModified = "loads_from_other_package_modified": Event Events in Power9,
    /// Loads whose line came from the package's own memory.
    LoadsFromLocalMemory = "loads_from_local_memory": Event Events in Power9,
    /// Loads whose line came from another package's memory.
    LoadsFromRemoteMemory = "loads_from_remote_memory": Event Events in Power9,
    /// Loads whose line came from beyond the second level.
    LoadsBeyondL2 = "loads_beyond_l2": Event Events in Knl,
    /// Loads whose line came from beyond the third level.
    LoadsBeyondL3 = "loads_beyond_l3": Event Events in Power9,
    /// Instruction lines from the private second level.
    FetchesFromL2 = "fetches_from_l2": Event Events in Power9,
    /// Instruction lines from the private third level.
    FetchesFromL3 = "fetches_from_l3": Event Events in Power9,
    /// Instruction lines from another core of the package.
    FetchesFromOtherCore = "fetches_from_other_core": Event Events in Power9,
    /// Instruction lines from another package's cache.
    FetchesFromOtherPackage = "fetches_from_other_package": Event Events in Power9,
    /// Instruction lines from the package's own memory.
    FetchesFromLocalMemory = "fetches_from_local_memory": Event Events in Power9,
    /// Instruction lines from another package's memory.
    FetchesFromRemoteMemory = "fetches_from_remote_memory": Event Events in Power9,
    /// Instruction lines from beyond the third level.
    FetchesBeyondL3 = "fetches_beyond_l3": Event Events in Power9,
    /// Page-table entries for data read from the second level.
    DataWalksFromL2 = "data_walks_from_l2": Event Events in Power9,
    /// Page-table entries for data read from the third level.
    DataWalksFromL3 = "data_walks_from_l3": Event Events in Power9,
    /// Page-table entries for data read from another core of the package.
    DataWalksFromOtherCore = "data_walks_from_other_core": Event Events in Power9,
    /// Page-table entries for data read from memory.
    DataWalksFromMemory = "data_walks_from_memory": Event Events in Power9,
    /// Page-table entries for instructions read from the second level.
    InstructionWalksFromL2 = "instruction_walks_from_l2": Event Events in Power9,
    /// Page-table entries for instructions read from the third level.
    InstructionWalksFromL3 = "instruction_walks_from_l3": Event Events in Power9,
    /// Page-table entries for instructions read from another core of the package.
    InstructionWalksFromOtherCore = "instruction_walks_from_other_core": Event Events in Power9,
    /// Page-table entries for instructions read from memory.
    InstructionWalksFromMemory = "instruction_walks_from_memory": Event Events in Power9,

    // Translation, further processors
    /// Data accesses that missed the first-level translation buffer, whatever the next level had.
    DataTlbMissesAll = "data_tlb_misses_all": Event Events in Power9,
    /// Fetches that missed the first-level translation buffer, whatever the next level had.
    InstructionTlbMissesAll = "instruction_tlb_misses_all": Event Events in Power9,
    /// Translations that the second-level buffer had.
    TranslationL2Hits = "translation_l2_hits": Event Events in Power9,
    /// Page-table walks for data.
    DataWalks = "data_walks": Event Events in Common,
    /// Cycles of page-table walks for data.
    DataWalkCycles = "data_walk_cycles": State Cycles in Common,
    /// Page-table walks for instructions.
    InstructionWalks = "instruction_walks": Event Events in Common,
    /// Cycles of page-table walks for instructions.
    InstructionWalkCycles = "instruction_walk_cycles": State Cycles in Common,
    /// Page-table walks that the walk cache could not shorten.
    WalkCacheMisses = "walk_cache_misses": Event Events in Power9,
    /// Data accesses whose segment was not in the segment buffer.
    SegmentMissesData = "segment_misses_data": Event Events in Power9,
    /// Fetches whose segment was not in the segment buffer.
    SegmentMissesInstruction = "segment_misses_instruction": Event Events in Power9,
    /// Translations that a hashed page-table walk put in.
    HashWalkInserts = "hash_walk_inserts": Event Events in Uncounted,

    // Stalls and bubbles, further processors
    /// Cycles without an instruction to dispatch.
    FrontEndEmptyCycles = "front_end_empty_cycles": State Cycles in Common,
    /// Cycles in which no instruction completed although some are in flight.
    StallCycles = "stall_cycles": State Cycles in Power9,
    /// Cycles of stall behind a load that missed the first-level cache.
    StallLoadMissCycles = "stall_load_miss_cycles": State Cycles in Power9,
    /// Cycles of stall behind an execution unit.
    StallExecutionCycles = "stall_execution_cycles": State Cycles in Common,
    /// Cycles of stall behind the floating-point unit.
    StallFloatingPointCycles = "stall_floating_point_cycles": State Cycles in Montecito,
    /// Cycles of stall behind a translation.
    StallTranslationCycles = "stall_translation_cycles": State Cycles in Power9,
    /// Cycles lost to a flush after a misprediction or exception.
    StallFlushCycles = "stall_flush_cycles": State Cycles in Uncounted,
    /// Cycles of stall behind the register stack engine.
    StallRegisterStackCycles = "stall_register_stack_cycles": State Cycles in Ia64,
    /// Cycles in which the divider is busy.
    DividerBusyCycles = "divider_busy_cycles": State Cycles in Knl,

    // Memory units of a package
    /// Lines read from memory inside the package.
    NearMemoryReads = "near_memory_reads": Event Events in Knl,
    /// Lines written to memory inside the package.
    NearMemoryWrites = "near_memory_writes": Event Events in Knl,
    /// Accesses that a clean line of the memory-side cache answered.
    MemorySideCacheHitsClean = "memory_side_cache_hits_clean": Event Events in Knl,
    /// Accesses that a modified line of the memory-side cache answered.
    MemorySideCacheHitsModified = "memory_side_cache_hits_modified": Event Events in Knl,
    /// Accesses that displaced a clean line of the memory-side cache.
    MemorySideCacheMissesClean = "memory_side_cache_misses_clean": Event Events in Knl,
    /// Accesses that displaced a modified line of the memory-side cache.
    MemorySideCacheMissesModified = "memory_side_cache_misses_modified": Event Events in Knl,
    /// Cycles of the package's own clock.
    PackageCycles = "package_cycles": State Cycles resting true in Uncounted,
    /// Cycles of the memory controllers' clock.
    MemoryCycles = "memory_cycles": State Cycles resting true in Uncounted,
    /// Cycles of the clock of memory inside the package.
    NearMemoryCycles = "near_memory_cycles": State Cycles resting true in Uncounted,
    /// Cycles in which any thread of the core runs.
    CoreActiveCycles = "core_active_cycles": State Cycles in Knl,
    /// Cycles of the reference clock in which any thread of the core runs.
    CoreActiveReferenceCycles = "core_active_reference_cycles": State Cycles in Knl,

    // Branches by how they were predicted, as one processor counts them
    /// Near branches to a relative target completed, not taken and predicted so.
    RelativeBranchesNotTakenPredicted = "relative_branches_not_taken_predicted": Event Events in Ia64,
    /// Near branches to a relative target completed, not taken and predicted taken.
    RelativeBranchesNotTakenMispredicted = "relative_branches_not_taken_mispredicted": Event Events in Ia64,
    /// Near branches to a relative target completed, taken and predicted in full.
    RelativeBranchesTakenPredicted = "relative_branches_taken_predicted": Event Events in Common,
    /// Near branches to a relative target completed, taken and predicted not taken.
    RelativeBranchesTakenMispredicted = "relative_branches_taken_mispredicted": Event Events in Ia64,
    /// Near branches to a relative target completed, taken with the wrong target predicted.
    RelativeBranchesTakenWrongTarget = "relative_branches_taken_wrong_target": Event Events in Ia64,
    /// Near returns completed, not taken and predicted so.
    ReturnBranchesNotTakenPredicted = "return_branches_not_taken_predicted": Event Events in Ia64,
    /// Near returns completed, not taken and predicted taken.
    ReturnBranchesNotTakenMispredicted = "return_branches_not_taken_mispredicted": Event Events in Ia64,
    /// Near returns completed, taken and predicted in full.
    ReturnBranchesTakenPredicted = "return_branches_taken_predicted": Event Events in Common,
    /// Near returns completed, taken and predicted not taken.
    ReturnBranchesTakenMispredicted = "return_branches_taken_mispredicted": Event Events in Ia64,
    /// Near returns completed, taken with the wrong target predicted.
    ReturnBranchesTakenWrongTarget = "return_branches_taken_wrong_target": Event Events in Ia64,
    /// Near branches to an indirect target, returns not among them completed, not taken and predicted so.
    IndirectBranchesNotTakenPredicted = "indirect_branches_not_taken_predicted": Event Events in Ia64,
    /// Near branches to an indirect target, returns not among them completed, not taken and predicted taken.
    IndirectBranchesNotTakenMispredicted = "indirect_branches_not_taken_mispredicted": Event Events in Ia64,
    /// Near branches to an indirect target, returns not among them completed, taken and predicted in full.
    IndirectBranchesTakenPredicted = "indirect_branches_taken_predicted": Event Events in Ia64,
    /// Near branches to an indirect target, returns not among them completed, taken and predicted not taken.
    IndirectBranchesTakenMispredicted = "indirect_branches_taken_mispredicted": Event Events in Ia64,
    /// Near branches to an indirect target, returns not among them completed, taken with the wrong target predicted.
    IndirectBranchesTakenWrongTarget = "indirect_branches_taken_wrong_target": Event Events in Ia64,

    // Explicitly parallel instructions
    /// Serialising instructions completed.
    SerializationsRetired = "serializations_retired": Event Events in Montecito,
    /// Integer load instructions completed.
    LoadsInteger = "loads_integer": Event Events in Montecito,
    /// Load instructions completed at a misaligned address.
    MisalignedLoads = "misaligned_loads": Event Events in Ia64,
    /// Store instructions completed at a misaligned address.
    MisalignedStores = "misaligned_stores": Event Events in Ia64,
    /// References to memory issued.
    MemoryReferences = "memory_references": Event Events in Ia64,
    /// Reads of the first-level data cache.
    DataCacheReads = "data_cache_reads": Event Events in Ia64,
    /// Reads that missed the first-level data cache.
    DataCacheReadMisses = "data_cache_read_misses": Event Events in Ia64,
    /// Reads of the register stack engine that missed the first-level data cache.
    DataCacheReadMissesRegisterStack = "data_cache_read_misses_register_stack": Event Events in Montecito,
    /// Translations for data that a page-table walk put in.
    DataWalkFills = "data_walk_fills": Event Events in Ia64,
    /// Translations for instructions that a page-table walk put in.
    InstructionWalkFills = "instruction_walk_fills": Event Events in Ia64,
    /// Lines taken into the first-level instruction cache.
    InstructionCacheFills = "instruction_cache_fills": Event Events in Common,
    /// Requests to prefetch instructions.
    InstructionPrefetches = "instruction_prefetches": Event Events in Common,
    /// Requests to prefetch instructions that missed the first level.
    InstructionPrefetchMisses = "instruction_prefetch_misses": Event Events in Ia64,
    /// Demand fetches that the second-level instruction cache answered.
    L2InstructionDemandHits = "l2_instruction_demand_hits": Event Events in Montecito,
    /// Demand fetches that missed the second-level instruction cache.
    L2InstructionDemandMisses = "l2_instruction_demand_misses": Event Events in Montecito,
    /// Instruction prefetches that the second-level instruction cache answered.
    L2InstructionPrefetchHits = "l2_instruction_prefetch_hits": Event Events in Montecito,
    /// Instruction prefetches that missed the second-level instruction cache.
    L2InstructionPrefetchMisses = "l2_instruction_prefetch_misses": Event Events in Montecito,
    /// Lines displaced from the second-level instruction cache.
    L2InstructionEvictions = "l2_instruction_evictions": Event Events in Montecito,
    /// Snoops that found a line in the second-level instruction cache.
    L2InstructionSnoopHits = "l2_instruction_snoop_hits": Event Events in Montecito,
    /// Reads of the second-level data cache.
    L2DataReads = "l2_data_reads": Event Events in Ia64,
    /// Writes of the second-level data cache.
    L2DataWrites = "l2_data_writes": Event Events in Ia64,
    /// Look-ups that the second-level data cache answered.
    L2DataLookupHits = "l2_data_lookup_hits": Event Events in Montecito,
    /// Look-ups that missed the second-level data cache.
    L2DataLookupMisses = "l2_data_lookup_misses": Event Events in Montecito,
    /// Lines that the second-level data cache asked for.
    L2DataLineRequests = "l2_data_line_requests": Event Events in Montecito,
    /// Stores that found a shared line in the second-level data cache.
    L2DataStoreHitsShared = "l2_data_store_hits_shared": Event Events in Common,
    /// Demand fetches that the third-level cache answered.
    L3InstructionDemandHits = "l3_instruction_demand_hits": Event Events in Ia64,
    /// Demand fetches that missed the third-level cache.
    L3InstructionDemandMisses = "l3_instruction_demand_misses": Event Events in Ia64,
    /// Instruction prefetches that the third-level cache answered.
    L3InstructionPrefetchHits = "l3_instruction_prefetch_hits": Event Events in Ia64,
    /// Instruction prefetches that missed the third-level cache.
    L3InstructionPrefetchMisses = "l3_instruction_prefetch_misses": Event Events in Ia64,
    /// Data reads that the third-level cache answered.
    L3DataReadHits = "l3_data_read_hits": Event Events in Ia64,
    /// Data reads that missed the third-level cache.
    L3DataReadMisses = "l3_data_read_misses": Event Events in Ia64,
    /// Data writes that the third-level cache took.
    L3DataWriteHits = "l3_data_write_hits": Event Events in Ia64,
    /// Data writes that missed the third-level cache.
    L3DataWriteMisses = "l3_data_write_misses": Event Events in Ia64,
    /// Lines written back that the third-level cache held.
    L3WritebackHits = "l3_writeback_hits": Event Events in Ia64,
    /// Lines written back that the third-level cache did not hold.
    L3WritebackMisses = "l3_writeback_misses": Event Events in Ia64,
    /// Lines put into the third-level cache.
    L3Insertions = "l3_insertions": Event Events in Montecito,
    /// Lines displaced from the third-level cache.
    L3Evictions = "l3_evictions": Event Events in Ia64,
    /// Cycles of the processor bus.
    BusCycles = "bus_cycles": State Cycles resting true in Montecito,
    /// Line reads on the bus for data.
    BusLineReadsData = "bus_line_reads_data": Event Events in Ia64,
    /// Line reads on the bus for instructions.
    BusLineReadsInstruction = "bus_line_reads_instruction": Event Events in Ia64,
    /// Line reads on the bus that ask for ownership.
    BusOwnershipReads = "bus_ownership_reads": Event Events in Ia64,
    /// Requests on the bus that only invalidate.
    BusInvalidations = "bus_invalidations": Event Events in Ia64,
    /// Reads on the bus of less than a line.
    BusPartialReads = "bus_partial_reads": Event Events in Ia64,
    /// Writes on the bus of less than a line.
    BusPartialWrites = "bus_partial_writes": Event Events in Ia64,
    /// Line writes on the bus.
    BusLineWrites = "bus_line_writes": Event Events in Ia64,
    /// Reads of input/output space on the bus.
    BusIoReads = "bus_io_reads": Event Events in Ia64,
    /// Writes of input/output space on the bus.
    BusIoWrites = "bus_io_writes": Event Events in Ia64,
    /// Line reads on the bus that another cache held clean.
    BusReadsHitClean = "bus_reads_hit_clean": Event Events in Ia64,
    /// Line reads on the bus that another cache held modified.
    BusReadsHitModified = "bus_reads_hit_modified": Event Events in Ia64,
    /// Ownership reads on the bus that another cache held modified.
    BusOwnershipReadsHitModified = "bus_ownership_reads_hit_modified": Event Events in Ia64,
    /// Invalidations on the bus that another cache held modified.
    BusInvalidationsHitModified = "bus_invalidations_hit_modified": Event Events in Ia64,
    /// Cycles of stall behind the memory pipeline.
    StallMemoryCycles = "stall_memory_cycles": State Cycles in Common,
    /// Cycles lost to a flush by an exception.
    FlushExceptionCycles = "flush_exception_cycles": State Cycles in Ia64,
    /// Cycles lost to a flush by a mispredicted branch.
    FlushBranchCycles = "flush_branch_cycles": State Cycles in Ia64,
    /// Faults by a data breakpoint register.
    DataBreakpointFaults = "data_breakpoint_faults": Event Events in Montecito,
    /// Checks of integer advanced loads.
    AdvancedChecksInteger = "advanced_checks_integer": Event Events in Ia64,
    /// Checks of floating-point advanced loads.
    AdvancedChecksFloatingPoint = "advanced_checks_floating_point": Event Events in Ia64,
    /// Checks of integer advanced loads whose entry was gone.
    AdvancedChecksFailedInteger = "advanced_checks_failed_integer": Event Events in Ia64,
    /// Checks of floating-point advanced loads whose entry was gone.
    AdvancedChecksFailedFloatingPoint = "advanced_checks_failed_floating_point": Event Events in Ia64,
    /// Checks of integer speculative values that went to recovery.
    SpeculationChecksFailedInteger = "speculation_checks_failed_integer": Event Events in Ia64,
    /// Checks of floating-point speculative values that went to recovery.
    SpeculationChecksFailedFloatingPoint = "speculation_checks_failed_floating_point": Event Events in Ia64,
    /// Speculative loads that deferred their fault.
    DeferredLoads = "deferred_loads": Event Events in Montecito,
    /// Loads made by the register stack engine.
    RegisterStackLoads = "register_stack_loads": Event Events in Ia64,
    /// Stores made by the register stack engine.
    RegisterStackStores = "register_stack_stores": Event Events in Ia64,

    // Where cycles go, by the source that was waited for
    /// Cycles of stall behind a load that the second-level cache answered.
    StallLoadL2Cycles = "stall_load_l2_cycles": State Cycles in Power9,
    /// Cycles of stall behind a load that the third-level cache answered.
    StallLoadL3Cycles = "stall_load_l3_cycles": State Cycles in Power9,
    /// Cycles of stall behind a load that another core of the package answered.
    StallLoadOtherCoreCycles = "stall_load_other_core_cycles": State Cycles in Power9,
    /// Cycles of stall behind a load that the package's own memory answered.
    StallLoadLocalMemoryCycles = "stall_load_local_memory_cycles": State Cycles in Power9,
    /// Cycles of stall behind a load that another package's cache or memory answered.
    StallLoadRemoteCycles = "stall_load_remote_cycles": State Cycles in Power9,
    /// Cycles of stall because no store can be buffered.
    StallStoreBufferCycles = "stall_store_buffer_cycles": State Cycles in Common,
    /// Cycles of stall behind a locked operation.
    StallLockedCycles = "stall_locked_cycles": State Cycles in Power9,
    /// Cycles of stall behind a serialising operation.
    StallSerializationCycles = "stall_serialization_cycles": State Cycles in Power9,
    /// Cycles without an instruction to dispatch until the second-level cache delivers code.
    FrontEndEmptyL2Cycles = "front_end_empty_l2_cycles": State Cycles in Common,
    /// Cycles without an instruction to dispatch until the third-level cache delivers code.
    FrontEndEmptyL3Cycles = "front_end_empty_l3_cycles": State Cycles in Common,
    /// Cycles without an instruction to dispatch until code arrives from beyond the caches of the core.
    FrontEndEmptyMemoryCycles = "front_end_empty_memory_cycles": State Cycles in Common,
    /// Cycles without an instruction to dispatch until the address of code is translated.
    FrontEndEmptyTranslationCycles = "front_end_empty_translation_cycles": State Cycles in Itanium,
    /// Cycles without an instruction to dispatch because a taken branch moves the fetcher.
    FrontEndEmptyBubbleCycles = "front_end_empty_bubble_cycles": State Cycles in Itanium,
    /// Cycles without an instruction to dispatch after a misprediction.
    FrontEndEmptyMispredictionCycles = "front_end_empty_misprediction_cycles": State Cycles in Power9,
    /// Cycles without an instruction to dispatch after an interrupt, an exception or a far transfer.
    FrontEndEmptyExceptionCycles = "front_end_empty_exception_cycles": State Cycles in Uncounted,
    /// Cycles in which nothing is handed to the issue ports.
    DispersalStallCycles = "dispersal_stall_cycles": State Cycles in Montecito,
    /// Issue slots left empty in cycles that hand something to the issue ports.
    SlotsNotDispersed = "slots_not_dispersed": Event Events in Uncounted,
    /// Issue slots counted as empty that were not.
    SlotsOvercounted = "slots_overcounted": Event Events in Montecito,

    // Reservations
    /// Store-conditional instructions that stored.
    StoreConditionalsSucceeded = "store_conditionals_succeeded": Event Events in Power9,

    // A second instruction set
    /// Instructions of IA-32 completed by a processor whose own instruction set is another; they are not among `instructions_retired`.
    Ia32InstructionsRetired = "ia32_instructions_retired": Event Events in Itanium,
    /// Changes between two instruction sets, in either direction.
    InstructionSetChanges = "instruction_set_changes": Event Events in Itanium,
    /// times that the core turned to its other thread because this one missed the third-level cache
    ThreadSwitchesThirdLevelMiss = "thread_switches_third_level_miss": Event Events in Montecito,
    /// times that the core turned to its other thread because this one's time was up
    ThreadSwitchesTimer = "thread_switches_timer": Event Events in Montecito,
    /// times that the core turned to its other thread because this one gave a hint
    ThreadSwitchesHint = "thread_switches_hint": Event Events in Montecito,
    /// times that the core turned to its other thread because this one went to low power
    ThreadSwitchesLowPower = "thread_switches_low_power": Event Events in Montecito,
    /// times that the core turned to its other thread for a debugger
    ThreadSwitchesDebug = "thread_switches_debug": Event Events in Montecito,
    /// instructions completed that affect the register stack: alloc, calls, returns, loadrs, flushrs, cover, rfi with a valid frame
    RegisterStackEvents = "register_stack_events": Event Events in Montecito,
    /// bits 2:0 of the number of stacked registers of the current frame, just before each register_stack_events
    RegisterStackFrameLow = "register_stack_frame_low": Event Events in Montecito,
    /// bits 5:3 of that number
    RegisterStackFrameMiddle = "register_stack_frame_middle": Event Events in Montecito,
    /// bit 6 of that number
    RegisterStackFrameHigh = "register_stack_frame_high": Event Events in Montecito,
    /// bits 2:0 of the number of stacked registers not yet written to memory, just before each register_stack_events
    RegisterStackDirtyLow = "register_stack_dirty_low": Event Events in Montecito,
    /// bits 5:3 of that number
    RegisterStackDirtyMiddle = "register_stack_dirty_middle": Event Events in Montecito,
    /// bit 6 of that number
    RegisterStackDirtyHigh = "register_stack_dirty_high": Event Events in Montecito,
    /// Far control transfers completed whose target was predicted wrongly.
    FarTransfersMispredicted = "far_transfers_mispredicted": Event Events in Knl,
    /// Loads that missed the first-level translation buffer, whatever the next level had.
    LoadTlbMissesAll = "load_tlb_misses_all": Event Events in Knl,
    /// Loads that missed every level of the translation buffers.
    LoadTlbL2Misses = "load_tlb_l2_misses": Event Events in Knl,

    // Levels of page tables
    /// Page-table entries for data that a walk ends on, those of upper levels left out, read from the second level.
    DataWalkLeavesFromL2 = "data_walk_leaves_from_l2": Event Events in Power9,
    /// Page-table entries for data that a walk ends on, those of upper levels left out, read from the third level.
    DataWalkLeavesFromL3 = "data_walk_leaves_from_l3": Event Events in Power9,
    /// Page-table entries for data that a walk ends on, those of upper levels left out, read from another core of the package.
    DataWalkLeavesFromOtherCore = "data_walk_leaves_from_other_core": Event Events in Power9,
    /// Page-table entries for data that a walk ends on, those of upper levels left out, read from memory.
    DataWalkLeavesFromMemory = "data_walk_leaves_from_memory": Event Events in Power9,
    /// Page-table entries of upper levels read for instructions.
    InstructionWalkDirectories = "instruction_walk_directories": Event Events in Power9,
    /// Instructions completed that abort or reclaim a transaction, whatever came of them.
    TransactionAbortInstructions = "transaction_abort_instructions": Event Events in Power9,

    // Pipelines
    /// Instructions of two macro-operations completed, the first of which was decoded in position 0.
    DoubleOperationsPosition0 = "double_operations_position0": Event Events in K8,
    /// Instructions of two macro-operations completed, the first of which was decoded in position 1.
    DoubleOperationsPosition1 = "double_operations_position1": Event Events in K8,
    /// Instructions of two macro-operations completed, the first of which was decoded in position 2.
    DoubleOperationsPosition2 = "double_operations_position2": Event Events in K8,

    // Branches of bundles
    /// Bundles with a branch that completed, left by one in the first slot.
    BranchBundlesTakenSlot0 = "branch_bundles_taken_slot0": Event Events in Itanium,
    /// Bundles with a branch that completed, left by one in the second slot.
    BranchBundlesTakenSlot1 = "branch_bundles_taken_slot1": Event Events in Itanium,
    /// Bundles with a branch that completed, left by one in the third slot.
    BranchBundlesTakenSlot2 = "branch_bundles_taken_slot2": Event Events in Itanium,
    /// Bundles with a branch that completed, of which none was taken.
    BranchBundlesNotTaken = "branch_bundles_not_taken": Event Events in Itanium,
    /// Bundles of several branches, left by one of them.
    MultiwayBundlesTaken = "multiway_bundles_taken": Event Events in Itanium,
    /// Bundles of several branches, of which none was taken.
    MultiwayBundlesNotTaken = "multiway_bundles_not_taken": Event Events in Itanium,
    /// Bundles of several branches, left by one of them, all that completed predicted in full.
    MultiwayTakenCorrect = "multiway_taken_correct": Event Events in Itanium,
    /// Bundles of several branches, left by one of them, the direction of one predicted wrongly.
    MultiwayTakenWrongPath = "multiway_taken_wrong_path": Event Events in Itanium,
    /// Bundles of several branches, left by one of them, only the target predicted wrongly.
    MultiwayTakenWrongTarget = "multiway_taken_wrong_target": Event Events in Itanium,
    /// Bundles of several branches, of which none was taken, all that completed predicted in full.
    MultiwayNotTakenCorrect = "multiway_not_taken_correct": Event Events in Itanium,
    /// Bundles of several branches, of which none was taken, the direction of one predicted wrongly.
    MultiwayNotTakenWrongPath = "multiway_not_taken_wrong_path": Event Events in Itanium,
    /// Branches completed that were predicted by a target address register, not taken and predicted taken.
    FirstStageBranchesNotTakenMispredicted = "first_stage_branches_not_taken_mispredicted": Event Events in Itanium,
    /// Branches completed that were predicted by a target address register, taken and predicted in full.
    FirstStageBranchesTakenPredicted = "first_stage_branches_taken_predicted": Event Events in Itanium,
    /// Branches completed that were predicted by a target address register, taken with the wrong target predicted.
    FirstStageBranchesTakenWrongTarget = "first_stage_branches_taken_wrong_target": Event Events in Itanium,
    /// Branches completed that were predicted by tables and remembered targets, not taken and predicted so.
    SecondStageBranchesNotTakenPredicted = "second_stage_branches_not_taken_predicted": Event Events in Itanium,
    /// Branches completed that were predicted by tables and remembered targets, not taken and predicted taken.
    SecondStageBranchesNotTakenMispredicted = "second_stage_branches_not_taken_mispredicted": Event Events in Itanium,
    /// Branches completed that were predicted by tables and remembered targets, taken and predicted in full.
    SecondStageBranchesTakenPredicted = "second_stage_branches_taken_predicted": Event Events in Itanium,
    /// Branches completed that were predicted by tables and remembered targets, taken and predicted not taken.
    SecondStageBranchesTakenMispredicted = "second_stage_branches_taken_mispredicted": Event Events in Itanium,
    /// Branches completed that were predicted by tables and remembered targets, taken with the wrong target predicted.
    SecondStageBranchesTakenWrongTarget = "second_stage_branches_taken_wrong_target": Event Events in Itanium,
    /// Branches completed that were predicted by their own encoding, not taken and predicted so.
    ThirdStageBranchesNotTakenPredicted = "third_stage_branches_not_taken_predicted": Event Events in Itanium,
    /// Branches completed that were predicted by their own encoding, not taken and predicted taken.
    ThirdStageBranchesNotTakenMispredicted = "third_stage_branches_not_taken_mispredicted": Event Events in Itanium,
    /// Branches completed that were predicted by their own encoding, taken and predicted in full.
    ThirdStageBranchesTakenPredicted = "third_stage_branches_taken_predicted": Event Events in Itanium,
    /// Branches completed that were predicted by their own encoding, taken and predicted not taken.
    ThirdStageBranchesTakenMispredicted = "third_stage_branches_taken_mispredicted": Event Events in Itanium,
    /// Branches completed that were predicted by their own encoding, taken with the wrong target predicted.
    ThirdStageBranchesTakenWrongTarget = "third_stage_branches_taken_wrong_target": Event Events in Itanium,
    /// Branches to a relative target completed behind one of the same bundle that was predicted taken, not taken.
    UnknownRelativeBranchesNotTaken = "unknown_relative_branches_not_taken": Event Events in Montecito,
    /// Branches to a relative target completed behind one of the same bundle that was predicted taken, taken.
    UnknownRelativeBranchesTaken = "unknown_relative_branches_taken": Event Events in Montecito,
    /// Branches that return completed behind one of the same bundle that was predicted taken, not taken.
    UnknownReturnBranchesNotTaken = "unknown_return_branches_not_taken": Event Events in Montecito,
    /// Branches that return completed behind one of the same bundle that was predicted taken, taken.
    UnknownReturnBranchesTaken = "unknown_return_branches_taken": Event Events in Montecito,
    /// Branches to an indirect target, returns not among them, completed behind one of the same bundle that was predicted taken, not taken.
    UnknownIndirectBranchesNotTaken = "unknown_indirect_branches_not_taken": Event Events in Montecito,
    /// Branches to an indirect target, returns not among them, completed behind one of the same bundle that was predicted taken, taken.
    UnknownIndirectBranchesTaken = "unknown_indirect_branches_taken": Event Events in Montecito,
    /// Branches completed in a bundle with a branch in its first slot, predicted in full.
    EncodedBranchesCorrect = "encoded_branches_correct": Event Events in Montecito,
    /// Branches completed in a bundle with a branch in its first slot, their direction predicted wrongly.
    EncodedBranchesWrongPath = "encoded_branches_wrong_path": Event Events in Montecito,
    /// Branches completed in a bundle with a branch in its first slot, taken with the wrong target predicted.
    EncodedBranchesWrongTarget = "encoded_branches_wrong_target": Event Events in Montecito,
    /// Branches completed in a bundle that begins with a branch and follows others in the same group, predicted in full.
    OversubscribedBranchesCorrect = "oversubscribed_branches_correct": Event Events in Montecito,
    /// Branches completed in a bundle that begins with a branch and follows others in the same group, their direction predicted wrongly.
    OversubscribedBranchesWrongPath = "oversubscribed_branches_wrong_path": Event Events in Montecito,
    /// Branches completed in a bundle that begins with a branch and follows others in the same group, taken with the wrong target predicted.
    OversubscribedBranchesWrongTarget = "oversubscribed_branches_wrong_target": Event Events in Montecito,
    /// Returns completed, taken and predicted so, that restored another function state than the call had saved.
    ReturnFramesMispredicted = "return_frames_mispredicted": Event Events in Montecito,

    // Page sizes
    /// Accesses to data in a page of 4 KiB that missed the first-level translation buffer, whatever the next level had.
    DataTlbMisses4k = "data_tlb_misses_4k": Event Events in Power9,
    /// Accesses to data in a page of 64 KiB that missed the first-level translation buffer, whatever the next level had.
    DataTlbMisses64k = "data_tlb_misses_64k": Event Events in Power9,
    /// Accesses to data in a page of 2 MiB to 16 MiB that missed the first-level translation buffer, whatever the next level had.
    DataTlbMisses2m = "data_tlb_misses_2m": Event Events in Power9,
    /// Accesses to data in a page of 1 GiB or more that missed the first-level translation buffer, whatever the next level had.
    DataTlbMisses1g = "data_tlb_misses_1g": Event Events in Power9,
    /// Accesses to data in a page of 4 KiB that missed every level of the translation buffers.
    DataTlbL2Misses4k = "data_tlb_l2_misses_4k": Event Events in Power9,
    /// Accesses to data in a page of 64 KiB that missed every level of the translation buffers.
    DataTlbL2Misses64k = "data_tlb_l2_misses_64k": Event Events in Power9,
    /// Accesses to data in a page of 2 MiB to 16 MiB that missed every level of the translation buffers.
    DataTlbL2Misses2m = "data_tlb_l2_misses_2m": Event Events in Power9,
    /// Accesses to data in a page of 1 GiB or more that missed every level of the translation buffers.
    DataTlbL2Misses1g = "data_tlb_l2_misses_1g": Event Events in Power9,
    /// Fetches from a page of 4 KiB that missed the first-level translation buffer, whatever the next level had.
    InstructionTlbMisses4k = "instruction_tlb_misses_4k": Event Events in Power9,
    /// Fetches from a page of 64 KiB that missed the first-level translation buffer, whatever the next level had.
    InstructionTlbMisses64k = "instruction_tlb_misses_64k": Event Events in Power9,
    /// Fetches from a page of 2 MiB or more that missed the first-level translation buffer, whatever the next level had.
    InstructionTlbMisses2m = "instruction_tlb_misses_2m": Event Events in Power9,

    // Places of page-table entries
    /// Page-table entries for data that a walk ends on, those of upper levels left out, read from the package's own memory.
    DataWalkLeavesFromLocalMemory = "data_walk_leaves_from_local_memory": Event Events in Power9,
    /// Page-table entries for data that a walk ends on, those of upper levels left out, read from another package's memory.
    DataWalkLeavesFromRemoteMemory = "data_walk_leaves_from_remote_memory": Event Events in Power9,
    /// Page-table entries for data that a walk ends on, those of upper levels left out, read from another package's cache, modified there.
    DataWalkLeavesFromOtherPackageModified = "data_walk_leaves_from_other_package_modified": Event Events in Power9,
    /// Page-table entries for instructions read from the package's own memory.
    InstructionWalksFromLocalMemory = "instruction_walks_from_local_memory": Event Events in Power9,
    /// Page-table entries for instructions read from another package's memory.
    InstructionWalksFromRemoteMemory = "instruction_walks_from_remote_memory": Event Events in Power9,
    /// Page-table entries for instructions read from another package's cache, modified there.
    InstructionWalksFromOtherPackageModified = "instruction_walks_from_other_package_modified": Event Events in Power9,

    // Levels of the walk cache
    /// Walks that began below an entry of the first level, counted from the root, because the walk cache had that entry.
    WalkCacheHitsLevel1 = "walk_cache_hits_level1": Event Events in Power9,
    /// Walks that began below an entry of the second level, counted from the root, because the walk cache had that entry.
    WalkCacheHitsLevel2 = "walk_cache_hits_level2": Event Events in Power9,
    /// Walks that began below an entry of the third level, counted from the root, because the walk cache had that entry.
    WalkCacheHitsLevel3 = "walk_cache_hits_level3": Event Events in Power9,
    /// Entries of the first level of page tables, counted from the root, that lead to a further level, read from the second-level cache.
    WalkDirectoriesLevel1FromL2 = "walk_directories_level1_from_l2": Event Events in Power9,
    /// Entries of the first level of page tables, counted from the root, that lead to a further level, read from the third-level cache.
    WalkDirectoriesLevel1FromL3 = "walk_directories_level1_from_l3": Event Events in Power9,
    /// Entries of the first level of page tables, counted from the root, that lead to a further level, read from beyond the caches of the core.
    WalkDirectoriesLevel1FromBeyond = "walk_directories_level1_from_beyond": Event Events in Power9,
    /// Entries of the second level of page tables, counted from the root, that lead to a further level, read from the second-level cache.
    WalkDirectoriesLevel2FromL2 = "walk_directories_level2_from_l2": Event Events in Power9,
    /// Entries of the second level of page tables, counted from the root, that lead to a further level, read from the third-level cache.
    WalkDirectoriesLevel2FromL3 = "walk_directories_level2_from_l3": Event Events in Power9,
    /// Entries of the third level of page tables, counted from the root, that lead to a further level, read from the second-level cache.
    WalkDirectoriesLevel3FromL2 = "walk_directories_level3_from_l2": Event Events in Power9,
    /// Entries of the third level of page tables, counted from the root, that lead to a further level, read from the third-level cache.
    WalkDirectoriesLevel3FromL3 = "walk_directories_level3_from_l3": Event Events in Power9,
    /// Entries of the second level of page tables, counted from the root, that a walk ends on, read from the second-level cache.
    WalkLeavesLevel2FromL2 = "walk_leaves_level2_from_l2": Event Events in Power9,
    /// Entries of the second level of page tables, counted from the root, that a walk ends on, read from the third-level cache.
    WalkLeavesLevel2FromL3 = "walk_leaves_level2_from_l3": Event Events in Power9,
    /// Entries of the second level of page tables, counted from the root, that a walk ends on, read from beyond the caches of the core.
    WalkLeavesLevel2FromBeyond = "walk_leaves_level2_from_beyond": Event Events in Power9,
    /// Entries of the third level of page tables, counted from the root, that a walk ends on, read from the second-level cache.
    WalkLeavesLevel3FromL2 = "walk_leaves_level3_from_l2": Event Events in Power9,
    /// Entries of the third level of page tables, counted from the root, that a walk ends on, read from the third-level cache.
    WalkLeavesLevel3FromL3 = "walk_leaves_level3_from_l3": Event Events in Power9,
    /// Entries of the third level of page tables, counted from the root, that a walk ends on, read from beyond the caches of the core.
    WalkLeavesLevel3FromBeyond = "walk_leaves_level3_from_beyond": Event Events in Power9,
    /// Entries of the fourth level of page tables, counted from the root, that a walk ends on, read from the second-level cache.
    WalkLeavesLevel4FromL2 = "walk_leaves_level4_from_l2": Event Events in Power9,
    /// Entries of the fourth level of page tables, counted from the root, that a walk ends on, read from the third-level cache.
    WalkLeavesLevel4FromL3 = "walk_leaves_level4_from_l3": Event Events in Power9,
    /// Entries of the fourth level of page tables, counted from the root, that a walk ends on, read from beyond the caches of the core.
    WalkLeavesLevel4FromBeyond = "walk_leaves_level4_from_beyond": Event Events in Power9,

    // Lines of the prefetcher
    /// Lines of data that the prefetcher asked for and that the second-level cache did not have, the third-level cache already had.
    DataPrefetchesFromL3 = "data_prefetches_from_l3": Event Events in Power9,
    /// Lines of data that the prefetcher asked for and that the second-level cache did not have, another core of the package answered.
    DataPrefetchesFromOtherCore = "data_prefetches_from_other_core": Event Events in Power9,
    /// Lines of data that the prefetcher asked for and that the second-level cache did not have, a cache of another package answered.
    DataPrefetchesFromOtherPackage = "data_prefetches_from_other_package": Event Events in Power9,
    /// Lines of data that the prefetcher asked for and that the second-level cache did not have, the package's own memory answered.
    DataPrefetchesFromLocalMemory = "data_prefetches_from_local_memory": Event Events in Power9,
    /// Lines of data that the prefetcher asked for and that the second-level cache did not have, another package's memory answered.
    DataPrefetchesFromRemoteMemory = "data_prefetches_from_remote_memory": Event Events in Power9,

    // Transactions inside transactions
    /// Instructions completed that begin a transaction inside another.
    NestedTransactionBegins = "nested_transaction_begins": Event Events in Power9,
    /// Instructions completed that end a transaction inside another.
    NestedTransactionEnds = "nested_transaction_ends": Event Events in Power9,
    /// Instructions completed that suspend a transaction.
    TransactionsSuspended = "transactions_suspended": Event Events in Power9,
    /// Instructions completed that resume a suspended transaction.
    TransactionsResumed = "transactions_resumed": Event Events in Power9,

    // Second tries, microcode and resteers
    /// Loads completed that waited because an earlier store had only part of their bytes.
    LoadsRecycledOverlap = "loads_recycled_overlap": Event Events in Knl,
    /// Loads completed that waited because an earlier store to their bytes had no data yet.
    LoadsRecycledData = "loads_recycled_data": Event Events in Knl,
    /// Loads completed that needed a second try, whatever the reason, once each.
    LoadsRecycled = "loads_recycled": Event Events in Knl,
    /// Stores completed that found no place for their address.
    StoresRecycledAddress = "stores_recycled_address": Event Events in Knl,
    /// Stores completed that needed a second try, whatever the reason, once each.
    StoresRecycled = "stores_recycled": Event Events in Knl,
    /// Cycles in which the next micro-operation finds a reservation station full, whether or not another is dispatched.
    ReservationStationFullCycles = "reservation_station_full_cycles": State Cycles in Knl,
    /// Cycles in which the next micro-operation finds the reservation station of memory full, whether or not another is dispatched.
    ReservationStationFullMemoryCycles = "reservation_station_full_memory_cycles": State Cycles in Knl,
    /// Flows of microcode begun, those of exceptions and interrupts among them.
    MicrocodeEntries = "microcode_entries": Event Events in Knl,
    /// Cycles in which a line of code that the instruction cache lacks is on its way, whether or not anything waits for it.
    InstructionCacheFillPendingCycles = "instruction_cache_fill_pending_cycles": State Cycles in Knl,
    /// Returns completed whose target a later stage of the front end found.
    FrontEndResteersReturns = "front_end_resteers_returns": Event Events in Knl,
    /// Conditional branches completed whose target a later stage of the front end found.
    FrontEndResteersConditional = "front_end_resteers_conditional": Event Events in Knl,
    /// Loads whose line another core that shares the second-level cache had modified in its first-level cache.
    LoadsFromSiblingCoreModified = "loads_from_sibling_core_modified": Event Events in Knl,

    // The stack of cycles per instruction, and what holds dispatch
    /// Cycles in which all instructions in flight have finished, and the oldest is about to complete.
    AllFinishedCycles = "all_finished_cycles": State Cycles in Power9,
    /// Cycles in which all instructions in flight have finished, and something keeps the oldest from completing.
    ThreadBlockedCycles = "thread_blocked_cycles": State Cycles in Power9,
    /// Cycles in which an exception keeps the oldest instruction, which has finished, from completing.
    BlockedExceptionCycles = "blocked_exception_cycles": State Cycles in Power9,
    /// Cycles without an instruction in flight after a mispredicted branch, whose target missed the first-level instruction cache.
    FrontEndEmptyMispredictionMissCycles = "front_end_empty_misprediction_miss_cycles": State Cycles in Power9,
    /// Cycles without an instruction in flight, in which dispatch is held.
    EmptyHeldCycles = "empty_held_cycles": State Cycles in Power9,
    /// Cycles without an instruction in flight, in which dispatch is held until everything before has completed.
    EmptyHeldSynchronizationCycles = "empty_held_synchronization_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction has not been issued.
    IssueHeldCycles = "issue_held_cycles": State Cycles in Uncounted,
    /// Cycles in which the oldest unfinished instruction has not been issued, because another operation took its port.
    IssueHeldArbitrationCycles = "issue_held_arbitration_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction has not been issued, for another reason than its port.
    IssueHeldOtherCycles = "issue_held_other_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is one of the fixed-point unit.
    StallFixedCycles = "stall_fixed_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a slow one of the fixed-point unit, such as a division.
    StallFixedLongCycles = "stall_fixed_long_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a scalar floating-point one.
    StallFloatScalarCycles = "stall_float_scalar_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a slow scalar floating-point one, such as a division.
    StallFloatScalarLongCycles = "stall_float_scalar_long_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a decimal or quad-precision one.
    StallDecimalCycles = "stall_decimal_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a slow decimal or quad-precision one, such as a division.
    StallDecimalLongCycles = "stall_decimal_long_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a permutation.
    StallPermuteCycles = "stall_permute_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a cryptographic one.
    StallCryptoCycles = "stall_crypto_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction works on a vector of integers.
    StallVectorFixedCycles = "stall_vector_fixed_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a slow one of a vector of integers, such as a multiplication.
    StallVectorFixedLongCycles = "stall_vector_fixed_long_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction works on a vector of floating-point numbers.
    StallFloatVectorCycles = "stall_float_vector_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a slow one of a vector of floating-point numbers, such as a division.
    StallFloatVectorLongCycles = "stall_float_vector_long_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a branch.
    StallBranchCycles = "stall_branch_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is one that no unit executes.
    StallDispatchFinishCycles = "stall_dispatch_finish_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is an access that found its slice of the load/store unit taken.
    StallAddressArbitrationCycles = "stall_address_arbitration_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is an access that waits for a place in the queue for translations.
    StallTranslationQueueFullCycles = "stall_translation_queue_full_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a load that waits for a place in the queue for missing lines.
    StallMissQueueFullCycles = "stall_miss_queue_full_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a load that waits for the data of a store.
    StallStoreDataWaitCycles = "stall_store_data_wait_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a load that takes its data from a store.
    StallStoreForwardCycles = "stall_store_forward_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a load that passes through the pipeline.
    StallLoadFinishCycles = "stall_load_finish_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a load that lies in two slices.
    StallSplitLoadCycles = "stall_split_load_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a load that makes a reservation.
    StallLoadReserveCycles = "stall_load_reserve_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a store that waits for its data.
    StallStoreDataCycles = "stall_store_data_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is a store that passes through the pipeline.
    StallStoreFinishCycles = "stall_store_finish_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is one of the load/store unit that neither loads nor stores.
    StallLoadStoreOtherCycles = "stall_load_store_other_cycles": State Cycles in Power9,
    /// Cycles in which dispatch is held because the issue queues are full.
    DispatchHeldIssueQueueCycles = "dispatch_held_issue_queue_cycles": State Cycles in Power9,
    /// Cycles in which dispatch is held because the history buffer is full.
    DispatchHeldHistoryCycles = "dispatch_held_history_cycles": State Cycles in Power9,
    /// Cycles in which decode waits for a place in the completion table.
    DecodeHeldWindowCycles = "decode_held_window_cycles": State Cycles in Power9,
    /// Cycles in which decode waits for a place in the table of predicted branches.
    BranchTableFullCycles = "branch_table_full_cycles": State Cycles in Power9,
    /// Cycles in which fetch waits for a place in the instruction buffer.
    FetchBufferFullCycles = "fetch_buffer_full_cycles": State Cycles in Power9,
    /// Cycles in which fetch waits for an instruction that flushes what is behind it.
    FetchStoppedCycles = "fetch_stopped_cycles": State Cycles in Power9,
    /// Loads that took their data from a store before the store was written.
    LoadsForwarded = "loads_forwarded": Event Events in Power9,
    /// Loads that were launched before the data of a store were there that they need.
    RejectsStoreData = "rejects_store_data": Event Events in Power9,
    /// Accesses that were launched and lacked their translation.
    RejectsTranslation = "rejects_translation": Event Events in Power9,
    /// Loads that missed and found no place in the queue for missing lines.
    RejectsMissQueue = "rejects_miss_queue": Event Events in Power9,

    // In-order pipelines
    /// Cycles in which the execution stage of an in-order pipeline waits for a general register.
    StallGeneralRegistersCycles = "stall_general_registers_cycles": State Cycles in Montecito,
    /// Cycles in which the execution stage of an in-order pipeline waits for a general register that no load brings.
    StallGeneralRegistersNoLoadCycles = "stall_general_registers_no_load_cycles": State Cycles in Montecito,
    /// Cycles in which the execution stage of an in-order pipeline waits for a floating-point register.
    StallFloatingRegistersCycles = "stall_floating_registers_cycles": State Cycles in Montecito,
    /// Cycles in which the execution stage of an in-order pipeline waits for a predicate.
    StallPredicatesCycles = "stall_predicates_cycles": State Cycles in Montecito,
    /// Cycles in which the execution stage of an in-order pipeline waits for an application or control register.
    StallSpecialRegistersCycles = "stall_special_registers_cycles": State Cycles in Montecito,
    /// Cycles in which the execution stage of an in-order pipeline waits for a predicate, or an application or control register.
    StallSpecialOrPredicatesCycles = "stall_special_or_predicates_cycles": State Cycles in Montecito,
    /// Cycles in which renaming waits for stores of the register stack engine.
    RegisterStackSpillStallCycles = "register_stack_spill_stall_cycles": State Cycles in Montecito,
    /// Cycles in which renaming waits for loads of the register stack engine.
    RegisterStackFillStallCycles = "register_stack_fill_stall_cycles": State Cycles in Montecito,
    /// Cycles in which renaming waits for loads of the register stack engine that `loadrs` asks for.
    RegisterStackLoadStallCycles = "register_stack_load_stall_cycles": State Cycles in Montecito,
    /// Cycles in which renaming waits for a register of the register stack engine that was written before.
    RegisterStackRegisterStallCycles = "register_stack_register_stall_cycles": State Cycles in Montecito,
    /// Cycles in which renaming waits for a switch of the bank of general registers.
    RegisterStackBankStallCycles = "register_stack_bank_stall_cycles": State Cycles in Montecito,
    /// Cycles in which an in-order pipeline waits for the first-level data cache, whatever the reason.
    StallDataCacheCycles = "stall_data_cache_cycles": State Cycles in Montecito,
    /// Cycles in which an in-order pipeline waits because no place is free for another line on its way to the first-level data cache.
    StallFillBufferCycles = "stall_fill_buffer_cycles": State Cycles in Montecito,
    /// Cycles in which an in-order pipeline waits for a walk of page tables for data.
    StallDataWalkCycles = "stall_data_walk_cycles": State Cycles in Montecito,
    /// Cycles in which an in-order pipeline waits while a translation of data comes from the second-level buffer to the first.
    StallDataTransferCycles = "stall_data_transfer_cycles": State Cycles in Montecito,
    /// Cycles in which an in-order pipeline waits because a store meets a line that is being written into the first-level data cache.
    StallFillConflictCycles = "stall_fill_conflict_cycles": State Cycles in Montecito,
    /// Cycles in which an in-order pipeline waits for a serialization of data, until the registers written before are in effect.
    StallDataSerializationCycles = "stall_data_serialization_cycles": State Cycles in Montecito,
    /// Cycles in which an in-order pipeline waits because the queue of the second-level data cache is full.
    StallSecondLevelQueueCycles = "stall_second_level_queue_cycles": State Cycles in Montecito,
    /// Cycles in which an in-order pipeline waits because an access must not pass an ordered one before it.
    StallOrderingCycles = "stall_ordering_cycles": State Cycles in Montecito,
    /// Cycles in which an in-order pipeline waits because a NaT bit is read that was collected just before.
    StallCollectedNatCycles = "stall_collected_nat_cycles": State Cycles in Montecito,
    /// Cycles in which the front end delivers no bundle after a flush.
    FetchIdleFlushCycles = "fetch_idle_flush_cycles": State Cycles in Montecito,
    /// Cycles in which the front end delivers no bundle because it waits for a translation.
    FetchIdleTranslationCycles = "fetch_idle_translation_cycles": State Cycles in Montecito,
    /// Cycles in which the front end delivers no bundle because it waits for a line.
    FetchIdleMissCycles = "fetch_idle_miss_cycles": State Cycles in Montecito,
    /// Cycles in which the front end delivers no bundle at the end of a counted loop.
    FetchIdleLoopCycles = "fetch_idle_loop_cycles": State Cycles in Montecito,
    /// Cycles in which the front end delivers no bundle because a line that it waited for is being written.
    FetchIdleFillCycles = "fetch_idle_fill_cycles": State Cycles in Montecito,
    /// Cycles in which the front end delivers no bundle because it turns to the target of a branch.
    FetchIdleBubbleCycles = "fetch_idle_bubble_cycles": State Cycles in Montecito,
    /// Cycles in which the front end delivers no bundle because the instruction buffer is full.
    FetchIdleFullCycles = "fetch_idle_full_cycles": State Cycles in Montecito,
    /// Bundles, of two a cycle, that the front end does not deliver after a flush.
    FetchLostFlushBundles = "fetch_lost_flush_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that the front end does not deliver because it waits for a translation.
    FetchLostTranslationBundles = "fetch_lost_translation_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that the front end does not deliver because it waits for a line.
    FetchLostMissBundles = "fetch_lost_miss_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that the front end does not deliver at the end of a counted loop.
    FetchLostLoopBundles = "fetch_lost_loop_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that the front end does not deliver because a line that it waited for is being written.
    FetchLostFillBundles = "fetch_lost_fill_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that the front end does not deliver because it turns to the target of a branch.
    FetchLostBubbleBundles = "fetch_lost_bubble_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that the front end does not deliver because the instruction buffer is full.
    FetchLostFullBundles = "fetch_lost_full_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that the front end does not deliver because execution enters at the second or leaves after the first.
    FetchLostUnreachedBundles = "fetch_lost_unreached_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that dispersal lacks without a stall, after a flush.
    SupplyLostFlushBundles = "supply_lost_flush_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that dispersal lacks without a stall, as the front end waits for a translation.
    SupplyLostTranslationBundles = "supply_lost_translation_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that dispersal lacks without a stall, as the front end waits for a line.
    SupplyLostMissBundles = "supply_lost_miss_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that dispersal lacks without a stall, at the end of a counted loop.
    SupplyLostLoopBundles = "supply_lost_loop_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that dispersal lacks without a stall, as a line that was waited for is being written.
    SupplyLostFillBundles = "supply_lost_fill_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that dispersal lacks without a stall, as the front end turns to the target of a branch.
    SupplyLostBubbleBundles = "supply_lost_bubble_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that dispersal lacks without a stall, behind a taken branch or before the target of one.
    SupplyLostUnreachedBundles = "supply_lost_unreached_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that dispersal lacks, after a flush.
    SupplyLostIdealFlushBundles = "supply_lost_ideal_flush_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that dispersal lacks, as the front end waits for a translation.
    SupplyLostIdealTranslationBundles = "supply_lost_ideal_translation_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that dispersal lacks, as the front end waits for a line.
    SupplyLostIdealMissBundles = "supply_lost_ideal_miss_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that dispersal lacks, at the end of a counted loop.
    SupplyLostIdealLoopBundles = "supply_lost_ideal_loop_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that dispersal lacks, as a line that was waited for is being written.
    SupplyLostIdealFillBundles = "supply_lost_ideal_fill_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that dispersal lacks, as the front end turns to the target of a branch.
    SupplyLostIdealBubbleBundles = "supply_lost_ideal_bubble_bundles": Event Events in Montecito,
    /// Bundles, of two a cycle, that dispersal lacks, behind a taken branch or before the target of one.
    SupplyLostIdealUnreachedBundles = "supply_lost_ideal_unreached_bundles": Event Events in Montecito,
    /// Issue slots not used in a cycle in which dispersal does not stall, as a stop ends the group.
    SlotsNotDispersedStop = "slots_not_dispersed_stop": Event Events in Montecito,
    /// Issue slots not used in a cycle in which dispersal does not stall, as the processor ends the group, as it has no unit left.
    SlotsNotDispersedImplicit = "slots_not_dispersed_implicit": Event Events in Montecito,
    /// Issue slots not used in a cycle in which dispersal does not stall, as the front end has no bundle.
    SlotsNotDispersedFrontEnd = "slots_not_dispersed_front_end": Event Events in Montecito,
    /// Issue slots not used in a cycle in which dispersal does not stall, as a long instruction takes two, or as they were used before.
    SlotsNotDispersedLong = "slots_not_dispersed_long": Event Events in Montecito,
    /// Issue slots that count as not used although they are or were, before a stop in their bundle.
    SlotsOvercountedStop = "slots_overcounted_stop": Event Events in Montecito,
    /// Issue slots that count as not used although they are or were, before the end of a group within their bundle without a stop.
    SlotsOvercountedImplicit = "slots_overcounted_implicit": Event Events in Montecito,
    /// The pipeline began anew, as another processor wrote to the line of code that was being executed.
    InstructionStreamRestarts = "instruction_stream_restarts": Event Events in K8,

    // The first Itanium's account of cycles
    /// Cycles in which a group of an in-order pipeline completes that no want of units has held back.
    InherentExecutionCycles = "inherent_execution_cycles": State Cycles in Itanium,
    /// Cycles in which a group of an in-order pipeline completes that want of units, or a rule of bundles, has split from the one before it.
    IssueLimitCycles = "issue_limit_cycles": State Cycles in Itanium,
    /// Flushes of an in-order pipeline because another unit asked too soon for a parallel result.
    FlushesBypass = "flushes_bypass": Event Events in Itanium,
    /// Flushes of an in-order pipeline for mispredicted branches, exceptions, failed checks and serialization.
    FlushesOther = "flushes_other": Event Events in Itanium,
    /// Groups of instructions that a stop of the program ended.
    StopsDispersed = "stops_dispersed": Event Events in Itanium,
    /// Groups of instructions that the processor ended, for want of units or by a rule of bundles.
    ImplicitStopsDispersed = "implicit_stops_dispersed": Event Events in Itanium,
    /// Floating-point operations that complete together, modulo four.
    FloatingPointOperationsLow = "floating_point_operations_low": Event Events in Itanium,
    /// Floating-point operations that complete together, in fours.
    FloatingPointOperationsHigh = "floating_point_operations_high": Event Events in Itanium,
    /// Advanced loads of general registers, and check loads that keep their entries, which took the place of another entry in the ALAT, or one of
    /// its last places as the part counts them.
    AdvancedLoadReplacementsInteger = "advanced_load_replacements_integer": Event Events in Ia64,
    /// The same of floating-point registers.
    AdvancedLoadReplacementsFloatingPoint = "advanced_load_replacements_floating_point": Event Events in Ia64,

    // Threads and queues of POWER9's pipeline
    /// Instructions that other threads of the core completed in cycles in which the oldest unfinished instruction of this one had been issued.
    InstructionsOtherThreadsStalled = "instructions_other_threads_stalled": Event Events in Power9,
    /// Cycles with nothing in flight, as the next instruction waits for a place for the results that it replaces.
    EmptyHeldHistoryCycles = "empty_held_history_cycles": State Cycles in Power9,
    /// Cycles with nothing in flight, as the next instruction waits for a place in an issue queue.
    EmptyHeldIssueQueueCycles = "empty_held_issue_queue_cycles": State Cycles in Power9,
    /// Cycles with nothing in flight, as a transaction does not begin before the one before has ended.
    EmptyHeldTransactionCycles = "empty_held_transaction_cycles": State Cycles in Power9,
    /// Cycles in which dispatch is held for the answer to an invalidation of translations.
    DispatchHeldInvalidationCycles = "dispatch_held_invalidation_cycles": State Cycles in Power9,
    /// Cycles in which dispatch is held as a transaction does not begin before the one before has ended.
    DispatchHeldTransactionCycles = "dispatch_held_transaction_cycles": State Cycles in Power9,
    /// Cycles in which a sixth of the issue queues' entries at most, of all threads of the core, are in use.
    IssueQueueLowCycles = "issue_queue_low_cycles": State Cycles in Power9,
    /// Cycles in which four fifths of the issue queues' entries at least, of all threads of the core, are in use.
    IssueQueueHighCycles = "issue_queue_high_cycles": State Cycles in Power9,
    /// Cycles in which three entries at most of the first recirculation queue are in use.
    RecirculationQueue0To3Cycles = "recirculation_queue0_0_3_cycles": State Cycles in Power9,
    /// Cycles in which four to six entries of the first recirculation queue are in use.
    RecirculationQueue4To6Cycles = "recirculation_queue0_4_6_cycles": State Cycles in Power9,
    /// Cycles in which seven to nine entries of the first recirculation queue are in use.
    RecirculationQueue7To9Cycles = "recirculation_queue0_7_9_cycles": State Cycles in Power9,
    /// Cycles in which ten entries at least of the first recirculation queue are in use.
    RecirculationQueue10To12Cycles = "recirculation_queue0_10_12_cycles": State Cycles in Power9,
    /// Cycles in which three entries at most of the second recirculation queue are in use.
    SecondRecirculationQueue0To3Cycles = "recirculation_queue1_0_3_cycles": State Cycles in Power9,
    /// Cycles in which four to six entries of the second recirculation queue are in use.
    SecondRecirculationQueue4To6Cycles = "recirculation_queue1_4_6_cycles": State Cycles in Power9,
    /// Cycles in which seven to nine entries of the second recirculation queue are in use.
    SecondRecirculationQueue7To9Cycles = "recirculation_queue1_7_9_cycles": State Cycles in Power9,
    /// Cycles in which ten entries at least of the second recirculation queue are in use.
    SecondRecirculationQueue10To12Cycles = "recirculation_queue1_10_12_cycles": State Cycles in Power9,
    /// Cycles in which the oldest unfinished instruction is not issued, as the recirculation queue is full.
    IssueHeldRecirculationCycles = "issue_held_recirculation_cycles": State Cycles in Power9,
    /// Stores that the recirculation queues of the core passed on.
    StoresIssued = "stores_issued": Event Events in Power9,
    /// Cycles in which each slice of the core's queue of stores is full.
    StoreQueueFullCycles = "store_queue_full_cycles": State Cycles in Power9,
    /// Cycles in which a slice of the core's queue of stores is empty.
    StoreQueueSliceEmptyCycles = "store_queue_slice_empty_cycles": State Cycles in Power9,
    /// Cycles in which the core has neither missed loads nor queued stores.
    LoadStoreEmptyCycles = "load_store_empty_cycles": State Cycles in Power9,
    /// Cycles in which the thread has no missed load.
    MissQueueEmptyCycles = "miss_queue_empty_cycles": State Cycles in Power9,
    /// Cycles in which the core's queue of missed loads is full.
    MissQueueFullCycles = "miss_queue_full_cycles": State Cycles in Power9,
    /// Cycles in which the queue between that of stores and the second level is full.
    SecondStoreQueueFullCycles = "second_store_queue_full_cycles": State Cycles in Power9,
    /// Cycles in which the first queue of finished loads is full.
    FinishedLoadQueue0FullCycles = "finished_load_queue0_full_cycles": State Cycles in Power9,
    /// Cycles in which the second queue of finished loads is full.
    FinishedLoadQueue1FullCycles = "finished_load_queue1_full_cycles": State Cycles in Power9,
    /// Cycles in which the thread has the first entry of the queue of stores.
    StoreQueueEntryCycles = "store_queue_entry_cycles": State Cycles in Power9,
    /// Cycles in which the thread has the first entry of the queue of loads.
    LoadQueueEntryCycles = "load_queue_entry_cycles": State Cycles in Power9,
    /// Cycles in which the thread has the first entry of the queue of missed loads.
    MissQueueEntryCycles = "miss_queue_entry_cycles": State Cycles in Power9,
    /// Cycles in which a barrier is in the queue to the second level.
    BarrierQueuedCycles = "barrier_queued_cycles": State Cycles in Power9,
    /// Cycles in which every fixed-point unit of the core is at work.
    FixedUnitsAllBusyCycles = "fixed_units_all_busy_cycles": State Cycles in Power9,
    /// Cycles in which no fixed-point unit of the core is at work.
    FixedUnitsIdleCycles = "fixed_units_idle_cycles": State Cycles in Power9,
    /// Cycles in which a fixed-point unit of the core is at work.
    FixedUnitsBusyCycles = "fixed_units_busy_cycles": State Cycles in Power9,
    /// Cycles in which every floating-point unit of the core is at work.
    FloatUnitsAllBusyCycles = "float_units_all_busy_cycles": State Cycles in Power9,
    /// Cycles in which the core's unit of decimal numbers is at work.
    DecimalUnitBusyCycles = "decimal_unit_busy_cycles": State Cycles in Power9,
    /// Stalls that ended with nothing in flight.
    StallsEndedEmpty = "stalls_ended_empty": Event Events in Power9,
    /// Cycles that the oldest instruction waits for a flush of itself.
    StallOldestFlushCycles = "stall_oldest_flush_cycles": State Cycles in Power9,
    /// Flushes of the oldest instruction in place of its completion.
    OldestFlushes = "oldest_flushes": Event Events in Power9,
    /// Cycles that the oldest instruction, which has finished, waits for a flush of any thread.
    BlockedFlushCycles = "blocked_flush_cycles": State Cycles in Power9,
    /// Cycles that the oldest instruction, which has finished, waits as what is behind it is flushed.
    BlockedFlushNextCycles = "blocked_flush_next_cycles": State Cycles in Power9,
    /// Cycles that the beginning of a nested transaction waits after it has finished.
    BlockedNestedBeginCycles = "blocked_nested_begin_cycles": State Cycles in Power9,
    /// Cycles that the end of a nested transaction waits after it has finished.
    BlockedNestedEndCycles = "blocked_nested_end_cycles": State Cycles in Power9,
    /// Cycles that a write of the floating-point status waits after it has finished.
    BlockedStatusWriteCycles = "blocked_status_write_cycles": State Cycles in Power9,
    /// Flushes that the load/store unit asked for.
    LoadStoreFlushes = "load_store_flushes": Event Events in Power9,
    /// Flushes of what is behind an instruction, which the load/store unit asked for.
    LoadStoreFlushesNext = "load_store_flushes_next": Event Events in Power9,
    /// Flushes of loads that had their data before an older store of the same bytes knew its address.
    FlushesStoreHitLoad = "flushes_store_hit_load": Event Events in Power9,
    /// The same, of a store to the same bytes at another virtual address.
    FlushesAlias = "flushes_alias": Event Events in Power9,
    /// Flushes of accesses that reserve, behind one that is outstanding.
    FlushesReservation = "flushes_reservation": Event Events in Power9,
    /// Loads that were entered into the table of those that wait for older stores.
    StoreHitLoadEntries = "store_hit_load_entries": Event Events in Power9,
    /// Loads that found themselves in the table of those that wait for older stores.
    StoreHitLoadDependences = "store_hit_load_dependences": Event Events in Power9,
    /// Flushes at dispatch.
    DispatchFlushes = "dispatch_flushes": Event Events in Power9,
    /// Flushes at dispatch of what waits for older instructions to complete.
    DispatchFlushesScoreboard = "dispatch_flushes_scoreboard": Event Events in Power9,
    /// Flushes at dispatch of what waits for the answer to an invalidation of translations.
    DispatchFlushesInvalidation = "dispatch_flushes_invalidation": Event Events in Power9,
    /// Lines of code missed where a predicted branch turned the fetcher to.
    FetchMissesAfterPrediction = "fetch_misses_after_prediction": Event Events in Power9,
    /// Lines of code missed where a resolved misprediction turned the fetcher to.
    FetchMissesAfterMisprediction = "fetch_misses_after_misprediction": Event Events in Power9,
    /// Stall cycles: the queue of loads is full.
    StallLoadQueueFullCycles = "stall_load_queue_full_cycles": State Cycles in Power9,
    /// Stall cycles: a store that is ready finds the finish of its slice taken.
    StallStoreFinishArbitrationCycles = "stall_store_finish_arbitration_cycles": State Cycles in Power9,
    /// Stall cycles: a store that was rejected finds its slice taken.
    StallStoreRelaunchCycles = "stall_store_relaunch_cycles": State Cycles in Power9,
    /// Stall cycles: a load waits as the second level works on its line already.
    StallLoadConflictCycles = "stall_load_conflict_cycles": State Cycles in Power9,
    /// Stall cycles: the end of a transaction is answered.
    StallTransactionEndCycles = "stall_transaction_end_cycles": State Cycles in Power9,
    /// Cycles in which the end of a transaction waits for its answer, the oldest instruction or not.
    TransactionEndPendingCycles = "transaction_end_pending_cycles": State Cycles in Power9,
    /// Stall cycles: an invalidation of segments is answered.
    StallSegmentInvalidationCycles = "stall_segment_invalidation_cycles": State Cycles in Power9,
    /// Stall cycles: an invalidation of translations is answered.
    StallInvalidationCycles = "stall_invalidation_cycles": State Cycles in Power9,
    /// Stall cycles: a paste to an accelerator is answered.
    StallPasteCycles = "stall_paste_cycles": State Cycles in Power9,
    /// Stall cycles: a barrier of input and output is answered.
    StallOrderingBarrierCycles = "stall_ordering_barrier_cycles": State Cycles in Power9,
    /// Stall cycles: a register of the load/store unit is read.
    StallLoadStoreRegisterCycles = "stall_load_store_register_cycles": State Cycles in Power9,
    /// Loads that waited as the second level worked on a store to their line.
    LoadsBehindStore = "loads_behind_store": Event Events in Power9,
    /// Stores that waited as the second level worked on another request for their line.
    StoresBehindOther = "stores_behind_other": Event Events in Power9,
    /// Operations without data that left the queue to the second level.
    NonDataStores = "non_data_stores": Event Events in Power9,
    /// Accesses of the first load/store slice with a translation in the first level.
    TranslationHitsSlice0 = "translation_hits_slice0": Event Events in Power9,
    /// Accesses of the second load/store slice with a translation in the first level.
    TranslationHitsSlice1 = "translation_hits_slice1": Event Events in Power9,
    /// Accesses of the third load/store slice with a translation in the first level.
    TranslationHitsSlice2 = "translation_hits_slice2": Event Events in Power9,
    /// Accesses of the fourth load/store slice with a translation in the first level.
    TranslationHitsSlice3 = "translation_hits_slice3": Event Events in Power9,
    /// Loads of 16 bytes of the first load/store slice.
    VectorLoadsSlice0 = "vector_loads_slice0": Event Events in Power9,
    /// Loads of 16 bytes of the second load/store slice.
    VectorLoadsSlice1 = "vector_loads_slice1": Event Events in Power9,
    /// Loads of 16 bytes of the third load/store slice.
    VectorLoadsSlice2 = "vector_loads_slice2": Event Events in Power9,
    /// Loads of 16 bytes of the fourth load/store slice.
    VectorLoadsSlice3 = "vector_loads_slice3": Event Events in Power9,
    /// Loads that cross a boundary of eight bytes of the first load/store slice.
    MisalignedLoadsSlice0 = "misaligned_loads_slice0": Event Events in Power9,
    /// Loads that cross a boundary of eight bytes of the second load/store slice.
    MisalignedLoadsSlice1 = "misaligned_loads_slice1": Event Events in Power9,
    /// Loads that cross a boundary of eight bytes of the third load/store slice.
    MisalignedLoadsSlice2 = "misaligned_loads_slice2": Event Events in Power9,
    /// Loads that cross a boundary of eight bytes of the fourth load/store slice.
    MisalignedLoadsSlice3 = "misaligned_loads_slice3": Event Events in Power9,
    /// Stores that cross a boundary of eight bytes of the first load/store slice.
    MisalignedStoresSlice0 = "misaligned_stores_slice0": Event Events in Power9,
    /// Stores that cross a boundary of eight bytes of the second load/store slice.
    MisalignedStoresSlice1 = "misaligned_stores_slice1": Event Events in Power9,
    /// Stores that cross a boundary of eight bytes of the third load/store slice.
    MisalignedStoresSlice2 = "misaligned_stores_slice2": Event Events in Power9,
    /// Stores that cross a boundary of eight bytes of the fourth load/store slice.
    MisalignedStoresSlice3 = "misaligned_stores_slice3": Event Events in Power9,
    /// Loads that the data cache had, of the first load/store slice.
    LoadHitsSlice0 = "load_hits_slice0": Event Events in Power9,
    /// Loads that the data cache had, of the second load/store slice.
    LoadHitsSlice1 = "load_hits_slice1": Event Events in Power9,
    /// Loads that the data cache had, of the third load/store slice.
    LoadHitsSlice2 = "load_hits_slice2": Event Events in Power9,
    /// Loads that the data cache had, of the fourth load/store slice.
    LoadHitsSlice3 = "load_hits_slice3": Event Events in Power9,
    /// Loads that the data cache lacked, of the first load/store slice.
    LoadMissesSlice0 = "load_misses_slice0": Event Events in Power9,
    /// Loads that the data cache lacked, of the second load/store slice.
    LoadMissesSlice1 = "load_misses_slice1": Event Events in Power9,
    /// Loads that the data cache lacked, of the third load/store slice.
    LoadMissesSlice2 = "load_misses_slice2": Event Events in Power9,
    /// Loads that the data cache lacked, of the fourth load/store slice.
    LoadMissesSlice3 = "load_misses_slice3": Event Events in Power9,
    /// Loads whose line the second level had from the prefetcher, not used before.
    LoadsFromL2Prefetched = "loads_from_l2_prefetched": Event Events in Power9,
    /// Loads whose line the third level had from the prefetcher, not used before.
    LoadsFromL3Prefetched = "loads_from_l3_prefetched": Event Events in Power9,
    /// Fetches whose line the second level had from the prefetcher of data, not used before.
    FetchesFromL2Prefetched = "fetches_from_l2_prefetched": Event Events in Power9,
    /// Fetches whose line the third level had from the prefetcher of data, not used before.
    FetchesFromL3Prefetched = "fetches_from_l3_prefetched": Event Events in Power9,
    /// Page-table entries read for an instruction's address whose line the second level had from the prefetcher of data, not used before.
    InstructionWalksFromL2Prefetched = "instruction_walks_from_l2_prefetched": Event Events in Power9,
    /// Page-table entries read for an instruction's address whose line the third level had from the prefetcher of data, not used before.
    InstructionWalksFromL3Prefetched = "instruction_walks_from_l3_prefetched": Event Events in Power9,
    /// Last entries of walks for data whose line the second level had from the prefetcher of data, not used before.
    DataWalkLeavesFromL2Prefetched = "data_walk_leaves_from_l2_prefetched": Event Events in Power9,
    /// Last entries of walks for data whose line the third level had from the prefetcher of data, not used before.
    DataWalkLeavesFromL3Prefetched = "data_walk_leaves_from_l3_prefetched": Event Events in Power9,
    /// Lines that the third level gave up, that the prefetcher had brought and nobody had used.
    L3CastoutsPrefetched = "l3_castouts_prefetched": Event Events in Power9,
    /// Conditional branches whose direction a counter in one of its two weak states predicted.
    BranchesWeaklyPredicted = "branches_weakly_predicted": Event Events in Power9,

    // Clean lines of others, and streams of the prefetcher
    /// Lines of code from another core's caches that had them modified.
    FetchesFromOtherCoreModified = "fetches_from_other_core_modified": Event Events in Power9,
    /// Lines of code from another core's caches that had them unmodified.
    FetchesFromOtherCoreClean = "fetches_from_other_core_clean": Event Events in Power9,
    /// Lines of code from another package's caches that had them modified.
    FetchesFromOtherPackageModified = "fetches_from_other_package_modified": Event Events in Power9,
    /// Lines of code from another package's caches that had them unmodified.
    FetchesFromOtherPackageClean = "fetches_from_other_package_clean": Event Events in Power9,
    /// Page-table entries for code read from another core's caches that had them modified.
    InstructionWalksFromOtherCoreModified = "instruction_walks_from_other_core_modified": Event Events in Power9,
    /// Page-table entries for code read from another core's caches that had them unmodified.
    InstructionWalksFromOtherCoreClean = "instruction_walks_from_other_core_clean": Event Events in Power9,
    /// Page-table entries for code read from another package's caches that had them unmodified.
    InstructionWalksFromOtherPackageClean = "instruction_walks_from_other_package_clean": Event Events in Power9,
    /// Last page-table entries of walks for data read from another core's caches that had them modified.
    DataWalkLeavesFromOtherCoreModified = "data_walk_leaves_from_other_core_modified": Event Events in Power9,
    /// Last page-table entries of walks for data read from another core's caches that had them unmodified.
    DataWalkLeavesFromOtherCoreClean = "data_walk_leaves_from_other_core_clean": Event Events in Power9,
    /// Last page-table entries of walks for data read from another package's caches that had them unmodified.
    DataWalkLeavesFromOtherPackageClean = "data_walk_leaves_from_other_package_clean": Event Events in Power9,
    /// Streams of adjacent misses that the prefetcher of data began to follow.
    DataPrefetchStreamsBegun = "data_prefetch_streams_begun": Event Events in Power9,
    /// Demand misses of data that continued a stream that the prefetcher follows.
    DataPrefetchStreamHits = "data_prefetch_stream_hits": Event Events in Power9,
    /// Streams that the prefetcher of data gave up for others before any miss continued them.
    DataPrefetchStreamsUnused = "data_prefetch_streams_unused": Event Events in Power9,

    // Deferrals, flags and changes of threads of Montecito
    /// Speculative integer loads that were deferred because the page table had no translation.
    DeferredLoadsWalkMiss = "deferred_loads_walk_miss": Event Events in Montecito,
    /// Speculative integer loads that were deferred because the translation buffers missed.
    DeferredLoadsTranslationMiss = "deferred_loads_translation_miss": Event Events in Montecito,
    /// Speculative integer loads that were deferred because their translation would have faulted.
    DeferredLoadsTranslationFault = "deferred_loads_translation_fault": Event Events in Montecito,
    /// Speculative integer loads that were deferred because their address was a NaT.
    DeferredLoadsNat = "deferred_loads_nat": Event Events in Montecito,
    /// Speculative integer loads that were deferred because the processor status asked for it.
    DeferredLoadsExceptionDeferral = "deferred_loads_exception_deferral": Event Events in Montecito,
    /// Operations that the floating-point unit held the pipeline for, to see whether they trap, and that did.
    FloatingPointUnsafeTrapping = "floating_point_unsafe_trapping": Event Events in Montecito,
    /// Operations that the floating-point unit held the pipeline for, to see whether they trap, and that did not.
    FloatingPointUnsafePassing = "floating_point_unsafe_passing": Event Events in Montecito,
    /// Checks of floating-point flags that went to recovery.
    FloatingPointFlagChecksFailed = "floating_point_flag_checks_failed": Event Events in Montecito,
    /// Floating-point instructions with a tiny result and no trap of it enabled, whether it became zero or not.
    FloatingPointTinyResults = "floating_point_tiny_results": Event Events in Montecito,
    /// Changes of the threads of a core that were wished and given up because the other thread was halted.
    ThreadSwitchesGatedLowPower = "thread_switches_gated_low_power": Event Events in Montecito,
    /// Changes of the threads of a core that were held up by what was in the pipeline.
    ThreadSwitchesGatedPipeline = "thread_switches_gated_pipeline": Event Events in Montecito,
    /// Changes of the threads of a core that were held up until the thread in the foreground had made progress.
    ThreadSwitchesGatedProgress = "thread_switches_gated_progress": Event Events in Montecito,
    /// Cycles of the thread in the foreground in which a change of threads was held up.
    ThreadSwitchGatedCycles = "thread_switch_gated_cycles": State Cycles in Montecito,
    /// Cycles from the wish to change threads until the thread that comes runs: those in which it is held up, and those of the change.
    ThreadSwitchOverheadCycles = "thread_switch_overhead_cycles": State Cycles in Montecito,
    /// Cycles in which a change of threads was held up by a move to a control, application or indirect register.
    ThreadSwitchRegisterCycles = "thread_switch_register_cycles": State Cycles in Montecito,
    /// Cycles in which a change of threads was held up by anything in the pipeline.
    ThreadSwitchStalledCycles = "thread_switch_stalled_cycles": State Cycles in Montecito,
    /// Changes of threads decided 4 cycles or more after the thread that leaves completed an instruction.
    ThreadSwitchesAfter4 = "thread_switches_after_4": Event Events in Montecito,
    /// Changes of threads decided 8 cycles or more after the thread that leaves completed an instruction.
    ThreadSwitchesAfter8 = "thread_switches_after_8": Event Events in Montecito,
    /// Changes of threads decided 16 cycles or more after the thread that leaves completed an instruction.
    ThreadSwitchesAfter16 = "thread_switches_after_16": Event Events in Montecito,
    /// Changes of threads decided 32 cycles or more after the thread that leaves completed an instruction.
    ThreadSwitchesAfter32 = "thread_switches_after_32": Event Events in Montecito,
    /// Changes of threads decided 64 cycles or more after the thread that leaves completed an instruction.
    ThreadSwitchesAfter64 = "thread_switches_after_64": Event Events in Montecito,
    /// Changes of threads decided 128 cycles or more after the thread that leaves completed an instruction.
    ThreadSwitchesAfter128 = "thread_switches_after_128": Event Events in Montecito,

    // Machines of the second and third level of POWER9
    /// Cycles in which the first read machine of the second-level cache works.
    SecondReadMachine0Cycles = "second_read_machine0_cycles": State Cycles in Power9,
    /// Cycles in which that read machine of the second-level cache works which is sampled in its turn.
    SecondReadMachineSampleCycles = "second_read_machine_sample_cycles": State Cycles in Power9,
    /// Cycles in which the first castout machine of the second-level cache works.
    SecondCastoutMachine0Cycles = "second_castout_machine0_cycles": State Cycles in Power9,
    /// Cycles in which that castout machine of the second-level cache works which is sampled in its turn.
    SecondCastoutMachineSampleCycles = "second_castout_machine_sample_cycles": State Cycles in Power9,
    /// Cycles in which the first read machine of the third-level cache works.
    ThirdReadMachine0Cycles = "third_read_machine0_cycles": State Cycles in Power9,
    /// Cycles in which that read machine of the third-level cache works which is sampled in its turn.
    ThirdReadMachineSampleCycles = "third_read_machine_sample_cycles": State Cycles in Power9,
    /// Cycles in which the first prefetch machine of the third-level cache works.
    ThirdPrefetchMachine0Cycles = "third_prefetch_machine0_cycles": State Cycles in Power9,
    /// Cycles in which that prefetch machine of the third-level cache works which is sampled in its turn.
    ThirdPrefetchMachineSampleCycles = "third_prefetch_machine_sample_cycles": State Cycles in Power9,
    /// Cycles in which the first castout machine of the third-level cache works.
    ThirdCastoutMachine0Cycles = "third_castout_machine0_cycles": State Cycles in Power9,
    /// Cycles in which that machine of the third-level cache for castins or castouts works which is sampled in its turn.
    ThirdCastMachineSampleCycles = "third_cast_machine_sample_cycles": State Cycles in Power9,
    /// Loads that came to the second-level cache while each of its read machines worked.
    LoadsWithoutMachine = "loads_without_machine": Event Events in Power9,
    /// Fetches of code that came to the second-level cache while each of its read machines worked.
    FetchesWithoutMachine = "fetches_without_machine": Event Events in Power9,
    /// Stores that came to the second-level cache while each of its read machines worked.
    StoresWithoutMachine = "stores_without_machine": Event Events in Power9,
    /// Castouts of the second-level cache while each of its castout machines worked.
    CastoutsWithoutMachine = "castouts_without_machine": Event Events in Power9,
    /// Fetches of code that came to the second-level cache while it got their line for a load or another fetch.
    FetchesBehindOther = "fetches_behind_other": Event Events in Power9,
    /// Demand misses of the data cache on a line that a prefetch had asked for and that was still on its way.
    LoadsMergedWithPrefetch = "loads_merged_with_prefetch": Event Events in Power9,
    /// Requests of loads and code on a line that a prefetch machine of the third-level cache was getting.
    ReadsBehindPrefetch = "reads_behind_prefetch": Event Events in Power9,

    // Loads and stores of POWER9 that are held or sent back
    /// Stores that could not go from the recirculation queue to the queue of stores at once.
    StoresNotAccepted = "stores_not_accepted": Event Events in Power9,
    /// Stores that slice 0 sent back, to try them again later.
    StoreRejectsSlice0 = "store_rejects_slice0": Event Events in Power9,
    /// Stores that slice 1 sent back, to try them again later.
    StoreRejectsSlice1 = "store_rejects_slice1": Event Events in Power9,
    /// Stores that slice 2 sent back, to try them again later.
    StoreRejectsSlice2 = "store_rejects_slice2": Event Events in Power9,
    /// Stores that slice 3 sent back, to try them again later.
    StoreRejectsSlice3 = "store_rejects_slice3": Event Events in Power9,
    /// Loads of slice 0 that were held for an older store whose address agreed in part, and which lay elsewhere.
    FalseStoreHitsSlice0 = "false_store_hits_slice0": Event Events in Power9,
    /// Loads of slice 1 that were held for an older store whose address agreed in part, and which lay elsewhere.
    FalseStoreHitsSlice1 = "false_store_hits_slice1": Event Events in Power9,
    /// Loads of slice 2 that were held for an older store whose address agreed in part, and which lay elsewhere.
    FalseStoreHitsSlice2 = "false_store_hits_slice2": Event Events in Power9,
    /// Loads of slice 3 that were held for an older store whose address agreed in part, and which lay elsewhere.
    FalseStoreHitsSlice3 = "false_store_hits_slice3": Event Events in Power9,

    // Transactions: why they fail, and what passes
    /// Transactions that failed because another processor accessed their memory outside transactions.
    TransactionsAbortedNonTransactional = "transactions_aborted_non_transactional": Event Events in Power9,
    /// Transactions that failed because of a conflict with another transaction.
    TransactionsAbortedTransactional = "transactions_aborted_transactional": Event Events in Power9,
    /// Transactions that failed because their own thread, while they were suspended, stored to what they had accessed, or drove it out.
    TransactionsAbortedSelf = "transactions_aborted_self": Event Events in Power9,
    /// Transactions that failed because another processor invalidated a translation that they had used.
    TransactionsAbortedTranslation = "transactions_aborted_translation": Event Events in Power9,
    /// Instructions that made their transaction fail because it may not contain them, whose address is of slice 0.
    TransactionsDisallowedSlice0 = "transactions_disallowed_slice0": Event Events in Power9,
    /// Instructions that made their transaction fail because it may not contain them, whose address is of slice 1.
    TransactionsDisallowedSlice1 = "transactions_disallowed_slice1": Event Events in Power9,
    /// Instructions that made their transaction fail because it may not contain them, whose address is of slice 2.
    TransactionsDisallowedSlice2 = "transactions_disallowed_slice2": Event Events in Power9,
    /// Instructions that made their transaction fail because it may not contain them, whose address is of slice 3.
    TransactionsDisallowedSlice3 = "transactions_disallowed_slice3": Event Events in Power9,
    /// Loads outside transactions that made transactions fail.
    LoadsAbortingTransactions = "loads_aborting_transactions": Event Events in Power9,
    /// Stores outside transactions that made transactions fail.
    StoresAbortingTransactions = "stores_aborting_transactions": Event Events in Power9,
    /// Stores within a transaction that made other transactions fail.
    TransactionalStoresAbortingOthers = "transactional_stores_aborting_others": Event Events in Power9,
    /// Loads within a transaction that made it fail because of a conflict with another.
    TransactionalLoadsInConflict = "transactional_loads_in_conflict": Event Events in Power9,
    /// Stores within a transaction that made it fail because of a conflict with another.
    TransactionalStoresInConflict = "transactional_stores_in_conflict": Event Events in Power9,
    /// Instructions of transactions that committed, while the thread's run latch was set, at the commit.
    TransactionInstructionsPassed = "transaction_instructions_passed": Event Events in Power9,
    /// Cycles of transactions that committed, while the thread's run latch was set, at the commit.
    TransactionCyclesPassed = "transaction_cycles_passed": Event Cycles in Power9,
    /// Pairs of instructions that the decoder made one load or store.
    FusedDisplacements = "fused_displacements": Event Events in Power9,
    /// Pairs of instructions that the decoder made one load of a constant.
    FusedConstants = "fused_constants": Event Events in Power9,
    /// Instructions by which software begins the prefetch streams that it has described.
    SoftwareStreamsBegun = "software_streams_begun": Event Events in Power9,

    // Prefetches of software on POWER9
    /// Prefetches of software in slice 0 whose address has no translation in the first-level buffer.
    PrefetchTranslationMissesSlice0 = "prefetch_translation_misses_slice0": Event Events in Power9,
    /// Prefetches of software in slice 1 whose address has no translation in the first-level buffer.
    PrefetchTranslationMissesSlice1 = "prefetch_translation_misses_slice1": Event Events in Power9,
    /// Prefetches of software in slice 2 whose address has no translation in the first-level buffer.
    PrefetchTranslationMissesSlice2 = "prefetch_translation_misses_slice2": Event Events in Power9,
    /// Prefetches of software in slice 3 whose address has no translation in the first-level buffer.
    PrefetchTranslationMissesSlice3 = "prefetch_translation_misses_slice3": Event Events in Power9,
    /// Lines that a prefetch of software brought into the data cache.
    SoftwarePrefetchFills = "software_prefetch_fills": Event Events in Power9,
    /// Lines that a prefetch of software brought into the data cache from memory.
    SoftwarePrefetchFillsFromMemory = "software_prefetch_fills_from_memory": Event Events in Power9,

    /// Vector operations that read a register whose halves were last written as elements of different types.
    FloatingPointRetypes = "floating_point_retypes": Event Events in K8,
    /// Changes of threads decided 256 cycles or more after the thread that leaves completed an instruction.
    ThreadSwitchesAfter256 = "thread_switches_after_256": Event Events in Montecito,
    /// Changes of threads decided 512 cycles or more after the thread that leaves completed an instruction.
    ThreadSwitchesAfter512 = "thread_switches_after_512": Event Events in Montecito,
    /// Changes of threads decided 1024 cycles or more after the thread that leaves completed an instruction.
    ThreadSwitchesAfter1024 = "thread_switches_after_1024": Event Events in Montecito,
    /// Requests of the core that the queue of the second-level cache did not take.
    SecondLevelQueueRejects = "second_level_queue_rejects": Event Events in Knl,

    // Third levels of others, fourth levels, and packages of other groups
    /// Loads whose line came from the third level of another core of the package, which had it unmodified.
    LoadsFromOtherL3Clean = "loads_from_other_l3_clean": Event Events in Power9,
    /// Loads whose line came from the third level of another core of the package, which had it modified.
    LoadsFromOtherL3Modified = "loads_from_other_l3_modified": Event Events in Power9,
    /// Loads whose line came from a third level of the package that is lent to its cores, which had it unmodified.
    LoadsFromLentL3Clean = "loads_from_lent_l3_clean": Event Events in Power9,
    /// Loads whose line came from a third level of the package that is lent to its cores, which had it modified.
    LoadsFromLentL3Modified = "loads_from_lent_l3_modified": Event Events in Power9,
    /// Loads whose line came from a cache of a package of another group, which had it unmodified.
    LoadsFromDistantPackageClean = "loads_from_distant_package_clean": Event Events in Power9,
    /// Loads whose line came from a cache of a package of another group, which had it modified.
    LoadsFromDistantPackageModified = "loads_from_distant_package_modified": Event Events in Power9,
    /// Loads whose line came from the fourth level in front of the package's own memory.
    LoadsFromLocalL4 = "loads_from_local_l4": Event Events in Power9,
    /// Loads whose line came from the fourth level in front of another package's memory.
    LoadsFromRemoteL4 = "loads_from_remote_l4": Event Events in Power9,
    /// Loads whose line came from the fourth level in front of the memory of a package of another group.
    LoadsFromDistantL4 = "loads_from_distant_l4": Event Events in Power9,
    /// Loads whose line came from the memory of a package of another group.
    LoadsFromDistantMemory = "loads_from_distant_memory": Event Events in Power9,
    /// Lines of code from the third level of another core of the package, which had them unmodified.
    FetchesFromOtherL3Clean = "fetches_from_other_l3_clean": Event Events in Power9,
    /// Lines of code from the third level of another core of the package, which had them modified.
    FetchesFromOtherL3Modified = "fetches_from_other_l3_modified": Event Events in Power9,
    /// Lines of code from a third level of the package that is lent to its cores, which had them unmodified.
    FetchesFromLentL3Clean = "fetches_from_lent_l3_clean": Event Events in Power9,
    /// Lines of code from a third level of the package that is lent to its cores, which had them modified.
    FetchesFromLentL3Modified = "fetches_from_lent_l3_modified": Event Events in Power9,
    /// Lines of code from a cache of a package of another group, which had them unmodified.
    FetchesFromDistantPackageClean = "fetches_from_distant_package_clean": Event Events in Power9,
    /// Lines of code from a cache of a package of another group, which had them modified.
    FetchesFromDistantPackageModified = "fetches_from_distant_package_modified": Event Events in Power9,
    /// Lines of code from the fourth level in front of the package's own memory.
    FetchesFromLocalL4 = "fetches_from_local_l4": Event Events in Power9,
    /// Lines of code from the fourth level in front of another package's memory.
    FetchesFromRemoteL4 = "fetches_from_remote_l4": Event Events in Power9,
    /// Lines of code from the fourth level in front of the memory of a package of another group.
    FetchesFromDistantL4 = "fetches_from_distant_l4": Event Events in Power9,
    /// Lines of code from the memory of a package of another group.
    FetchesFromDistantMemory = "fetches_from_distant_memory": Event Events in Power9,
    /// Page-table entries for code read from the third level of another core of the package, which had them unmodified.
    InstructionWalksFromOtherL3Clean = "instruction_walks_from_other_l3_clean": Event Events in Power9,
    /// Page-table entries for code read from the third level of another core of the package, which had them modified.
    InstructionWalksFromOtherL3Modified = "instruction_walks_from_other_l3_modified": Event Events in Power9,
    /// Page-table entries for code read from a third level of the package that is lent to its cores, which had them unmodified.
    InstructionWalksFromLentL3Clean = "instruction_walks_from_lent_l3_clean": Event Events in Power9,
    /// Page-table entries for code read from a third level of the package that is lent to its cores, which had them modified.
    InstructionWalksFromLentL3Modified = "instruction_walks_from_lent_l3_modified": Event Events in Power9,
    /// Page-table entries for code read from a cache of a package of another group, which had them unmodified.
    InstructionWalksFromDistantPackageClean = "instruction_walks_from_distant_package_clean": Event Events in Power9,
    /// Page-table entries for code read from a cache of a package of another group, which had them modified.
    InstructionWalksFromDistantPackageModified = "instruction_walks_from_distant_package_modified": Event Events in Power9,
    /// Page-table entries for code read from the fourth level in front of the package's own memory.
    InstructionWalksFromLocalL4 = "instruction_walks_from_local_l4": Event Events in Power9,
    /// Page-table entries for code read from the fourth level in front of another package's memory.
    InstructionWalksFromRemoteL4 = "instruction_walks_from_remote_l4": Event Events in Power9,
    /// Page-table entries for code read from the fourth level in front of the memory of a package of another group.
    InstructionWalksFromDistantL4 = "instruction_walks_from_distant_l4": Event Events in Power9,
    /// Page-table entries for code read from the memory of a package of another group.
    InstructionWalksFromDistantMemory = "instruction_walks_from_distant_memory": Event Events in Power9,
    /// Last page-table entries of walks for data read from the third level of another core of the package, which had them unmodified.
    DataWalkLeavesFromOtherL3Clean = "data_walk_leaves_from_other_l3_clean": Event Events in Power9,
    /// Last page-table entries of walks for data read from the third level of another core of the package, which had them modified.
    DataWalkLeavesFromOtherL3Modified = "data_walk_leaves_from_other_l3_modified": Event Events in Power9,
    /// Last page-table entries of walks for data read from a third level of the package that is lent to its cores, unmodified there.
    DataWalkLeavesFromLentL3Clean = "data_walk_leaves_from_lent_l3_clean": Event Events in Power9,
    /// Last page-table entries of walks for data read from a third level of the package that is lent to its cores, which had them modified.
    DataWalkLeavesFromLentL3Modified = "data_walk_leaves_from_lent_l3_modified": Event Events in Power9,
    /// Last page-table entries of walks for data read from a cache of a package of another group, which had them unmodified.
    DataWalkLeavesFromDistantPackageClean = "data_walk_leaves_from_distant_package_clean": Event Events in Power9,
    /// Last page-table entries of walks for data read from a cache of a package of another group, which had them modified.
    DataWalkLeavesFromDistantPackageModified = "data_walk_leaves_from_distant_package_modified": Event Events in Power9,
    /// Last page-table entries of walks for data read from the fourth level in front of the package's own memory.
    DataWalkLeavesFromLocalL4 = "data_walk_leaves_from_local_l4": Event Events in Power9,
    /// Last page-table entries of walks for data read from the fourth level in front of another package's memory.
    DataWalkLeavesFromRemoteL4 = "data_walk_leaves_from_remote_l4": Event Events in Power9,
    /// Last page-table entries of walks for data read from the fourth level in front of the memory of a package of another group.
    DataWalkLeavesFromDistantL4 = "data_walk_leaves_from_distant_l4": Event Events in Power9,
    /// Last page-table entries of walks for data read from the memory of a package of another group.
    DataWalkLeavesFromDistantMemory = "data_walk_leaves_from_distant_memory": Event Events in Power9,

    // How far requests go beyond the caches of a cluster: to the package, to its group, or to the whole system
    /// Requests for demand loads that asked the package alone, and rightly so.
    LoadScopeChipRight = "load_scope_chip_right": Event Events in Power9,
    /// Requests for demand loads that asked the group at first, and rightly so.
    LoadScopeGroupRight = "load_scope_group_right": Event Events in Power9,
    /// Requests for demand loads that asked the package in vain and then the group.
    LoadScopeGroupGrown = "load_scope_group_grown": Event Events in Power9,
    /// Requests for demand loads that asked the group where the package would have been enough.
    LoadScopeGroupWide = "load_scope_group_wide": Event Events in Power9,
    /// Requests for demand loads that asked the system at first, and rightly so.
    LoadScopeSystemRight = "load_scope_system_right": Event Events in Power9,
    /// Requests for demand loads that asked the package or the group in vain and in the end the system.
    LoadScopeSystemGrown = "load_scope_system_grown": Event Events in Power9,
    /// Requests for demand loads that asked the system where the package or the group would have been enough.
    LoadScopeSystemWide = "load_scope_system_wide": Event Events in Power9,
    /// Requests for lines of code that asked the package alone, and rightly so.
    FetchScopeChipRight = "fetch_scope_chip_right": Event Events in Power9,
    /// Requests for lines of code that asked the group at first, and rightly so.
    FetchScopeGroupRight = "fetch_scope_group_right": Event Events in Power9,
    /// Requests for lines of code that asked the package in vain and then the group.
    FetchScopeGroupGrown = "fetch_scope_group_grown": Event Events in Power9,
    /// Requests for lines of code that asked the group where the package would have been enough.
    FetchScopeGroupWide = "fetch_scope_group_wide": Event Events in Power9,
    /// Requests for lines of code that asked the system at first, and rightly so.
    FetchScopeSystemRight = "fetch_scope_system_right": Event Events in Power9,
    /// Requests for lines of code that asked the package or the group in vain and in the end the system.
    FetchScopeSystemGrown = "fetch_scope_system_grown": Event Events in Power9,
    /// Requests for lines of code that asked the system where the package or the group would have been enough.
    FetchScopeSystemWide = "fetch_scope_system_wide": Event Events in Power9,
    /// Requests for page-table entries that asked the package alone, and rightly so.
    WalkScopeChipRight = "walk_scope_chip_right": Event Events in Power9,
    /// Requests for page-table entries that asked the group at first, and rightly so.
    WalkScopeGroupRight = "walk_scope_group_right": Event Events in Power9,
    /// Requests for page-table entries that asked the package in vain and then the group.
    WalkScopeGroupGrown = "walk_scope_group_grown": Event Events in Power9,
    /// Requests for page-table entries that asked the group where the package would have been enough.
    WalkScopeGroupWide = "walk_scope_group_wide": Event Events in Power9,
    /// Requests for page-table entries that asked the system at first, and rightly so.
    WalkScopeSystemRight = "walk_scope_system_right": Event Events in Power9,
    /// Requests for page-table entries that asked the package or the group in vain and in the end the system.
    WalkScopeSystemGrown = "walk_scope_system_grown": Event Events in Power9,
    /// Requests for page-table entries that asked the system where the package or the group would have been enough.
    WalkScopeSystemWide = "walk_scope_system_wide": Event Events in Power9,
    /// Requests of the second level for which it guessed the package, rightly.
    L2GuessChipRight = "l2_guess_chip_right": Event Events in Power9,
    /// Requests of the second level for which it guessed the package, wrongly.
    L2GuessChipWrong = "l2_guess_chip_wrong": Event Events in Power9,
    /// Requests of the second level for which it guessed the group, rightly.
    L2GuessGroupRight = "l2_guess_group_right": Event Events in Power9,
    /// Requests of the second level for which it guessed the group, wrongly.
    L2GuessGroupWrong = "l2_guess_group_wrong": Event Events in Power9,
    /// Requests of the second level for which it guessed the system, rightly.
    L2GuessSystemRight = "l2_guess_system_right": Event Events in Power9,
    /// Requests of the second level for which it guessed the system, wrongly.
    L2GuessSystemWrong = "l2_guess_system_wrong": Event Events in Power9,
    /// Times that the second level asked the package alone.
    L2PumpsChip = "l2_pumps_chip": Event Events in Power9,
    /// Times that the second level asked the group.
    L2PumpsGroup = "l2_pumps_group": Event Events in Power9,
    /// Times that the second level asked the system.
    L2PumpsSystem = "l2_pumps_system": Event Events in Power9,
    /// Requests of the prefetcher of data for which the package was guessed, rightly.
    PrefetchGuessChipRight = "prefetch_guess_chip_right": Event Events in Power9,
    /// Requests of the prefetcher of data for which the package was guessed, wrongly.
    PrefetchGuessChipWrong = "prefetch_guess_chip_wrong": Event Events in Power9,
    /// Requests of the prefetcher of data for which the group was guessed, rightly.
    PrefetchGuessGroupRight = "prefetch_guess_group_right": Event Events in Power9,
    /// Requests of the prefetcher of data for which the group was guessed where the package was enough.
    PrefetchGuessGroupWide = "prefetch_guess_group_wide": Event Events in Power9,
    /// Requests of the prefetcher of data for which the group was guessed where the system was needed.
    PrefetchGuessGroupNarrow = "prefetch_guess_group_narrow": Event Events in Power9,
    /// Requests of the prefetcher of data for which the system was guessed, rightly.
    PrefetchGuessSystemRight = "prefetch_guess_system_right": Event Events in Power9,
    /// Requests of the prefetcher of data for which the system was guessed, wrongly.
    PrefetchGuessSystemWrong = "prefetch_guess_system_wrong": Event Events in Power9,
    /// Times that the prefetcher of data asked the package alone for a line of even number.
    PrefetchPumpsChipEven = "prefetch_pumps_chip_even": Event Events in Power9,
    /// Times that the prefetcher of data asked the package alone for a line of odd number.
    PrefetchPumpsChipOdd = "prefetch_pumps_chip_odd": Event Events in Power9,
    /// Times that the prefetcher of data asked the group for a line of even number.
    PrefetchPumpsGroupEven = "prefetch_pumps_group_even": Event Events in Power9,
    /// Times that the prefetcher of data asked the group for a line of odd number.
    PrefetchPumpsGroupOdd = "prefetch_pumps_group_odd": Event Events in Power9,
    /// Times that the prefetcher of data asked the system for a line of even number.
    PrefetchPumpsSystemEven = "prefetch_pumps_system_even": Event Events in Power9,
    /// Times that the prefetcher of data asked the system for a line of odd number.
    PrefetchPumpsSystemOdd = "prefetch_pumps_system_odd": Event Events in Power9,
    /// Lines of even number that the third level gave up to memory, whether that needed them or not.
    L3CastoutsMemoryEven = "l3_castouts_memory_even": Event Events in Power9,
    /// Lines of odd number that the third level gave up to memory, whether that needed them or not.
    L3CastoutsMemoryOdd = "l3_castouts_memory_odd": Event Events in Power9,
    /// Lines of even number that the third level gave up to another one of the package, which took their data.
    L3CastoutsLateralDataEven = "l3_castouts_lateral_data_even": Event Events in Power9,
    /// Lines of odd number that the third level gave up to another one of the package, which took their data.
    L3CastoutsLateralDataOdd = "l3_castouts_lateral_data_odd": Event Events in Power9,
    /// Lines of even number that the third level gave up to another one of the package, which had their data.
    L3CastoutsLateralNoDataEven = "l3_castouts_lateral_no_data_even": Event Events in Power9,
    /// Lines of odd number that the third level gave up to another one of the package, which had their data.
    L3CastoutsLateralNoDataOdd = "l3_castouts_lateral_no_data_odd": Event Events in Power9,
    /// Times that the prefetcher of data asked again, farther away, for a line whose number is 0 modulo 4.
    PrefetchRetriesPort0 = "prefetch_retries_port0": Event Events in Power9,
    /// Times that the prefetcher of data asked again, farther away, for a line whose number is 1 modulo 4.
    PrefetchRetriesPort1 = "prefetch_retries_port1": Event Events in Power9,
    /// Times that the prefetcher of data asked again, farther away, for a line whose number is 2 modulo 4.
    PrefetchRetriesPort2 = "prefetch_retries_port2": Event Events in Power9,
    /// Times that the prefetcher of data asked again, farther away, for a line whose number is 3 modulo 4.
    PrefetchRetriesPort3 = "prefetch_retries_port3": Event Events in Power9,
    /// Times that the second level asked again, farther away, for a line to be loaded.
    L2RetriesLoads = "l2_retries_loads": Event Events in Power9,
    /// Times that the second level asked again, farther away, for a line to be written, or for the permission to write one.
    L2RetriesStores = "l2_retries_stores": Event Events in Power9,
    /// Requests for demand loads that asked at first less or more than they needed.
    LoadScopeWrong = "load_scope_wrong": Event Events in Power9,
    /// Requests for lines of code that asked at first less or more than they needed.
    FetchScopeWrong = "fetch_scope_wrong": Event Events in Power9,
    /// Requests for page-table entries that asked at first less or more than they needed.
    WalkScopeWrong = "walk_scope_wrong": Event Events in Power9,
    /// Loads whose line came from any fourth level, or from the memory of a package of another group.
    LoadsFromL4AndDistantMemory = "loads_from_l4_and_distant_memory": Event Events in Power9,
    /// Lines of code from any fourth level, or from the memory of a package of another group.
    FetchesFromL4AndDistantMemory = "fetches_from_l4_and_distant_memory": Event Events in Power9,
    /// Snoops for a read that found the line modified in the second level.
    SnoopsL2ModifiedRead = "snoops_l2_modified_read": Event Events in Power9,
    /// Snoops for a write that found the line modified in the second level.
    SnoopsL2ModifiedWrite = "snoops_l2_modified_write": Event Events in Power9,
    /// Snoops for a write that took a line out of the second level that others may have too.
    SnoopsL2SharedInvalidated = "snoops_l2_shared_invalidated": Event Events in Power9,
    /// Snoops that found the line in the third level.
    SnoopsL3Hit = "snoops_l3_hit": Event Events in Power9,
    /// Snoops that did not find the line in the third level.
    SnoopsL3Miss = "snoops_l3_miss": Event Events in Power9,
    /// Snoops for a write that took a line out of the third level that others may have too.
    SnoopsL3SharedInvalidated = "snoops_l3_shared_invalidated": Event Events in Power9,
    /// Cycles in which the first snoop machine of the second-level cache works.
    SecondSnoopMachine0Cycles = "second_snoop_machine0_cycles": State Cycles in Power9,
    /// Cycles in which that snoop machine of the second-level cache works which is sampled in its turn.
    SecondSnoopMachineSampleCycles = "second_snoop_machine_sample_cycles": State Cycles in Power9,
    /// Cycles in which the first snoop machine of the third-level cache works.
    ThirdSnoopMachine0Cycles = "third_snoop_machine0_cycles": State Cycles in Power9,
    /// Cycles in which that snoop machine of the third-level cache works which is sampled in its turn.
    ThirdSnoopMachineSampleCycles = "third_snoop_machine_sample_cycles": State Cycles in Power9,
    /// Requests of a core to the memory of its own package: for lines and their ownership, write-backs, write-combining buffers.
    MemoryRequestsLocal = "memory_requests_local": Event Events in Northbridge,
    /// Requests of a core to the memory of another package: for lines and their ownership, write-backs, write-combining buffers.
    MemoryRequestsRemote = "memory_requests_remote": Event Events in Northbridge,
    /// Uncached accesses of a core to I/O of its own package.
    IoRequestsLocal = "io_requests_local": Event Events in Northbridge,
    /// Uncached accesses of a core to I/O of another package.
    IoRequestsRemote = "io_requests_remote": Event Events in Northbridge,
    /// Uncached accesses of cores of other packages to I/O of this one.
    IoRequestsFromRemote = "io_requests_from_remote": Event Events in Northbridge,
    /// Requests of devices of a package to its own memory.
    DeviceMemoryRequestsLocal = "device_memory_requests_local": Event Events in Northbridge,
    /// Requests of devices of a package to the memory of another one.
    DeviceMemoryRequestsRemote = "device_memory_requests_remote": Event Events in Northbridge,
    /// Requests of devices of a package to its own I/O.
    DeviceIoRequestsLocal = "device_io_requests_local": Event Events in Northbridge,
    /// Requests of devices of a package to the I/O of another one.
    DeviceIoRequestsRemote = "device_io_requests_remote": Event Events in Northbridge,
    /// Requests of devices of other packages to the I/O of this one.
    DeviceIoRequestsFromRemote = "device_io_requests_from_remote": Event Events in Northbridge,
    /// Sized writes of bytes that are answered: uncached stores that are no whole doublewords.
    SizedWritesNonPostedBytes = "sized_writes_non_posted_bytes": Event Events in Northbridge,
    /// Sized writes of doublewords that are answered: uncached stores of whole doublewords.
    SizedWritesNonPostedDoublewords = "sized_writes_non_posted_doublewords": Event Events in Northbridge,
    /// Sized writes of bytes, at most 32, that are not answered: of devices, and of write-combining buffers that are not full.
    SizedWritesPostedBytes = "sized_writes_posted_bytes": Event Events in Northbridge,
    /// Sized writes of blocks that are not answered: of devices, and of write-combining buffers that are full.
    SizedWritesPostedDoublewords = "sized_writes_posted_doublewords": Event Events in Northbridge,
    /// Sized reads within a doubleword.
    SizedReadsBytes = "sized_reads_bytes": Event Events in Northbridge,
    /// Sized reads of more than a doubleword.
    SizedReadsDoublewords = "sized_reads_doublewords": Event Events in Northbridge,
    /// Commands to read memory, to change it and to write it back in one.
    SizedReadModifyWrites = "sized_read_modify_writes": Event Events in Northbridge,
    /// Sized writes of 32 bytes to the memory of a package.
    SizedWritesOf32 = "sized_writes_of_32": Event Events in Northbridge,
    /// Sized writes of 64 bytes to the memory of a package.
    SizedWritesOf64 = "sized_writes_of_64": Event Events in Northbridge,
    /// Sized reads of 32 bytes of the memory of a package.
    SizedReadsOf32 = "sized_reads_of_32": Event Events in Northbridge,
    /// Sized reads of 64 bytes of the memory of a package.
    SizedReadsOf64 = "sized_reads_of_64": Event Events in Northbridge,
    /// Doublewords of commands that a package sends on its HyperTransport link 0.
    Link0Commands = "link0_commands": Event Events in Northbridge,
    /// Doublewords of data that a package sends on its HyperTransport link 0.
    Link0Data = "link0_data": Event Events in Northbridge,
    /// Doublewords with which a package gives buffers back on its HyperTransport link 0.
    Link0Releases = "link0_releases": Event Events in Northbridge,
    /// Doublewords that a package could have sent on its HyperTransport link 0 and did not.
    Link0Idle = "link0_idle": Event Events in Northbridge,
    /// Doublewords of commands that a package sends on its HyperTransport link 1.
    Link1Commands = "link1_commands": Event Events in Northbridge,
    /// Doublewords of data that a package sends on its HyperTransport link 1.
    Link1Data = "link1_data": Event Events in Northbridge,
    /// Doublewords with which a package gives buffers back on its HyperTransport link 1.
    Link1Releases = "link1_releases": Event Events in Northbridge,
    /// Doublewords that a package could have sent on its HyperTransport link 1 and did not.
    Link1Idle = "link1_idle": Event Events in Northbridge,
    /// Doublewords of commands that a package sends on its HyperTransport link 2.
    Link2Commands = "link2_commands": Event Events in Northbridge,
    /// Doublewords of data that a package sends on its HyperTransport link 2.
    Link2Data = "link2_data": Event Events in Northbridge,
    /// Doublewords with which a package gives buffers back on its HyperTransport link 2.
    Link2Releases = "link2_releases": Event Events in Northbridge,
    /// Doublewords that a package could have sent on its HyperTransport link 2 and did not.
    Link2Idle = "link2_idle": Event Events in Northbridge,
    /// Bus transactions that tell a directory that an unmodified line left the last cache of a core.
    BusCleanCastouts = "bus_clean_castouts": Event Events in Montecito,
    /// Bus reads of a line that leave it where it is.
    BusCurrentReads = "bus_current_reads": Event Events in Montecito,
    /// Snoops to which the core answers that it does not have the line.
    SnoopAnswersMiss = "snoop_answers_miss": Event Events in Ia64,
    /// Snoops to which the core answers that it has the line unmodified.
    SnoopAnswersHit = "snoop_answers_hit": Event Events in Ia64,
    /// Snoops to which the core answers that it has the line modified: it writes it back.
    SnoopAnswersModified = "snoop_answers_modified": Event Events in Ia64,
    /// Snoops to which the package answers that none of its cores has the line.
    SnoopSignoffsMiss = "snoop_signoffs_miss": Event Events in Montecito,
    /// Snoops to which the package answers that a core has the line and none has it modified.
    SnoopSignoffsHit = "snoop_signoffs_hit": Event Events in Montecito,
    /// Snoops to which the package answers that a core has the line modified.
    SnoopSignoffsModified = "snoop_signoffs_modified": Event Events in Montecito,
    /// Writes of up to eight combined bytes, the first half of sixteen.
    CombinedWrites8Even = "combined_writes_8_even": Event Events in Montecito,
    /// Writes of up to eight combined bytes, the second half of sixteen.
    CombinedWrites8Odd = "combined_writes_8_odd": Event Events in Montecito,
    /// Writes of sixteen combined bytes.
    CombinedWrites16 = "combined_writes_16": Event Events in Montecito,
    /// Writes of thirty-two combined bytes.
    CombinedWrites32 = "combined_writes_32": Event Events in Montecito,
    /// Bus clocks in which data of a transaction are on the bus.
    BusDataCycles = "bus_data_cycles": Event Events in Montecito,
    /// Lines that came into the second-level cache of data modified, or to be modified at once.
    L2DataFillsModified = "l2_data_fills_modified": Event Events in Montecito,
    /// Lines that came into the second-level cache of data exclusive.
    L2DataFillsExclusive = "l2_data_fills_exclusive": Event Events in Montecito,
    /// Lines that came into the second-level cache of data shared.
    L2DataFillsShared = "l2_data_fills_shared": Event Events in Montecito,
    /// Accesses of a core to the graphics aperture that leave its caches.
    ApertureAccesses = "aperture_accesses": Event Events in Northbridge,
    /// Accesses of devices of a package to the graphics aperture.
    DeviceApertureAccesses = "device_aperture_accesses": Event Events in Northbridge,
    /// Accesses to the graphics aperture whose translation its buffer did not have.
    ApertureMisses = "aperture_misses": Event Events in Northbridge,
    /// The lower bits of the number of requests between the second level and their answers, added up over cycles.
    BusRequestQueueLow = "bus_request_queue_low": Event Events in Ia64,
    /// The upper bits of the number of requests between the second level and their answers, added up over cycles.
    BusRequestQueueHigh = "bus_request_queue_high": Event Events in Ia64,
    /// The lower bits of the number of lines that memory has been asked for and has not begun to send, added up over cycles.
    BusReadsOutstandingLow = "bus_reads_outstanding_low": Event Events in Montecito,
    /// The upper bits of the number of lines that memory has been asked for and has not begun to send, added up over cycles.
    BusReadsOutstandingHigh = "bus_reads_outstanding_high": Event Events in Montecito,
    /// The lower bits of the number of requests that wait for the bus, added up over cycles.
    BusArbiterQueueLow = "bus_arbiter_queue_low": Event Events in Montecito,
    /// The upper bits of the number of requests that wait for the bus, added up over cycles.
    BusArbiterQueueHigh = "bus_arbiter_queue_high": Event Events in Montecito,
    /// The lower bits of the number of writes that have not left for the bus, added up over cycles.
    BusWriteQueueLow = "bus_write_queue_low": Event Events in Montecito,
    /// The upper bits of the number of writes that have not left for the bus, added up over cycles.
    BusWriteQueueHigh = "bus_write_queue_high": Event Events in Montecito,
    /// The lower bits of the number of clean castouts that wait for the bus, added up over cycles.
    BusCastoutQueueLow = "bus_castout_queue_low": Event Events in Montecito,
    /// The upper bits of the number of clean castouts that wait for the bus, added up over cycles.
    BusCastoutQueueHigh = "bus_castout_queue_high": Event Events in Montecito,
    /// The lower bits of the number of transactions that are on the bus, added up over cycles.
    BusInOrderQueueLow = "bus_in_order_queue_low": Event Events in Ia64,
    /// The upper bits of the number of transactions that are on the bus, added up over cycles.
    BusInOrderQueueHigh = "bus_in_order_queue_high": Event Events in Ia64,
    /// Bus clocks of bursts of data that follow another burst at once.
    BusBackToBackCycles = "bus_back_to_back_cycles": Event Events in Montecito,
    /// Operations of the second level's queue that are cancelled: recirculations beyond one a cycle, and short ways of accesses that are not aligned.
    L2QueueCancelsRecirculation = "l2_queue_cancels_recirculation": Event Events in Montecito,
    /// Operations of the second level's queue that are cancelled behind a cancelled store to the same place.
    L2QueueCancelsCancelledStore = "l2_queue_cancels_cancelled_store": Event Events in Montecito,
    /// Operations of the second level's queue that are cancelled by an older store to the same place in the first stage of its pipeline.
    L2QueueCancelsStoreFirstStage = "l2_queue_cancels_store_first_stage": Event Events in Montecito,
    /// The same, with the store in the second stage.
    L2QueueCancelsStoreSecondStage = "l2_queue_cancels_store_second_stage": Event Events in Montecito,
    /// The same, with the store in the third stage.
    L2QueueCancelsStoreThirdStage = "l2_queue_cancels_store_third_stage": Event Events in Montecito,
    /// The same, with the store in the fourth stage.
    L2QueueCancelsStoreFourthStage = "l2_queue_cancels_store_fourth_stage": Event Events in Montecito,
    /// Operations of the second level's queue that are cancelled behind an acquire.
    L2QueueCancelsAcquire = "l2_queue_cancels_acquire": Event Events in Montecito,
    /// Operations of the second level's queue that release or act as releases, and are cancelled for an older one.
    L2QueueCancelsRelease = "l2_queue_cancels_release": Event Events in Montecito,
    /// Operations that are cancelled on a way around the second level's queue, for a bank of the data array.
    L2QueueCancelsBank = "l2_queue_cancels_bank": Event Events in Montecito,
    /// Semaphores in the second level's queue that are cancelled for an older operation.
    L2QueueCancelsSemaphore = "l2_queue_cancels_semaphore": Event Events in Montecito,
    /// Operations of the second level's queue that are cancelled since more were issued than there are ports.
    L2QueueCancelsOversubscription = "l2_queue_cancels_oversubscription": Event Events in Montecito,
    /// Operations of the second level's queue that are cancelled for data that come in.
    L2QueueCancelsFill = "l2_queue_cancels_fill": Event Events in Montecito,
    /// Operations of the second level's queue that are cancelled for data that are read to be written back.
    L2QueueCancelsWriteBack = "l2_queue_cancels_write_back": Event Events in Montecito,
    /// Operations of the second level's queue that wait for acceptance or synchronize, and are cancelled for an older one.
    L2QueueCancelsSynchronization = "l2_queue_cancels_synchronization": Event Events in Montecito,
    /// Stores in the second level's queue that are cancelled for data that come in.
    L2QueueCancelsFillStore = "l2_queue_cancels_fill_store": Event Events in Montecito,
    /// Stores in the second level's queue that are cancelled since the buffer of their data is read for a line that comes in.
    L2QueueCancelsStoreData = "l2_queue_cancels_store_data": Event Events in Montecito,
    /// Operations of the second level's queue that are cancelled, for whatever reason.
    L2QueueCancels = "l2_queue_cancels": Event Events in Montecito,
    /// Operations of the second level's queue that are cancelled late behind an acquire of their issue group.
    L2QueueLateCancelsSibling = "l2_queue_late_cancels_sibling": Event Events in Montecito,
    /// Operations that are cancelled late on the short way around the second level's queue, since they act as releases.
    L2QueueLateCancelsBypass = "l2_queue_late_cancels_bypass": Event Events in Montecito,
    /// Cycles in which the second level's queue is full.
    L2QueueFullCycles = "l2_queue_full_cycles": State Cycles in Montecito,
    /// Cycles in which the second level's queue has an operation that releases, or acts as a release.
    L2QueueReleaseCycles = "l2_queue_release_cycles": State Cycles in Montecito,
    /// Cycles in which the second level's queue has an acquire.
    L2QueueAcquireCycles = "l2_queue_acquire_cycles": State Cycles in Montecito,
    /// Cycles in which all lines that the second level can ask for are on their way.
    L2FillBufferFullCycles = "l2_fill_buffer_full_cycles": State Cycles in Montecito,
    /// Cycles in which the second level has as many modified lines to write back as it can.
    L2VictimBufferFullCycles = "l2_victim_buffer_full_cycles": State Cycles in Montecito,
    /// Loads that go the short way around the second level's queue.
    L2QueueShortBypasses = "l2_queue_short_bypasses": Event Events in Montecito,
    /// Loads that go the longer way around the second level's queue.
    L2QueueLongBypasses = "l2_queue_long_bypasses": Event Events in Montecito,
    /// Misses of the second level that go around its queue to the third.
    L2QueueMissBypasses = "l2_queue_miss_bypasses": Event Events in Montecito,
    /// Ways of misses around the second level's queue that are given up, since the access is none that may take it.
    L2QueueMissBypassesInvalid = "l2_queue_miss_bypasses_invalid": Event Events in Montecito,
    /// Ways of misses around the second level's queue that are given up, for the memory attribute or the order.
    L2QueueMissBypassesSpeculative = "l2_queue_miss_bypasses_speculative": Event Events in Montecito,
    /// Operations that enter the second level's queue as hits.
    L2QueueHits = "l2_queue_hits": Event Events in Montecito,
    /// Operations that hit and are forced to go round the second level's queue again.
    L2QueueHitsHeld = "l2_queue_hits_held": Event Events in Montecito,
    /// Operations that enter the second level's queue as misses of a line on its way.
    L2QueueFillHits = "l2_queue_fill_hits": Event Events in Montecito,
    /// Operations that enter the second level's queue as misses, and behind one that goes round again.
    L2QueueMissesBehindRecirculation = "l2_queue_misses_behind_recirculation": Event Events in Montecito,
    /// Operations that enter the second level's queue as misses, beside a miss of the same set.
    L2QueueMissesSameSet = "l2_queue_misses_same_set": Event Events in Montecito,
    /// Operations that enter the second level's queue as misses of a line that another in the queue has missed.
    L2QueueMissesBehindMiss = "l2_queue_misses_behind_miss": Event Events in Montecito,
    /// Operations that enter the second level's queue as misses of a line that was missed a cycle before.
    L2QueueMissesOneBehindMiss = "l2_queue_misses_one_behind_miss": Event Events in Montecito,
    /// Reads that enter the second level's queue and miss a line that another has missed.
    L2QueueSecondaryReads = "l2_queue_secondary_reads": Event Events in Montecito,
    /// Writes that enter the second level's queue and miss a line that another has missed.
    L2QueueSecondaryWrites = "l2_queue_secondary_writes": Event Events in Montecito,
    /// Operations of the second level's queue that are sent round again.
    L2QueueRecirculations = "l2_queue_recirculations": Event Events in Montecito,
    /// Integer loads that the second level completes.
    L2QueueIssuedIntegerLoads = "l2_queue_issued_integer_loads": Event Events in Montecito,
    /// Floating-point loads that the second level completes.
    L2QueueIssuedFloatingLoads = "l2_queue_issued_floating_loads": Event Events in Montecito,
    /// Semaphores and stores that read first, completed by the second level.
    L2QueueIssuedModifications = "l2_queue_issued_modifications": Event Events in Montecito,
    /// Other stores that the second level completes.
    L2QueueIssuedStores = "l2_queue_issued_stores": Event Events in Montecito,
    /// Prefetches that the second level completes.
    L2QueueIssuedPrefetches = "l2_queue_issued_prefetches": Event Events in Montecito,
    /// Operations other than loads, stores and prefetches that the second level completes.
    L2QueueIssuedOthers = "l2_queue_issued_others": Event Events in Montecito,
    /// Loads that waited as the second level got their line for a fetch of code.
    LoadsBehindFetch = "loads_behind_fetch": Event Events in Power9,
    /// Fetches of code that came to the second-level cache while it got their line for a store.
    FetchesBehindStore = "fetches_behind_store": Event Events in Power9,
    /// Loads of the first load/store slice whose line the table of predicted ways does not have.
    WayPredictionMissesSlice0 = "way_prediction_misses_slice0": Event Events in Power9,
    /// Loads of the second load/store slice whose line the table of predicted ways does not have.
    WayPredictionMissesSlice1 = "way_prediction_misses_slice1": Event Events in Power9,
    /// Loads of the third load/store slice whose line the table of predicted ways does not have.
    WayPredictionMissesSlice2 = "way_prediction_misses_slice2": Event Events in Power9,
    /// Loads of the fourth load/store slice whose line the table of predicted ways does not have.
    WayPredictionMissesSlice3 = "way_prediction_misses_slice3": Event Events in Power9,
    /// Lines that a device put into the third-level cache of the core.
    L3LinesInjected = "l3_lines_injected": Event Events in Power9,
    /// Cycles in which the first write-inject machine of the third-level cache works.
    ThirdInjectMachine0Cycles = "third_inject_machine0_cycles": State Cycles in Power9,
    /// Cycles in which the write-inject machine of the third-level cache works that is sampled then.
    ThirdInjectMachineSampleCycles = "third_inject_machine_sample_cycles": State Cycles in Power9,
    /// Touches of a line that will not be used again, which the second-level cache passed on to the third.
    L3TransientPrefetches = "l3_transient_prefetches": Event Events in Power9,
    /// Demand misses of a line that a stream of the prefetcher has asked for, which pass over the one before it.
    DataPrefetchStreamHitsAhead = "data_prefetch_stream_hits_ahead": Event Events in Power9,
    /// Accesses for which the memory-side cache filled a place that had no line.
    MemorySideCacheMissesInvalid = "memory_side_cache_misses_invalid": Event Events in Knl,
    /// Pairs of bundles that came into the front end from beyond the first-level instruction cache.
    InstructionPairsReceived = "instruction_pairs_received": Event Events in Ia64,
    /// Snoops of lines of the first-level instruction cache.
    InstructionCacheSnoops = "instruction_cache_snoops": Event Events in Montecito,
    /// Purges of translations for instructions.
    InstructionTranslationPurges = "instruction_translation_purges": Event Events in Montecito,
    /// Requests to prefetch instructions that follow a branch with a hint to go on with sequential lines.
    InstructionStreamPrefetches = "instruction_stream_prefetches": Event Events in Montecito,
    /// Fetches of uncacheable code that went to the second-level instruction cache.
    L2InstructionUncacheableReads = "l2_instruction_uncacheable_reads": Event Events in Montecito,
    /// Cycles in which every place for lines of code on their way to the front end is taken.
    ReadAddressBufferFullCycles = "read_address_buffer_full_cycles": Event Cycles in Montecito,
    /// Cycles in which at most one place for lines of code on their way to the front end is free.
    ReadAddressBufferNearlyFullCycles = "read_address_buffer_nearly_full_cycles": Event Cycles in Montecito,
    /// Fetches of code whose line is on its way to the front end.
    ReadAddressBufferHits = "read_address_buffer_hits": Event Events in Montecito,
    /// Fetches that a prefetched line supplies in time and before it is in the first-level instruction cache.
    StreamingBufferHits = "streaming_buffer_hits": Event Events in Montecito,
    /// Cycles in which the prefetcher of code waits for a place.
    InstructionPrefetchStallCycles = "instruction_prefetch_stall_cycles": Event Cycles in Montecito,
    /// Look-ups of fetches whose line is on its way to the second-level instruction cache, and which hit at last.
    L2InstructionDemandRecirculates = "l2_instruction_demand_recirculates": Event Events in Montecito,
    /// The same of prefetches.
    L2InstructionPrefetchRecirculates = "l2_instruction_prefetch_recirculates": Event Events in Montecito,
    /// Look-ups of fetches whose line was on its way to the second-level instruction cache, and which missed at last.
    L2InstructionDemandRecirculatesMissed = "l2_instruction_demand_recirculates_missed": Event Events in Montecito,
    /// The same of prefetches.
    L2InstructionPrefetchRecirculatesMissed = "l2_instruction_prefetch_recirculates_missed": Event Events in Montecito,
    /// Requests of the second-level instruction cache for fetches that the third level refused.
    L2InstructionDemandRejects = "l2_instruction_demand_rejects": Event Events in Montecito,
    /// The same for prefetches.
    L2InstructionPrefetchRejects = "l2_instruction_prefetch_rejects": Event Events in Montecito,
    /// Look-ups of fetches that the second-level instruction cache gave up although it had the line.
    L2InstructionDemandConflicts = "l2_instruction_demand_conflicts": Event Events in Montecito,
    /// The same of prefetches.
    L2InstructionPrefetchConflicts = "l2_instruction_prefetch_conflicts": Event Events in Montecito,
    /// Look-ups of fetches that the second-level instruction cache gave up because a snoop took the line at the same time.
    L2InstructionDemandConflictsMissed = "l2_instruction_demand_conflicts_missed": Event Events in Montecito,
    /// The same of prefetches.
    L2InstructionPrefetchConflictsMissed = "l2_instruction_prefetch_conflicts_missed": Event Events in Montecito,
    /// Look-ups for fetches that were given up because the prefetch before them had been looked up.
    L2InstructionSpeculativeAborts = "l2_instruction_speculative_aborts": Event Events in Montecito,
    /// The lower bits of the number of snoops that a core has not answered, added up over cycles.
    BusSnoopQueueLow = "bus_snoop_queue_low": Event Events in Ia64,
    /// The upper bits of the number of snoops that a core has not answered, added up over cycles.
    BusSnoopQueueHigh = "bus_snoop_queue_high": Event Events in Montecito,
    /// The lower bits of the number of answers to snoops that the bus has not taken, added up over cycles.
    BusSnoopAnswersLow = "bus_snoop_answers_low": Event Events in Montecito,
    /// The upper bits of the number of answers to snoops that the bus has not taken, added up over cycles.
    BusSnoopAnswersHigh = "bus_snoop_answers_high": Event Events in Montecito,
    /// Bus clocks in which a transaction waits for the answers of others to its snoop.
    BusSnoopStallCycles = "bus_snoop_stall_cycles": Event Events in Ia64,
    /// Writes that have not left for the bus and whose line a snoop asks for.
    BusWriteCollisions = "bus_write_collisions": Event Events in Montecito,
    /// Lines that were to be written back, and that are the answer to a snoop instead.
    BusWritesCancelled = "bus_writes_cancelled": Event Events in Montecito,
    /// Clean castouts that wait for the bus and whose line a snoop asks for.
    BusCastoutCollisions = "bus_castout_collisions": Event Events in Montecito,
    /// Transactions that are on the bus when the core begins another one on their line.
    BusInOrderCollisions = "bus_in_order_collisions": Event Events in Montecito,
    /// Operations of the second level's queue that a snoop of their line sends round.
    L2QueueSnooped = "l2_queue_snooped": Event Events in Montecito,
    /// Lines that come into the second level at the time of a snoop for them.
    L2QueueSnoopedFills = "l2_queue_snooped_fills": Event Events in Montecito,
    /// Vector divisions and square roots of double precision completed.
    FloatingPointVectorDoubleDivides = "floating_point_vector_double_divides": Event Events in Power9,
    /// Vector divisions and square roots of single precision completed.
    FloatingPointVectorSingleDivides = "floating_point_vector_single_divides": Event Events in Power9,
    /// Arithmetic instructions of single precision completed, scalar and vector.
    FloatingPointSingleOps = "floating_point_single_ops": Event Events in Power9,
    /// Arithmetic instructions of double or quad precision completed, scalar and vector.
    FloatingPointDoubleOps = "floating_point_double_ops": Event Events in Power9,
}
