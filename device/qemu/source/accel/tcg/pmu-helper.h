/* What generated code of the PMU calls. */
DEF_HELPER_5(pmu_follow, void, env, i64, i64, i64, i64)
DEF_HELPER_FLAGS_3(pmu_access, TCG_CALL_NO_RWG, void, env, i64, i64)
