import { findRecord } from '../core/requests/record.ts'

/**
 * Notes a statement that was sent for the request of the caller: that it was sent, and the time until its answer, the wait
 * for a connection included. Costs one comparison when nothing is noted.
 */
export function observed<Result>(sent: Promise<Result>): Promise<Result> {
  const record = findRecord()
  if (!record) return sent
  const start = performance.now()
  record.statements += 1
  return sent.finally(() => {
    record.databaseMs += performance.now() - start
  })
}
