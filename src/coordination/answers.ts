import type { ServerResponse } from 'node:http'
import type { Ctx } from '../context/context.ts'
import { env } from '../core/env.ts'
import { ANSWER_BYTES } from '../core/network/read-limit.ts'
import type { AnswerBytes } from '../core/workload.ts'
import { resolveCallerKey } from './call-budget.ts'
import { createHoldLimit, type Hold } from './hold-limits.ts'

const PROCESS_BYTES = env.answerMb * 1e6
/** One network may have half of the bytes, one tenant a quarter, and two of the largest answers in any case. */
const TENANT_BYTES = Math.max(PROCESS_BYTES / 4, 2 * ANSWER_BYTES)
const answers = createHoldLimit(
  'bytes of answers',
  { caller: TENANT_BYTES / 2, site: PROCESS_BYTES / 2, tenant: TENANT_BYTES, process: PROCESS_BYTES },
  { retrySeconds: 1, leavesHalf: true },
)
/** Smaller parts are counted with those that follow. */
const PART_BYTES = 16_384

/** The bytes of one answer of the management API, from when its rows are read until it is sent or its client is gone. */
export class OpenAnswer implements AnswerBytes {
  readBytes = 0
  readonly #caller: Ctx
  #bytes = 0
  #held = 0
  #hold: Hold | undefined
  #response: ServerResponse | undefined
  /** The error of the first list that was rejected. */
  #rejection: unknown = null

  get bytes(): number {
    return this.#bytes
  }

  constructor(caller: Ctx) {
    this.#caller = caller
  }

  /** Throws RateLimited when the caller, its tenant or the process has used up its part. */
  add(bytes: number): void {
    try {
      this.#count(bytes, false)
    } catch (error) {
      this.#rejection = error
      throw error
    }
  }

  /**
   * Counts an answer that has `bytes` in all. Throws RateLimited, also when a list of it was rejected. What a mutation
   * answers is not rejected any more.
   */
  growTo(bytes: number, isDone: boolean): void {
    if (this.#rejection && !isDone) throw this.#rejection
    if (bytes > this.#bytes) this.#count(bytes - this.#bytes, isDone)
  }

  /** Throws RateLimited as `add` does, and counts nothing. */
  requireRoom(): void {
    // Few answers are counted, and each call comes here.
    if (!answers.isUnused()) this.#open().requireRoom(1)
  }

  /** Counts until the response is sent or its client is gone; nothing without a response. */
  closeWith(response: ServerResponse | undefined): void {
    if (response) this.#response = response
    else this.close()
  }

  /** Ends the count: the answer is sent, or nobody reads it. */
  close(): void {
    this.#open().end()
  }

  #open(): Hold {
    const { tenant, ip } = this.#caller
    this.#hold ??= answers.open({ caller: resolveCallerKey(this.#caller), tenant, ip })
    return this.#hold
  }

  #count(bytes: number, isForced: boolean): void {
    const total = this.#bytes + bytes
    const part = total - this.#held
    if (part >= PART_BYTES) {
      this.#open().add(part, isForced)
      if (this.#held === 0) this.#closeAfterResponse()
      this.#held = total
    }
    this.#bytes = total
  }

  /** Most answers are small, and need no listener. */
  #closeAfterResponse(): void {
    if (this.#response?.destroyed) this.close()
    else this.#response?.once('close', () => this.close())
  }
}
