/**
 * A page about the pools of a program, and their metrics for Prometheus: {@link dashboard}.
 *
 * @module
 */
export { dashboard, type ObservedPool } from "./dashboard/dashboard.ts";
