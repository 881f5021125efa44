/**
 * What the statements of a management call count as. `list` reads: pages, counts, exports, payloads of
 * events. `change` is everything else.
 */
export type WorkloadKind = 'list' | 'change'

/** The bytes that the answer of an operation takes in this process, until it is sent. */
export type AnswerBytes = {
  /** The bytes of the rows that its lists have read. */
  readBytes: number
  /** Counts bytes. Throws RateLimited when the caller, its tenant or the process has too many that are not sent. */
  add(bytes: number): void
  /** Counts an answer that has `bytes` in all. What a mutation answers is not rejected any more. */
  growTo(bytes: number, isDone: boolean): void
  /** Throws RateLimited as `add` does, and counts nothing. */
  requireRoom(): void
}

/**
 * Whose work something is. Without a `workload`, such as that of the protocol, hosted pages and jobs, it is not
 * limited.
 */
export type Workload = {
  tenant: string
  workload?: WorkloadKind | undefined
  answer?: AnswerBytes | undefined
}
