/**
 * What the statements of a management call count as. `list` reads: pages, counts, exports, payloads of
 * events. `change` is everything else.
 */
export type WorkloadKind = 'list' | 'change'

/**
 * Whose work something is. Without a `workload`, such as that of the protocol, hosted pages and jobs, it is not
 * limited.
 */
export type Workload = { tenant: string; workload?: WorkloadKind | undefined }
