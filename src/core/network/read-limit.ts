import type { AnswerBytes } from '../workload.ts'

/** A page ends when its rows have so many bytes. It has one row at least. */
export const PAGE_BYTES = 4_000_000
/** The rows of all lists of one operation. */
export const OPERATION_BYTES = 8_000_000
/** The answer of an operation as JSON, in which a row may occur more than once. */
export const ANSWER_BYTES = 16_000_000

/** The database sends the rows of a longer page in parts of so many, so that it sends one part at most beyond the limit. */
const PART_ROWS = 251

/** Counts the bytes of the rows of one list. Rows beyond the limit are dropped as they arrive. */
export class ReadLimit {
  /** The rows of one part; 0 when all are sent at once. */
  readonly partRows: number
  readonly #answer: AnswerBytes | undefined
  readonly #maximum: number
  #bytes = 0
  #isReached = false

  constructor(answer: AnswerBytes | undefined, rows: number, maximum = PAGE_BYTES) {
    this.partRows = rows > PART_ROWS ? PART_ROWS : 0
    this.#answer = answer
    this.#maximum = maximum
  }

  /** The bytes of the rows that were taken. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether a row was dropped. */
  get isReached(): boolean {
    return this.#isReached
  }

  /** Takes the next row; false when it, and what follows it, is dropped. The lists of an operation are read at once. */
  take(bytes: number): boolean {
    const answer = this.#answer
    const isWithin =
      this.#bytes + bytes <= this.#maximum && (answer?.readBytes ?? 0) + bytes <= OPERATION_BYTES
    if (this.#isReached || (this.#bytes > 0 && !isWithin)) {
      this.#isReached = true
      return false
    }
    this.#bytes += bytes
    if (answer) answer.readBytes += bytes
    return true
  }

  /** Counts the rows that were taken for the answer of the operation. Throws RateLimited. */
  settle(): void {
    this.#answer?.add(this.#bytes)
  }
}
