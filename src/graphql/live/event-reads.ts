import type { AnswerBytes } from '../../core/workload.ts'

/** The bytes that the lists of one event have read; they start anew with each. Its result has a limit of its own. */
export class EventReads implements AnswerBytes {
  readBytes = 0

  add(): void {}
  growTo(): void {}
  requireRoom(): void {}
}
